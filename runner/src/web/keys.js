// What keys do.
// It must not know how any of it is done.

import { element } from './element.js';
import { words } from './words.js';

const HELP = [
  [['↑', '↓'], 'move'],
  [['Home', 'End'], 'ends'],
  [['Enter'], 'test'],
  [['Space'], 'detail'],
  [['u'], 'use'],
  [['t'], 'all'],
  [['/'], 'filter'],
  [['Esc'], 'escape'],
];

/** Listens to keys; `page` does what they stand for. */
export function beginKeys(page, rows) {
  const inRow = {
    ArrowDown: () => rows.move(1),
    ArrowUp: () => rows.move(-1),
    PageDown: () => rows.move(rows.page()),
    PageUp: () => rows.move(-rows.page()),
    Home: () => rows.move(-Infinity),
    End: () => rows.move(Infinity),
    Enter: () => page.test(rows.active),
    ' ': () => page.toggle(rows.active),
    u: () => page.use(rows.active),
  };
  const anywhere = {
    '/': () => page.filter(),
    t: () => page.testAll(),
    '?': () => page.help(),
    Escape: () => page.escape(),
  };
  document.addEventListener('keydown', (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest('dialog')) return;
    const row = rows.active !== null && target.matches('[role=row], [role=grid]');
    if (target.matches('input, select')) {
      if (event.key === 'Escape') page.escape();
      else if (target.type !== 'search' || event.key !== 'ArrowDown') return;
      else rows.move(0);
      event.preventDefault();
      return;
    }
    const action = (row && inRow[event.key]) || anywhere[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/** Lists the keys in the language that the page has now. */
export function helpKeys(list) {
  const keys = (names) =>
    names.flatMap((name, at) => [at > 0 && ' ', element('kbd', { dir: 'ltr' }, name)]);
  list.replaceChildren(
    ...HELP.flatMap(([names, what]) => [
      element('dt', {}, ...keys(names)),
      element('dd', {}, words.helps[what]),
    ]),
  );
}
