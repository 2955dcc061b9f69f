// One row of the list: what its cells say of an item.
// It must not know where the row stands, nor what is done when it is used.

import { attribute, element, icon, isolate, isolated, say } from './element.js';
import { flag, fly } from './flag.js';
import { age, grade } from './model.js';
import { draw, strip } from './strip.js';
import { country, delay, label, span, words } from './words.js';

/** A row's element and the parts that change. */
export class Row {
  constructor(tag) {
    this.tag = tag;
    this.shown = null;
    this.parts = parts(tag);
    this.element = frame(tag, this.parts);
  }

  /**
   * Shows an item. `role` is `used` where a group leads to it, and `choice` where it could be
   * had to; `scope` is the group whose members are shown.
   */
  show(item, { role, scope, chosen }) {
    const { report } = item;
    attribute(this.element, 'aria-selected', chosen);
    this.showRole(role, scope);
    this.tick(item);
    // A report that is the same object says the same.
    if (this.shown === report) return;
    this.shown = report;
    const { parts } = this;
    attribute(this.element, 'data-grade', grade(item));
    attribute(this.element, 'data-testing', report.testing);
    attribute(this.element, 'data-cached', report.state === 'cached');
    fill(parts.note, note(report));
    say(parts.delay, result(report));
    label(parts.test, `${words.test(this.tag)}; ${outcome(report)}`);
    if (item.group) parts.strip.replaceChildren();
    else draw(parts.svg, item.strip);
    showExit(parts, report);
  }

  /** Its age grows. */
  tick(item) {
    const ms = age(item);
    say(this.parts.age, ms === null ? '' : span(ms));
  }

  showRole(role, scope) {
    const { parts } = this;
    parts.used.hidden = role !== 'used';
    parts.use.hidden = role !== 'choice';
    if (role === 'used') say(parts.used, words.used);
    if (role !== 'choice') return;
    say(parts.use, words.useIt);
    label(parts.use, words.use(this.tag, scope));
  }
}

/** What came of the last test, in a word or a number. */
export function result(report) {
  if (report.miss) return words.states_.miss;
  if (report.delay_ms !== null && report.state !== 'failed') return delay(report.delay_ms);
  return words.states_[report.state] ?? report.state;
}

/** The same for those who do not see colours and marks. */
export function outcome(report) {
  const parts = [result(report)];
  if (report.from_cache && report.delay_ms !== null) parts.push(words.cached);
  if (report.error) parts.push(words.errors[report.error.kind] ?? report.error.kind);
  if (report.testing) parts.push(words.nowTesting);
  return parts.join(', ');
}

function parts(tag) {
  const svg = strip();
  return {
    svg,
    strip: element('div', { role: 'gridcell', class: 'strip-cell' }, svg),
    note: element('small', { class: 'note line' }),
    used: element('b', { class: 'mark used', hidden: true }),
    use: element('button', {
      type: 'button',
      class: 'small',
      'data-do': 'use',
      tabindex: '-1',
      hidden: true,
    }),
    delay: element('span'),
    test: element('button', { type: 'button', class: 'delay', 'data-do': 'test', tabindex: '-1' }),
    flag: flag(),
    place: element('span', { class: 'line' }),
    address: element('small', { class: 'line' }),
    network: element('div', { class: 'fit', dir: 'auto' }),
    asn: element('small'),
    age: element('div', { role: 'gridcell', class: 'age' }),
    tag: isolated(tag),
  };
}

function frame(tag, parts) {
  const cell = (name, ...children) =>
    element('div', { role: 'gridcell', class: name }, ...children);
  parts.test.append(icon('test'), parts.delay);
  parts.tag.classList.add('fit');
  parts.tag.title = tag;
  return element(
    'div',
    { role: 'row', class: 'row', tabindex: '-1', '.tag': tag },
    cell(
      'name',
      element('i', { class: 'dot', 'aria-hidden': 'true' }),
      element('span', { class: 'first line' }, parts.tag, parts.used, parts.use),
      parts.note,
    ),
    parts.strip,
    cell('delay-cell', parts.test),
    cell('place', parts.flag, parts.place, parts.address),
    cell('network', parts.network, parts.asn),
    parts.age,
  );
}

/** Below the name: what is wrong, else what it is. */
function note({ error, state, status_text, type, via, kind, from_cache }) {
  const parts = [];
  if (error && state !== 'not_ready')
    parts.push(element('b', {}, words.errors[error.kind] ?? error.kind), fitting(error.text));
  else if (kind === 'group' && via) parts.push(isolated(type), fitting(words.via(isolate(via))));
  else if (status_text) parts.push(isolated(type), fitting(status_text));
  else parts.push(fitting(type));
  if (from_cache)
    parts.push(element('b', { class: 'mark', title: words.cachedHint }, words.cached));
  return parts;
}

function showExit(parts, { ip, ip_from_cache, ip_pending, ipv6 }) {
  fly(parts.flag, ip?.country_code);
  const name = ip?.country_code ? country(ip.country_code) : '';
  const city = ip?.city && ip.city !== name ? ip.city : null;
  fill(
    parts.place,
    [name && element('span', { class: 'fit' }, name), city && fitting(city)].filter(Boolean),
  );
  parts.place.title = [name, ip?.region, ip?.city].filter(Boolean).join(' · ');
  const marks = [
    ip && fitting(ip.ip, 'ltr'),
    ip_from_cache &&
      ip &&
      element('b', { class: 'mark', title: words.unconfirmedHint }, words.unconfirmed),
    !ip && ip_pending && words.looking,
    ipv6 === 'yes' && element('b', { class: 'mark calm' }, words.ipv6),
  ];
  fill(parts.address, marks.filter(Boolean));
  say(parts.network, ip?.org ?? '');
  parts.network.title = ip?.org ?? '';
  fill(parts.asn, ip?.asn ? [isolated(`AS${ip.asn}`, 'ltr')] : []);
}

/** Text that ends with dots where there is no room for it. */
function fitting(text, direction) {
  const node = isolated(text, direction);
  node.classList.add('fit');
  return node;
}

function fill(node, children) {
  node.replaceChildren(...children);
}
