// Where traffic comes out: a bar for each country.
// It must not know what is done when a country is chosen.

import { attribute, element, say } from './element.js';
import { flag, fly } from './flag.js';
import { standing } from './model.js';
import { country, delay, label, number, words } from './words.js';

const bars = new Map();

/** Shows the countries of items in `list`; `chosen` is the one that is filtered by. */
export function showExits(list, items, chosen) {
  const places = counted(items);
  for (const [code, bar] of bars) {
    if (places.has(code)) continue;
    bar.element.remove();
    bars.delete(code);
  }
  const most = Math.max(1, ...[...places.values()].map((it) => it.all));
  const order = [...places].sort(
    ([a, one], [b, other]) => (a === '') - (b === '') || other.all - one.all || (a < b ? -1 : 1),
  );
  let at = list.firstElementChild;
  for (const [code, place] of order) {
    const bar = bars.get(code) ?? begin(code);
    show(bar, code, place, most, code === chosen);
    if (at === bar.element) at = at.nextElementSibling;
    else list.insertBefore(bar.element, at);
  }
}

/** Items by country; those whose country is not known are under the empty one. */
function counted(items) {
  const places = new Map();
  for (const item of items) {
    const code = item.report.ip?.country_code ?? '';
    const place = places.get(code) ?? { all: 0, working: 0, failed: 0, waiting: 0, delays: [] };
    places.set(code, place);
    place.all += 1;
    place[standing(item)] += 1;
    if (standing(item) === 'working') place.delays.push(item.report.delay_ms);
  }
  return places;
}

function begin(code) {
  const parts = {
    flag: flag(),
    name: element('span', { class: 'fit' }),
    figures: element('span', { class: 'figures' }),
    bar: element('span', { class: 'share', 'aria-hidden': 'true' }, element('i'), element('i')),
  };
  const button = element(
    'button',
    { type: 'button', 'data-do': 'place' },
    parts.flag,
    parts.name,
    parts.figures,
    parts.bar,
  );
  const bar = { ...parts, button, element: element('li', { '.code': code }, button) };
  bars.set(code, bar);
  return bar;
}

function show(bar, code, { all, working, failed, delays }, most, chosen) {
  const name = code === '' ? words.exitsOther : country(code);
  const median = delays.sort((a, b) => a - b)[Math.floor(delays.length / 2)];
  fly(bar.flag, code || null);
  say(bar.name, name);
  say(
    bar.figures,
    [`${number(working)}/${number(all)}`, median && delay(median)].filter(Boolean).join(' · '),
  );
  bar.bar.style.setProperty('--all', all / most);
  bar.bar.style.setProperty('--working', working / all);
  bar.bar.style.setProperty('--failed', failed / all);
  attribute(bar.button, 'aria-pressed', chosen);
  label(bar.button, `${name}: ${bar.figures.textContent}`);
}
