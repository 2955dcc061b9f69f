// What the page says of its connection to the server.
// It must not know how the connection is made.

import { say } from './element.js';
import { now } from './events.js';
import { speak } from './notes.js';
import { span, words } from './words.js';

const place = document.getElementById('link');
const text = document.getElementById('link-text');
const retry = document.getElementById('link-retry');

let shown = { state: 'connecting', until: null };

retry.addEventListener('click', () => now());

/** Shows a state: `connecting`, `live`, or `lost` with the milliseconds until the next try. */
export function show(state, wait = 0) {
  const before = shown.state;
  shown = { state, until: wait > 0 ? performance.now() + wait : null };
  renew();
  if (state === 'live' && before === 'lost') speak(words.back);
}

/** Shows it in the language that the page has now. */
export function renew() {
  const { state, until } = shown;
  document.documentElement.dataset.link = state;
  retry.hidden = until === null;
  if (state === 'lost') showLost();
  else say(text, state === 'live' ? words.live : words.connecting);
}

/** Time has gone on. */
export function tick() {
  if (shown.state === 'lost') showLost();
}

function showLost() {
  const left = shown.until === null ? 0 : shown.until - performance.now();
  // Who hears the page is told that it is lost, and not each second how long it will be.
  place.setAttribute('aria-live', shown.until === null ? 'polite' : 'off');
  say(text, left > 0 ? words.lost(span(Math.ceil(left / 1000) * 1000)) : words.losing);
}
