// The bar above the list: counts that filter, and the ways to sort.
// It must not know what is listed.

import { attribute, element, isolated, say } from './element.js';
import { counts, SORTS, wanted } from './view.js';
import { label, number, words } from './words.js';

const STATES = [
  ['all', null],
  ['working', 'working'],
  ['failed', 'failed'],
  ['waiting', 'waiting'],
];
/** The columns, and what a click on their head sorts by. */
const HEADS = [
  ['name', 'name'],
  ['strip', 'loss'],
  ['delay', 'delay'],
  ['place', 'place'],
  ['network', 'network'],
  ['age', 'age'],
];

const states = document.getElementById('states');
const heads = document.getElementById('heads');
const sort = document.getElementById('sort');
const filter = document.getElementById('filter');
const scope = document.getElementById('scope');

/** Makes the bar in the language that the page has now. */
export function beginBar() {
  const state = ([name]) =>
    element(
      'button',
      { type: 'button', 'data-do': 'state', 'data-state': name },
      element('i', { class: 'dot', 'aria-hidden': 'true' }),
      element('span', {}, words[name]),
      element('b'),
    );
  states.replaceChildren(...STATES.map(state));
  const head = ([name, by]) =>
    element(
      'div',
      { role: 'columnheader', class: `head-${name}` },
      element(
        'button',
        { type: 'button', 'data-do': 'sort', 'data-sort': by, tabindex: '-1' },
        words.heads[name],
      ),
    );
  heads.replaceChildren(...HEADS.map(head));
  sort.replaceChildren(
    ...SORTS.map((name) => element('option', { value: name }, words.sorts[name])),
  );
  filter.placeholder = words.filterHint;
}

/** Shows how many there are of each state, and what is wanted now. */
export function showBar() {
  const counted = counts();
  STATES.forEach(([name, state], at) => {
    const button = states.children[at];
    say(button.lastElementChild, number(counted[name]));
    attribute(button, 'aria-pressed', wanted.state === state);
    label(button, words.counted(words[name], number(counted[name])));
  });
  HEADS.forEach(([, by], at) =>
    attribute(heads.children[at], 'aria-sort', wanted.sort === by && 'ascending'),
  );
  sort.value = wanted.sort;
  scope.hidden = wanted.scope === null;
  if (wanted.scope !== null && scope.dataset.tag !== wanted.scope) {
    const leave = element(
      'button',
      { type: 'button', class: 'small', 'data-do': 'unscope' },
      words.showAll,
    );
    scope.replaceChildren(`${words.scope} `, isolated(wanted.scope), ' ', leave);
  }
  scope.dataset.tag = wanted.scope ?? '';
}
