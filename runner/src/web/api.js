// Requests to the server, with its secret where it asks for one.
// It must not know what comes of the answers.

import { words } from './words.js';

const KEPT = 'outwatch.secret';

let asking = null;

/** How the secret is asked for: a function that gets whether one was refused, and gives one. */
let ask = async () => null;

export function asksBy(way) {
  ask = way;
}

/** Keeps a secret: for this tab, or in this browser. */
export function keep(secret, forLong) {
  (forLong ? localStorage : sessionStorage).setItem(KEPT, secret);
}

/** Tests an outbound. */
export const test = (tag) => json('POST', `outbounds/${encodeURIComponent(tag)}/test`);

/** Tests a group's members, or with no tag everything; `each` gets every report as it is there. */
export async function testMany(tag, each) {
  const path = tag === null ? 'test' : `groups/${encodeURIComponent(tag)}/test`;
  const response = await request('POST', path, { headers: { Accept: 'application/x-ndjson' } });
  for await (const line of lines(response.body)) if (line) each(JSON.parse(line));
}

/** Leads a selector to a member. */
export const select = (group, tag) =>
  json('PUT', `groups/${encodeURIComponent(group)}/selected`, {
    body: JSON.stringify({ tag }),
    headers: { 'Content-Type': 'application/json' },
  });

/** The lines of a body, as they come. */
export async function* lines(body) {
  // In pieces, for a line may be megabytes long.
  let begun = [];
  for await (const chunk of chunks(body.pipeThrough(new TextDecoderStream()))) {
    const [end, ...more] = chunk.split('\n');
    begun.push(end);
    if (more.length === 0) continue;
    yield begun.join('');
    begun = [more.pop()];
    yield* more;
  }
  if (begun.some((it) => it !== '')) yield begun.join('');
}

/**
 * A request below `/api/v1/`. It asks for the secret as often as the server wants another.
 * Throws an error with a text for people.
 */
export async function request(method, path, { headers = {}, ...options } = {}) {
  for (;;) {
    const secret = kept();
    const authorization = secret === null ? {} : { Authorization: `Bearer ${secret}` };
    const response = await fetch(`/api/v1/${path}`, {
      method,
      cache: 'no-store',
      ...options,
      headers: { ...headers, ...authorization },
    }).catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new Error(words.trouble.unreachable);
    });
    if (response.ok) return response;
    if (response.status !== 401) throw await refusal(response);
    if (kept() === secret) await another(secret);
  }
}

/** Has the user asked for a secret, once however many requests want one. */
async function another(refused) {
  sessionStorage.removeItem(KEPT);
  localStorage.removeItem(KEPT);
  asking ??= ask(refused !== null).finally(() => (asking = null));
  await asking;
}

async function json(method, path, options) {
  return (await request(method, path, options)).json();
}

async function refusal(response) {
  const answer = await response.json().catch(() => ({}));
  return new Error(answer.error?.message ?? words.trouble.refused(response.status));
}

function kept() {
  return sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT);
}

// Not every browser iterates over streams by itself.
async function* chunks(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
