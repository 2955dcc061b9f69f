// What a user can have done: tests and choices, and what is said when they are done.
// It must not know how they are asked for, nor how results come onto the page.

import * as api from './api.js';
import { groups, leads, outbounds } from './model.js';
import { complain, speak } from './notes.js';
import { outcome } from './row.js';
import { number, words } from './words.js';

/** How many of how many are tested, while all are; else null. */
export let testingAll = null;

let changed = () => {};

/** Calls `listener` when that changes. */
export function followTests(listener) {
  changed = listener;
}

/** Tests an outbound, or what a group leads to. */
export async function test(tag) {
  await attempt(async () => {
    const report = await api.test(tag);
    speak(words.said(tag, outcome(report)));
  });
}

/** Tests all members of a group. */
export async function testGroup(tag) {
  await attempt(async () => {
    let working = 0;
    let all = 0;
    await api.testMany(tag, (report) => {
      all += 1;
      working += report.state === 'ok' ? 1 : 0;
    });
    speak(words.said(tag, words.counted(words.working, `${number(working)}/${number(all)}`)));
  });
}

/** Tests everything. */
export async function testAll() {
  if (testingAll) return;
  const tell = (done) => {
    testingAll = done;
    changed();
  };
  tell({ done: 0, all: outbounds.size });
  await attempt(() => api.testMany(null, () => tell({ ...testingAll, done: testingAll.done + 1 })));
  tell(null);
}

/** Leads a selector to a member. */
export async function use(group, tag) {
  const { group: before } = groups.get(group) ?? {};
  if (!before?.selectable || leads(before, tag)) return;
  await attempt(async () => {
    await api.select(group, tag);
    speak(words.saidSelected(group, tag));
  });
}

async function attempt(work) {
  try {
    await work();
  } catch (error) {
    complain(error.message);
  }
}
