// Which items are listed and in which order: scope, filter and sort.
// It must not know how they look.

import { age, find, groups, outbounds, standing } from './model.js';
import { country, words } from './words.js';

/** What the user wants to see. `scope` is a group's tag, `place` a country's letters. */
export const wanted = { text: '', state: null, place: null, scope: null, sort: 'config' };

const LAST = Number.POSITIVE_INFINITY;
const PLACELESS = '\u{ffff}';

const KEYS = {
  config: () => 0,
  // What works before what worked, before what does not.
  delay: ({ report }) => {
    if (standing({ report }) === 'failed') return LAST;
    const cached = report.state === 'ok' ? 0 : 1e9;
    return report.delay_ms === null ? 1e12 : cached + report.delay_ms;
  },
  loss: ({ strip, report }) =>
    strip.length
      ? strip.filter((it) => it.error !== null).length / strip.length
      : standing({ report }) === 'failed'
        ? 1
        : 2,
  name: ({ tag }) => tag,
  place: ({ report }) => (report.ip?.country_code ? country(report.ip.country_code) : PLACELESS),
  network: ({ report }) => report.ip?.org ?? PLACELESS,
  age: (item) => age(item) ?? LAST,
};

/** Every way to sort. */
export const SORTS = Object.keys(KEYS);

/** The tags to list. */
export function listed() {
  const text = wanted.text.trim().toLocaleLowerCase();
  const all = scoped().filter((item) => fits(item, text));
  if (wanted.sort === 'config') return all.map((it) => it.tag);
  const key = KEYS[wanted.sort];
  const keyed = all.map((item, at) => ({ tag: item.tag, key: key(item), at }));
  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const compare =
    typeof keyed[0]?.key === 'string'
      ? (a, b) => collator.compare(a.key, b.key)
      : (a, b) => (a.key < b.key ? -1 : Number(a.key > b.key));
  keyed.sort((a, b) => compare(a, b) || a.at - b.at);
  return keyed.map((it) => it.tag);
}

/** How many items of the scope there are, by standing. */
export function counts() {
  const counted = { all: 0, working: 0, failed: 0, waiting: 0 };
  for (const item of scoped()) {
    counted.all += 1;
    counted[standing(item)] += 1;
  }
  return counted;
}

/** The items of the group that is shown, or all outbounds. */
export function scoped() {
  const scope = groups.get(wanted.scope);
  if (!scope) return [...outbounds.values()];
  return scope.group.members.map(find).filter(Boolean);
}

function fits(item, text) {
  const { report } = item;
  if (wanted.state !== null && standing(item) !== wanted.state) return false;
  if (wanted.place !== null && (report.ip?.country_code ?? '') !== wanted.place) return false;
  return text === '' || searched(item).includes(text);
}

function searched({ tag, report: { ip, error, status_text, type } }) {
  const place = ip?.country_code ? country(ip.country_code) : '';
  const network = ip?.asn ? `as${ip.asn}` : '';
  const failed = error ? `${error.kind} ${words.errors[error.kind] ?? ''} ${error.text}` : '';
  const parts = [
    tag,
    type,
    ip?.ip,
    ip?.country_code,
    place,
    ip?.region,
    ip?.city,
    network,
    ip?.org,
    failed,
    status_text,
  ];
  return parts.filter(Boolean).join('\n').toLocaleLowerCase();
}
