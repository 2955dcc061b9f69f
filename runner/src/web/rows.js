// The list, of which only what is on the screen is drawn, however long it is.
// It must not know what a row shows.

import { attribute } from './element.js';

/** Rows beyond the screen that are drawn already, so that scrolling finds them. */
const BEYOND = 6;

/**
 * A list in `body` of rows that `make` gives for a tag, and `show` brings up to date. A row
 * has an `element`.
 */
export class Rows {
  constructor(body, make, show) {
    Object.assign(this, {
      body,
      make,
      show,
      tags: [],
      places: new Map(),
      drawn: new Map(),
      active: null,
      pending: false,
    });
    addEventListener('scroll', () => this.later(), { passive: true });
    addEventListener('resize', () => this.later());
    body.addEventListener('focusin', (event) => {
      const tag = event.target.closest('[role=row]')?.tag;
      if (tag !== undefined) this.activate(tag);
    });
  }

  /** Lists these tags. */
  list(tags) {
    this.tags = tags;
    this.places = new Map(tags.map((tag, at) => [tag, at]));
    if (!this.places.has(this.active)) this.active = tags[0] ?? null;
    this.body.style.setProperty('--count', tags.length);
    attribute(this.body.parentElement, 'aria-rowcount', tags.length + 1);
    this.later();
  }

  /** Makes all rows anew, as for another language. */
  renew() {
    const focused = this.drawn.get(this.active)?.element.contains(document.activeElement);
    for (const row of this.drawn.values()) row.element.remove();
    this.drawn.clear();
    this.draw();
    if (focused) this.focus(this.active);
  }

  /** Draws with the next frame. */
  later() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.draw());
  }

  /** The row that keys speak of. */
  activate(tag) {
    const before = this.drawn.get(this.active);
    if (before) before.element.tabIndex = -1;
    this.active = tag;
    const now = this.drawn.get(tag);
    if (now) now.element.tabIndex = 0;
  }

  /** Moves the focus by so many rows. */
  move(by) {
    const at = this.places.get(this.active) ?? 0;
    const to = Math.min(this.tags.length - 1, Math.max(0, at + by));
    if (to >= 0) this.focus(this.tags[to]);
  }

  /** Brings a row onto the screen and gives it the focus. */
  focus(tag) {
    this.activate(tag);
    this.draw();
    const { element } = this.drawn.get(tag);
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
  }

  /** How many rows a page holds. */
  page() {
    return Math.max(1, Math.floor(innerHeight / this.height()) - 4);
  }

  height() {
    return parseFloat(getComputedStyle(this.body).getPropertyValue('--row'));
  }

  draw() {
    this.pending = false;
    const wanted = this.near();
    for (const [tag, row] of this.drawn) {
      if (wanted.has(tag)) continue;
      row.element.remove();
      this.drawn.delete(tag);
    }
    const focused = document.activeElement;
    let at = this.body.firstElementChild;
    for (const tag of wanted) {
      const row = this.drawn.get(tag) ?? this.begin(tag);
      this.show(row);
      const place = this.places.get(tag);
      row.element.style.setProperty('--at', place);
      attribute(row.element, 'aria-rowindex', place + 2);
      // Who hears the page reads it in the order of the elements.
      if (at === row.element) at = at.nextElementSibling;
      else this.body.insertBefore(row.element, at);
    }
    // An element that was moved has lost it.
    if (focused !== document.activeElement && this.body.contains(focused))
      focused.focus({ preventScroll: true });
  }

  begin(tag) {
    const row = this.make(tag);
    row.element.tabIndex = tag === this.active ? 0 : -1;
    this.drawn.set(tag, row);
    return row;
  }

  /** The tags that are on the screen or near it, and the active one, in order. */
  near() {
    const height = this.height();
    const above = -this.body.getBoundingClientRect().top;
    const from = Math.max(0, Math.floor(above / height) - BEYOND);
    const to = Math.max(from, Math.ceil((above + innerHeight) / height) + BEYOND);
    const near = this.tags.slice(from, to);
    const at = this.places.get(this.active);
    if (at < from) near.unshift(this.active);
    if (at >= to) near.push(this.active);
    return new Set(near);
  }
}
