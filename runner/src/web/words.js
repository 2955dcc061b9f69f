// The language of the page, and how numbers, times and countries are written in it.
// It must not know what is shown.

import * as en from './words/en.js';
import * as fa from './words/fa.js';

const LANGUAGES = { en, fa };
const KEPT = 'outwatch.language';
const UNITS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', Infinity],
];

export let words = en.words;
export let language = 'en';

let numbers, units, countries, clock;

/** Takes up the language of the last visit, else the first that the browser asks for and the page knows. */
export function begin() {
  const wished = [localStorage.getItem(KEPT), ...navigator.languages.map((it) => it.split('-')[0])];
  use(wished.find((it) => Object.hasOwn(LANGUAGES, it)) ?? 'en');
}

/** Goes over to the next language. */
export function next() {
  const all = Object.keys(LANGUAGES);
  use(all[(all.indexOf(language) + 1) % all.length]);
  localStorage.setItem(KEPT, language);
}

/** What the next language calls itself. */
export function nextName() {
  const all = Object.keys(LANGUAGES);
  return LANGUAGES[all[(all.indexOf(language) + 1) % all.length]].name;
}

function use(name) {
  language = name;
  words = LANGUAGES[name].words;
  document.documentElement.lang = name;
  document.documentElement.dir = LANGUAGES[name].direction;
  numbers = new Intl.NumberFormat(name);
  units = new Map(
    UNITS.map(([unit]) => [
      unit,
      new Intl.NumberFormat(name, {
        style: 'unit',
        unit,
        unitDisplay: name === 'en' ? 'narrow' : 'short',
      }),
    ]),
  );
  countries = new Intl.DisplayNames(name, { type: 'region', fallback: 'code' });
  clock = new Intl.DateTimeFormat(name, { dateStyle: 'medium', timeStyle: 'medium' });
  for (const it of document.querySelectorAll('[data-word]'))
    it.textContent = words[it.dataset.word];
  for (const it of document.querySelectorAll('[data-label]')) label(it, words[it.dataset.label]);
}

/** Names a control for people who do not see it, and for those who point at it. */
export function label(element, text) {
  element.setAttribute('aria-label', text);
  element.title = text;
}

export const number = (n) => numbers.format(n);

export const delay = (ms) => words.ms(numbers.format(ms));

/** A span of time in its largest unit. */
export function span(ms) {
  let left = Math.max(0, Math.round(ms / 1000));
  for (const [unit, size] of UNITS) {
    if (left < size) return units.get(unit).format(left);
    left = Math.floor(left / size);
  }
}

/** A moment, given in RFC 3339. */
export const moment = (text) => clock.format(new Date(text));

/** A country's name by its two letters. */
export function country(code) {
  try {
    return countries.of(code);
  } catch {
    return code;
  }
}
