// All that is known of one item.
// It must not know what is done when something of it is used.

import { attribute, element, icon, isolate, isolated, say } from './element.js';
import { flag, fly } from './flag.js';
import { age, grade, groupsOf, leads } from './model.js';
import { result } from './row.js';
import { draw, strip } from './strip.js';
import { country, delay, label, moment, number, span, words } from './words.js';
import { why } from './groups.js';

let shown = null;

/** Shows an item in `panel`, or nothing. */
export function showDetail(panel, item) {
  panel.hidden = !item;
  if (!item) {
    shown = null;
    panel.replaceChildren();
    return;
  }
  if (shown?.tag !== item.tag) shown = begin(panel, item);
  attribute(panel, 'data-grade', grade(item));
  attribute(panel, 'data-testing', item.report.testing);
  // Whoever is at one of its buttons stays there while nothing of it changes.
  const led = JSON.stringify(groupsOf(item.tag).map(({ group }) => [group.tag, group.selected]));
  const same = shown.item?.report === item.report && shown.led === led;
  Object.assign(shown, { item, led });
  if (same) return;
  shown.chart.hidden = Boolean(item.group);
  if (!item.group) draw(shown.svg, item.strip);
  shown.fields.replaceChildren(...fields(item));
  tickDetail();
}

/** Makes it anew, as for another language. */
export function renewDetail() {
  shown = null;
}

/** Its ages grow. */
export function tickDetail() {
  if (!shown?.item) return;
  const ms = age(shown.item);
  say(
    shown.state,
    [result(shown.item.report), ms !== null && words.ago(span(ms))].filter(Boolean).join(' · '),
  );
}

function begin(panel, { tag }) {
  const svg = strip();
  const test = element(
    'button',
    { type: 'button', class: 'main', 'data-do': 'test' },
    icon('test'),
    words.testIt,
  );
  const close = element(
    'button',
    { type: 'button', class: 'plain icon', 'data-do': 'close' },
    icon('close'),
  );
  label(close, words.close);
  const title = element('h2', { id: 'detail-title', tabindex: '-1' }, isolated(tag));
  const state = element('p', { class: 'state' });
  const chart = element('div', { class: 'chart' }, svg);
  const fields = element('dl');
  panel.tag = tag;
  panel.replaceChildren(
    element('div', { class: 'head' }, title, test, close),
    state,
    chart,
    fields,
  );
  return { tag, svg, chart, state, fields };
}

function fields(item) {
  const { report } = item;
  const rows = [
    [
      'error',
      report.error && [
        element('b', {}, words.errors[report.error.kind] ?? report.error.kind),
        ' ',
        isolated(report.error.text),
      ],
    ],
    ['status', report.status_text && [isolated(report.status_text)]],
    ['delay', report.delay_ms !== null && [measured(report)]],
    [
      'tested',
      report.tested_at && [
        moment(report.tested_at),
        report.attempts > 0 && ` · ${words.attempts(number(report.attempts), report.attempts)}`,
      ],
    ],
    [
      'lastOk',
      report.last_ok_at && report.last_ok_at !== report.tested_at && [moment(report.last_ok_at)],
    ],
    ['reason', report.reason && [words.reasons[report.reason] ?? report.reason]],
    ['figures', report.stats?.count > 0 && [figures(report.stats)]],
    ...exit(report),
    [
      'ipv6',
      report.ipv6 !== 'unknown' && [
        [words.ipv6s[report.ipv6], words.ipv6Sources[report.ipv6_source]]
          .filter(Boolean)
          .join(' · '),
      ],
    ],
    ['url', report.url && [isolated(report.url, 'ltr')]],
    [
      'type',
      [
        `${words.kinds[report.kind] ?? report.kind} · `,
        isolated(report.type),
        report.via && [' · ', isolated(words.via(isolate(report.via)))],
      ].flat(),
    ],
    ['groups', membership(item)],
    ['why', item.group && [why(item)]],
  ];
  return rows
    .filter(([, value]) => value)
    .flatMap(([name, value]) => [
      element('dt', {}, words.fields[name] ?? words[name]),
      element('dd', {}, ...value),
    ]);
}

function exit({ ip, ip_from_cache, ip_pending }) {
  if (!ip) return [['ip', ip_pending && [words.looking]]];
  const banner = flag();
  fly(banner, ip.country_code);
  const unconfirmed =
    ip_from_cache &&
    element('b', { class: 'mark', title: words.unconfirmedHint }, words.unconfirmed);
  const names = [ip.country_code && country(ip.country_code), ip.region, ip.city].filter(Boolean);
  // A city may be a region, and even a country.
  const place = [...new Set(names)];
  const network = [ip.asn && isolated(`AS${ip.asn}`, 'ltr'), ip.org && isolated(ip.org)].filter(
    Boolean,
  );
  return [
    ['ip', [isolated(ip.ip, 'ltr'), ' ', unconfirmed]],
    ['place', place.length > 0 && [banner, ' ', ...apart(place.map((it) => isolated(it)))]],
    ['network', network.length > 0 && apart(network)],
    ['service', [isolated(ip.service, 'ltr'), !ip.tls && ` · ${words.plainHttp}`]],
  ];
}

function measured({ delay_ms, delay_source, warm, from_cache }) {
  return [
    delay(delay_ms),
    words.sources[delay_source],
    warm && words.warm,
    from_cache && words.states_.cached,
  ]
    .filter(Boolean)
    .join(' · ');
}

function figures({ count, failed, mean_ms, jitter_ms }) {
  return words.figures(
    number(count),
    number(failed),
    mean_ms !== null && delay(mean_ms),
    jitter_ms !== null && delay(jitter_ms),
  );
}

/** The groups an item is in, with a button where it can be chosen. */
function membership({ tag }) {
  const all = groupsOf(tag).map(({ tag: of, group }) => {
    const used = leads(group, tag);
    const use =
      group.selectable &&
      !used &&
      element(
        'button',
        { type: 'button', class: 'small', 'data-do': 'use', '.group': of },
        words.useIt,
      );
    if (use) label(use, words.use(tag, of));
    return element(
      'span',
      { class: 'in' },
      isolated(of),
      used && element('b', { class: 'mark used' }, words.used),
      use,
    );
  });
  return all.length > 0 && all;
}

function apart(nodes) {
  return nodes.flatMap((it, at) => (at === 0 ? [it] : [' · ', it]));
}
