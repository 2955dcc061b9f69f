// A country's flag: an emoji where the device has them, else its two letters.
// It must not know why a country is shown.

import { attribute, element, say } from './element.js';

const FIRST_LETTER = 0x1f1e6;

const drawn = hasFlags();

/** A place for a flag; it says nothing to those who do not see it. */
export function flag() {
  return element('span', { class: 'flag', 'aria-hidden': 'true' });
}

/** Puts a country's flag there; none of no country. */
export function fly(node, code) {
  attribute(node, 'data-code', code ?? null);
  node.classList.toggle('letters', !drawn && Boolean(code));
  say(node, !code ? '' : drawn ? emoji(code) : code);
}

function emoji(code) {
  return String.fromCodePoint(
    ...[...code].map((letter) => FIRST_LETTER + letter.charCodeAt(0) - 65),
  );
}

/** Fonts without flags show letters, in the colour of text; flags have colours of their own. */
function hasFlags() {
  const canvas = element('canvas', { width: 20, height: 20 });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return false;
  context.font = '16px sans-serif';
  context.textBaseline = 'top';
  context.fillText(emoji('FR'), 0, 0);
  const { data } = context.getImageData(0, 0, 20, 20);
  return data.some((value, at) => at % 4 < 3 && value !== data[at - (at % 4)]);
}
