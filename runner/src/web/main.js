// The page: brings together what is known, what is wanted and what is shown.
// It must not know how any one thing is drawn.

import * as actions from './actions.js';
import { asksBy } from './api.js';
import { beginBar, showBar } from './bar.js';
import { renewDetail, showDetail, tickDetail } from './detail.js';
import { say } from './element.js';
import { listen, now as retry } from './events.js';
import { showExits } from './exits.js';
import { renewGroups, showGroups } from './groups.js';
import { beginKeys, helpKeys } from './keys.js';
import * as model from './model.js';
import { speak } from './notes.js';
import { Row } from './row.js';
import { Rows } from './rows.js';
import { askSecret } from './secret.js';
import * as theme from './theme.js';
import { counts, listed, scoped, wanted } from './view.js';
import * as words from './words.js';

/** How often the list is put in order while results come in, and for how long it is left alone by what the user points at, in milliseconds. */
const ORDER_EVERY = 250;
const CALM = 2000;

const at = (id) => document.getElementById(id);
const rows = new Rows(at('body'), (tag) => new Row(tag), showRow);

let chosen = null;
let ordering = null;
let calmUntil = 0;
let heard = false;
let link = { state: 'connecting', until: 0 };

words.begin();
theme.begin(at('theme'));
asksBy(askSecret);
renew();
model.follow(later);
actions.followTests(showTests);
setInterval(tick, 1000);
listen(hear, showLink);

function hear(name, data) {
  heard = true;
  if (name === 'snapshot') model.snapshot(data);
  if (name === 'update') model.update(data);
}

/** Shows what came in: rows with the next frame, their order a little later. */
function later() {
  rows.later();
  if (ordering !== null) return;
  const calm = wanted.sort === 'config' ? 0 : calmUntil - performance.now();
  ordering = setTimeout(show, rows.tags.length === 0 ? 0 : Math.max(ORDER_EVERY, calm));
}

/** Shows everything as it is wanted now. */
function show() {
  clearTimeout(ordering);
  ordering = null;
  if (wanted.scope !== null && !model.groups.has(wanted.scope)) wanted.scope = null;
  const tags = listed();
  rows.list(tags);
  showBar();
  showGroups(at('groups'), wanted.scope);
  showExits(at('exits'), scoped(), wanted.place);
  showDetail(at('detail'), chosen && model.find(chosen));
  at('groups-part').hidden = model.groups.size === 0;
  at('exits-part').hidden = model.outbounds.size === 0;
  at('empty').hidden = !heard || tags.length > 0;
  say(at('empty'), model.outbounds.size === 0 ? words.words.nothing : words.words.nothingLeft);
  const { working, all } = counts();
  if (heard) document.title = words.words.title(words.number(working), words.number(all));
}

function showRow(row) {
  const item = model.find(row.tag);
  if (item) row.show(item, role(row.tag), row.tag === chosen);
}

/** What a row is in the group whose members are shown. */
function role(tag) {
  const scope = model.groups.get(wanted.scope)?.group;
  if (!scope) return [...model.groups.values()].some(({ group }) => model.leads(group, tag)) ? 'used' : null;
  if (model.leads(scope, tag)) return 'used';
  return scope.selectable ? 'choice' : 'member';
}

/** Makes everything anew, as for another language. */
function renew() {
  beginBar();
  helpKeys(at('help-keys'));
  theme.show(at('theme'));
  at('language').textContent = words.nextName();
  renewGroups();
  renewDetail();
  showTests();
  showLink(link.state, link.until && link.until - performance.now());
  show();
  rows.renew();
}

function tick() {
  for (const row of rows.drawn.values()) {
    const item = model.find(row.tag);
    if (item) row.tick(item);
  }
  tickDetail();
  if (link.state === 'lost') showLost();
}

function showTests() {
  const { done, all } = actions.testingAll ?? {};
  const busy = all !== undefined;
  say(at('test-all-text'), busy ? words.words.testingAll(words.number(done), words.number(Math.max(done, all))) : words.words.testAll);
  at('test-all').setAttribute('aria-disabled', busy);
}

function showLink(state, wait = 0) {
  const before = link.state;
  link = { state, until: wait ? performance.now() + wait : 0 };
  document.documentElement.dataset.link = state;
  at('link-retry').hidden = state !== 'lost' || !wait;
  if (state === 'lost') showLost();
  else say(at('link-text'), state === 'live' ? words.words.live : words.words.connecting);
  if (state === 'live' && before === 'lost') speak(words.words.back);
}

// Whoever hears the page is told that it is lost, and not every second how long it will be.
function showLost() {
  const left = link.until - performance.now();
  at('link-text').parentElement.setAttribute('aria-live', link.until ? 'off' : 'polite');
  say(at('link-text'), left > 0 ? words.words.lost(words.span(Math.ceil(left / 1000) * 1000)) : words.words.losing);
}

/** Wants something else to be listed. */
function want(change) {
  Object.assign(wanted, change);
  show();
  if ('sort' in change) return;
  const count = rows.tags.length;
  speak(words.words.found(words.number(count), count));
}

function open(tag) {
  chosen = chosen === tag ? null : tag;
  show();
}

function close() {
  const tag = chosen;
  open(tag);
  if (rows.places.has(tag)) rows.focus(tag);
}

/** What buttons do, by their `data-do`; they get what they stand in, and themselves. */
const doing = {
  test: ({ tag }) => actions.test(tag),
  use: ({ tag }, button) => actions.use(button.group ?? wanted.scope, tag),
  'test-group': ({ tag }) => actions.testGroup(tag),
  scope: ({ tag }) => want({ scope: wanted.scope === tag ? null : tag }),
  unscope: () => want({ scope: null }),
  place: ({ code }) => want({ place: wanted.place === code ? null : code }),
  state: (_, button) => want({ state: button.dataset.state === 'all' ? null : button.dataset.state }),
  sort: (_, button) => want({ sort: wanted.sort === button.dataset.sort ? 'config' : button.dataset.sort }),
  close,
};

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-do]');
  const holder = event.target.closest('.row, .card, .exits li, .detail');
  if (button) doing[button.dataset.do](holder ?? {}, button);
  else if (holder?.matches('.row')) open(holder.tag);
});
at('test-all').addEventListener('click', actions.testAll);
at('link-retry').addEventListener('click', () => retry());
at('keys').addEventListener('click', () => at('help').showModal());
at('filter').addEventListener('input', (event) => want({ text: event.target.value }));
at('sort').addEventListener('change', (event) => want({ sort: event.target.value }));
at('language').addEventListener('click', () => {
  words.next();
  renew();
});
for (const used of ['pointermove', 'pointerdown', 'keydown']) {
  at('body').addEventListener(used, () => (calmUntil = performance.now() + CALM), { passive: true });
}

beginKeys(
  {
    test: actions.test,
    testAll: actions.testAll,
    toggle: open,
    use: (tag) => wanted.scope !== null && actions.use(wanted.scope, tag),
    filter: () => at('filter').select(),
    help: () => at('help').showModal(),
    escape,
  },
  rows,
);

/** Leaves what was entered last: details, a filter, a group. */
function escape() {
  if (chosen !== null) return close();
  if (wanted.text || wanted.place !== null || wanted.state !== null) {
    at('filter').value = '';
    return want({ text: '', place: null, state: null });
  }
  if (wanted.scope !== null) want({ scope: null });
}
