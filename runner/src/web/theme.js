// Light or dark: as the device prefers, until the user chooses.
// It must not know any colour.

import { label, words } from './words.js';

const KEPT = 'outwatch.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Takes up the choice of the last visit, and makes `button` go over to the other. */
export function begin(button) {
  show(button);
  dark.addEventListener('change', () => show(button));
  button.addEventListener('click', () => {
    const other = current() === 'dark' ? 'light' : 'dark';
    // Who wants what the device prefers, follows the device.
    if ((other === 'dark') === dark.matches) localStorage.removeItem(KEPT);
    else localStorage.setItem(KEPT, other);
    show(button);
  });
}

/** Says which it is, in the language that the page has now. */
export function show(button) {
  const chosen = localStorage.getItem(KEPT);
  if (chosen === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  label(button, words.themes[chosen ?? 'auto']);
}

function current() {
  return localStorage.getItem(KEPT) ?? (dark.matches ? 'dark' : 'light');
}
