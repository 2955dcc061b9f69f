// What changes at the server, as it changes; again and again, however often the server goes
// away. It must not know what an event means.

import { lines, request } from './api.js';

/** Between tries, in milliseconds: the first, and the most. */
const FIRST = 500;
const MOST = 15_000;
/** A server that says nothing for so long is gone: it sends something every 15 s. */
const SILENCE = 40_000;

let wake = () => {};

/** Tries at once instead of waiting on. */
export const now = () => wake();

/**
 * Listens for ever. `heard` gets each event's name and data; `link` what the connection is:
 * `connecting`, `live`, or `lost` with the milliseconds until the next try.
 */
export async function listen(heard, link) {
  let last = null;
  let pause = FIRST;
  link('connecting');
  for (;;) {
    try {
      await follow((event) => {
        if (event.id) last = event.id;
        pause = FIRST;
        heard(event.name, JSON.parse(event.data));
        link('live');
      }, last);
    } catch {
      // Why it broke matters less than that it is tried again.
    }
    // So that not all who lost it come back at once.
    const wait = pause * (0.75 + Math.random() / 2);
    pause = Math.min(pause * 2, MOST);
    link('lost', wait);
    await rest(wait);
    link('lost', 0);
  }
}

/** One connection, until it ends. */
async function follow(take, last) {
  const silence = new AbortController();
  let timer = null;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), SILENCE);
  };
  const headers = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) };
  try {
    // Without a limit: it may be waiting for the user's secret.
    const response = await request('GET', 'events', { headers, signal: silence.signal });
    alive();
    let event = { id: '', name: 'message', data: '' };
    for await (const raw of lines(response.body)) {
      alive();
      const line = raw.replace(/\r$/, '');
      if (line === '') {
        if (event.data && event.name !== 'ping') take({ ...event, data: event.data.slice(0, -1) });
        event = { id: '', name: 'message', data: '' };
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      if (field === 'event') event.name = value;
      if (field === 'id') event.id = value;
      if (field === 'data') event.data += `${value}\n`;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, unless there is reason to try before. */
function rest(ms) {
  return new Promise((done) => {
    const visible = () => document.hidden || wake();
    const timer = setTimeout(() => wake(), ms);
    wake = () => {
      clearTimeout(timer);
      removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', visible);
      done();
    };
    addEventListener('online', wake);
    document.addEventListener('visibilitychange', visible);
  });
}
