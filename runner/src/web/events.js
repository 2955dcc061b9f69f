// What changes at the server, as it changes; again and again, however often the server goes
// away. It must not know what an event means.

import { lines, request } from './api.js';

/** Between tries, in milliseconds: the first, and the most. */
const FIRST = 500;
const MOST = 15_000;
/** A server that says nothing for so long is gone: it sends something every 15 s. */
const SILENCE = 40_000;
/** A page that nobody looks at for so long lets go: a browser has few connections to a server. */
const UNSEEN = 60_000;

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
        heard(event.name, JSON.parse(event.data.join('\n')));
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
  const ending = new AbortController();
  let silence = null;
  let unseen = null;
  const end = () => ending.abort();
  const alive = () => {
    clearTimeout(silence);
    silence = setTimeout(end, SILENCE);
  };
  const looked = () => {
    clearTimeout(unseen);
    if (document.hidden) unseen = setTimeout(end, UNSEEN);
  };
  document.addEventListener('visibilitychange', looked);
  alive();
  const headers = { Accept: 'text/event-stream', ...(last && { 'Last-Event-ID': last }) };
  try {
    const response = await request('GET', 'events', { headers, signal: ending.signal });
    for await (const event of events(response.body, alive)) take(event);
  } finally {
    clearTimeout(silence);
    clearTimeout(unseen);
    document.removeEventListener('visibilitychange', looked);
  }
}

/** The events of a body that say something; `alive` is called for every line. */
async function* events(body, alive) {
  const none = { id: '', name: 'message', data: [] };
  let event = structuredClone(none);
  for await (const line of lines(body)) {
    alive();
    const [, field, value] = /^([^:]*):? ?(.*?)\r?$/s.exec(line);
    if (field === 'event') event.name = value;
    if (field === 'id') event.id = value;
    if (field === 'data') event.data.push(value);
    if (line.trim() !== '') continue;
    if (event.data.length > 0 && event.name !== 'ping') yield event;
    event = structuredClone(none);
  }
}

/** Waits, unless there is reason to try before; a page that nobody looks at waits for that. */
function rest(ms) {
  return new Promise((done) => {
    const visible = () => document.hidden || wake();
    const timer = document.hidden ? null : setTimeout(() => wake(), ms);
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
