// Short notes: for those who see the page, and for those who hear it.
// It must not know what they are about.

import { element } from './element.js';

/** How long a note is there to be read, in milliseconds. */
const READ = 8000;
/** How many are shown at once. */
const ROOM = 3;

/** Tells what went wrong. */
export function complain(text) {
  const place = document.getElementById('notes');
  const note = element('p', { class: 'note-box', role: 'alert', dir: 'auto' }, text);
  place.append(note);
  while (place.children.length > ROOM) place.firstElementChild.remove();
  setTimeout(() => note.remove(), READ);
}

/** Tells those who hear the page what those who see it can see. */
export function speak(text) {
  document.getElementById('spoken').textContent = text;
}
