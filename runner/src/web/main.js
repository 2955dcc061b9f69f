// The page: brings together what is known, what is wanted and what is shown.
// It must not know how any one thing is drawn.

import * as actions from './actions.js';
import { asksBy } from './api.js';
import { beginBar, showBar } from './bar.js';
import { renewDetail, showDetail, tickDetail } from './detail.js';
import { say } from './element.js';
import { listen } from './events.js';
import { showExits } from './exits.js';
import { renewGroups, showGroups } from './groups.js';
import { beginKeys, helpKeys } from './keys.js';
import * as link from './link.js';
import * as model from './model.js';
import { speak } from './notes.js';
import { Row } from './row.js';
import { Rows } from './rows.js';
import { askSecret } from './secret.js';
import * as theme from './theme.js';
import { counts, listed, scoped, wanted } from './view.js';
import * as language from './words.js';
import { number, words } from './words.js';

/** How often the list is put in order while results come in, in milliseconds. */
const ORDER_EVERY = 250;
/** For how long it is left as it is after the user pointed at it or moved in it. */
const CALM = 2000;

const at = (id) => document.getElementById(id);
const rows = new Rows(at('body'), (tag) => new Row(tag), showRow);

let chosen = null;
let ordering = null;
let calmUntil = 0;
let heard = false;

language.begin();
theme.begin(at('theme'));
asksBy(askSecret);
renew();
model.follow(later);
actions.followTests(showTests);
setInterval(tick, 1000);
listen(hear, link.show);

function hear(name, data) {
  heard = true;
  if (name === 'snapshot') model.snapshot(data);
  if (name === 'update') model.update(data);
}

/** Shows what came in: what rows say with the next frame, the rest a little later. */
function later() {
  rows.later();
  ordering ??= setTimeout(refresh, rows.tags.length === 0 ? 0 : ORDER_EVERY);
}

/** Shows everything as it is now; the list keeps its order while the user is at it. */
function refresh() {
  const calm = rows.tags.length === 0 ? 0 : calmUntil - performance.now();
  show(calm > 0 ? rows.tags.filter((tag) => model.find(tag)) : listed());
  if (calm > 0) ordering = setTimeout(refresh, calm);
}

/** Shows everything, and lists these tags. */
function show(tags = listed()) {
  clearTimeout(ordering);
  ordering = null;
  if (wanted.scope !== null && !model.groups.has(wanted.scope)) return want({ scope: null });
  rows.list(tags);
  showBar();
  showGroups(at('groups'), wanted.scope);
  showExits(at('exits'), scoped(), wanted.place);
  showDetail(at('detail'), chosen && model.find(chosen));
  at('groups-part').hidden = model.groups.size === 0;
  at('exits-part').hidden = model.outbounds.size === 0;
  at('empty').hidden = !heard || tags.length > 0;
  say(at('empty'), model.outbounds.size === 0 ? words.nothing : words.nothingLeft);
  const { working, all } = counts();
  if (heard) document.title = words.title(number(working), number(all));
}

function showRow(row) {
  const item = model.find(row.tag);
  if (item)
    row.show(item, { role: role(row.tag), scope: wanted.scope, chosen: row.tag === chosen });
}

/** What a row is in the group whose members are shown. */
function role(tag) {
  const scope = model.groups.get(wanted.scope)?.group;
  if (!scope)
    return [...model.groups.values()].some(({ group }) => model.leads(group, tag)) ? 'used' : null;
  if (model.leads(scope, tag)) return 'used';
  return scope.selectable ? 'choice' : null;
}

/** Makes everything anew, as for another language. */
function renew() {
  beginBar();
  helpKeys(at('help-keys'));
  theme.show(at('theme'));
  at('language').textContent = language.nextName();
  renewGroups();
  renewDetail();
  showTests();
  link.renew();
  show();
  rows.renew();
}

function tick() {
  for (const row of rows.drawn.values()) {
    const item = model.find(row.tag);
    if (item) row.tick(item);
  }
  tickDetail();
  link.tick();
}

function showTests() {
  const { done, all } = actions.testingAll ?? {};
  const busy = all !== undefined;
  say(
    at('test-all-text'),
    busy ? words.testingAll(number(done), number(Math.max(done, all))) : words.testAll,
  );
  at('test-all').setAttribute('aria-disabled', busy);
}

/** Wants something else to be listed. */
function want(change) {
  Object.assign(wanted, change);
  show();
  if ('sort' in change) return;
  const count = rows.tags.length;
  speak(words.found(number(count), count));
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
  state: (_, button) =>
    want({ state: button.dataset.state === 'all' ? null : button.dataset.state }),
  sort: (_, button) =>
    want({ sort: wanted.sort === button.dataset.sort ? 'config' : button.dataset.sort }),
  close,
};

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-do]');
  const holder = event.target.closest('.row, .card, .exits li, .detail');
  if (button) doing[button.dataset.do](holder ?? {}, button);
  else if (holder?.matches('.row')) open(holder.tag);
});
at('test-all').addEventListener('click', actions.testAll);
at('keys').addEventListener('click', () => at('help').showModal());
at('filter').addEventListener('input', (event) => want({ text: event.target.value }));
at('sort').addEventListener('change', (event) => want({ sort: event.target.value }));
at('language').addEventListener('click', () => {
  language.next();
  renew();
});
for (const used of ['pointermove', 'pointerdown', 'keydown']) {
  at('body').addEventListener(used, () => (calmUntil = performance.now() + CALM), {
    passive: true,
  });
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
