// What is known of outbounds and groups, as the server tells it.
// It must not know how it is shown, nor how it came here.

/** How many measurements are kept of an outbound. */
export const LENGTH = 32;

/** Outbounds and endpoints by tag, in the config's order. */
export const outbounds = new Map();

/** Groups by tag, in the config's order. */
export const groups = new Map();

const listeners = new Set();

/** Calls `listener` after every change. */
export function follow(listener) {
  listeners.add(listener);
}

/** Everything, as it stands. */
export function snapshot({ outbounds: all, groups: leading }) {
  outbounds.clear();
  groups.clear();
  for (const report of all) put(report, report.measurements ?? []);
  for (const group of leading) lead(group);
  tell();
}

/** What changed since. */
export function update({ reports, removed, groups: changed }) {
  for (const tag of removed) {
    outbounds.delete(tag);
    groups.delete(tag);
  }
  for (const report of reports) put(report, measured(report));
  for (const group of changed) lead(group);
  tell();
}

/** An outbound's or a group's item. */
export function find(tag) {
  return outbounds.get(tag) ?? groups.get(tag);
}

/** The tags of the groups that a member is in, as far as groups are in groups. */
export function groupsOf(tag) {
  return [...groups.values()].filter((it) => it.group.members.includes(tag));
}

/** Whether a group leads to a member, for any traffic. */
export function leads(group, tag) {
  return group.selected.tcp === tag || group.selected.udp === tag;
}

/** What kind of answer an item has: `working`, `failed` or `waiting` for one. */
export function standing({ report }) {
  if (report.miss || report.state === 'failed') return 'failed';
  return report.state === 'ok' ? 'working' : 'waiting';
}

/** How good an item is, for its colour. */
export function grade({ report }) {
  if (report.miss) return 'miss';
  return report.state === 'ok' ? speed(report.delay_ms) : report.state;
}

/** How good a delay is. */
export function speed(ms) {
  if (ms < 200) return 'good';
  return ms < 600 ? 'fair' : 'slow';
}

/** How long ago an item was measured, in milliseconds; null if never. */
export function age({ measuredAt }) {
  return measuredAt === null ? null : Math.max(0, performance.now() - measuredAt);
}

function put(report, strip) {
  outbounds.set(report.tag, item(report, strip));
}

function lead(group) {
  groups.set(group.tag, { ...item(group.report, []), group });
}

// Ages are counted by this device's own clock, which need not be the server's.
function item(report, strip) {
  const measuredAt = report.age_ms === null ? null : performance.now() - report.age_ms;
  return { tag: report.tag, report, strip, measuredAt };
}

/** The measurements of an outbound after a report of it. */
function measured(report) {
  if (report.measurements) return report.measurements;
  const before = outbounds.get(report.tag);
  const strip = before?.strip ?? [];
  const ended = report.state === 'ok' || report.state === 'failed';
  if (!ended || report.tested_at === null || report.tested_at === before?.report.tested_at)
    return strip;
  const error = report.state === 'failed' ? (report.error?.kind ?? 'other') : null;
  const delay_ms = error === null ? report.delay_ms : null;
  return [...strip, { at: report.tested_at, delay_ms, error }].slice(-LENGTH);
}

function tell() {
  for (const listener of listeners) listener();
}
