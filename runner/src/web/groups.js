// The groups as cards: where each leads, and why.
// It must not know what is done when one is used.

import { attribute, element, icon, isolate, isolated, say } from './element.js';
import { find, grade, groups, standing } from './model.js';
import { result } from './row.js';
import { label, number, words } from './words.js';

const cards = new Map();

/** Shows all groups in `list`; `scope` is the tag of the one whose members are shown. */
export function showGroups(list, scope) {
  for (const [tag, card] of cards) {
    if (groups.has(tag)) continue;
    card.element.remove();
    cards.delete(tag);
  }
  for (const item of groups.values()) {
    const card = cards.get(item.tag) ?? begin(list, item.tag);
    show(card, item, item.tag === scope);
  }
}

/** Makes all cards anew, as for another language. */
export function renewGroups() {
  for (const card of cards.values()) card.element.remove();
  cards.clear();
}

/** What a group decided last, and why. */
export function why({ group }) {
  const { tcp, udp } = group.decision ?? {};
  if (tcp && udp && JSON.stringify(tcp) !== JSON.stringify(udp))
    return `${decided(tcp)} · ${words.chosenUdp}: ${decided(udp)}`;
  if (tcp || udp) return decided(tcp ?? udp);
  if (group.selectable) return words.people;
  return words.strategies[group.strategy] ?? group.why ?? '';
}

function decided({ event, reason, fastest }) {
  return words.decisions[reason]?.(event === 'taken', isolate(fastest)) ?? reason;
}

function begin(list, tag) {
  const parts = {
    open: element('button', { type: 'button', class: 'open', 'data-do': 'scope' }),
    type: element('span', { class: 'type' }),
    test: element(
      'button',
      { type: 'button', class: 'plain icon', 'data-do': 'test-group' },
      icon('test'),
    ),
    choice: element('p', { class: 'choice' }),
    why: element('p', { class: 'why fit', dir: 'auto' }),
    count: element('span', { class: 'count' }),
  };
  parts.open.append(isolated(tag));
  label(parts.open, words.showMembers(tag));
  label(parts.test, words.testGroup(tag));
  const card = {
    ...parts,
    element: element(
      'li',
      { class: 'card', '.tag': tag },
      element('div', { class: 'head' }, parts.open, parts.type, parts.count, parts.test),
      parts.choice,
      parts.why,
    ),
  };
  list.append(card.element);
  cards.set(tag, card);
  return card;
}

function show(card, item, scoped) {
  const { group, report } = item;
  attribute(card.element, 'data-grade', grade(item));
  attribute(card.element, 'data-testing', report.testing);
  attribute(card.open, 'aria-pressed', scoped);
  say(card.type, group.type);
  const members = group.members.map(find).filter(Boolean);
  const working = members.filter((it) => standing(it) === 'working').length;
  say(card.count, `${number(working)}/${number(members.length)}`);
  card.choice.replaceChildren(...choice(item));
  const text = why(item);
  say(card.why, text);
  card.why.title = text;
}

function choice({ group, report }) {
  const { tcp, udp } = group.selected;
  const value = element('span', { class: 'value' }, result(report));
  if (words.strategies[group.strategy]) return [element('span', { class: 'muted' }, words.each), value];
  const led = [tcp, report.via !== tcp && report.via].filter(Boolean);
  const path = led.flatMap((tag) => [icon('arrow'), isolated(tag)]);
  if (path.length === 0) return [element('span', { class: 'muted' }, words.noChoice), value];
  const other =
    udp !== null && udp !== tcp
      ? [element('span', { class: 'muted' }, ` ${words.chosenUdp} `), icon('arrow'), isolated(udp)]
      : [];
  return [element('span', { class: 'path' }, ...path, ...other), value];
}
