// The dialog that asks for the server's secret.
// It must not know what the secret opens.

import { keep } from './api.js';
import { words } from './words.js';

/** Asks until something is given. `refused` tells that the last one was wrong. */
export function askSecret(refused) {
  const dialog = document.getElementById('secret');
  const input = document.getElementById('secret-input');
  document.getElementById('secret-why').textContent = refused
    ? words.secretWrong
    : words.secretFirst;
  input.value = '';
  dialog.showModal();
  input.focus();
  return new Promise((done) => {
    dialog.addEventListener('close', function closed() {
      // Without it there is nothing to see: Escape does not lead anywhere.
      if (input.value === '') return dialog.showModal();
      dialog.removeEventListener('close', closed);
      keep(input.value, document.getElementById('secret-keep').checked);
      input.value = '';
      done();
    });
  });
}
