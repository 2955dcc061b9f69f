// A strip of measurements as a little drawing: one bar for each, the newest at the end.
// It must not know whose measurements they are.

import { attribute, drawing } from './element.js';
import { LENGTH, speed } from './model.js';
import { delay, number, words } from './words.js';

const STEP = 4;
const WIDTH = 3;
const HEIGHT = 24;
/** Delays between these, in milliseconds, are told apart by height. */
const [LOWEST, HIGHEST] = [20, 5000];

const GRADES = ['good', 'fair', 'slow', 'failed'];

/** An empty strip. */
export function strip() {
  const paths = GRADES.map((grade) => drawing('path', { class: grade }));
  const rest = drawing('path', { class: 'rest' });
  const box = `0 0 ${LENGTH * STEP - 1} ${HEIGHT}`;
  return drawing(
    'svg',
    { class: 'strip', viewBox: box, role: 'img', preserveAspectRatio: 'none' },
    rest,
    ...paths,
  );
}

/** Draws measurements into a strip. */
export function draw(svg, measurements) {
  const [rest, ...paths] = svg.children;
  const from = LENGTH - measurements.length;
  const bars = Object.fromEntries(GRADES.map((grade) => [grade, '']));
  measurements.forEach((it, at) => {
    const grade = it.error === null ? speed(it.delay_ms) : 'failed';
    bars[grade] += bar(from + at, it.error === null ? height(it.delay_ms) : HEIGHT);
  });
  GRADES.forEach((grade, at) => attribute(paths[at], 'd', bars[grade]));
  attribute(rest, 'd', Array.from({ length: from }, (_, at) => bar(at, 2)).join(''));
  attribute(svg, 'aria-label', told(measurements));
}

function told(measurements) {
  const answered = measurements.filter((it) => it.error === null);
  const mean = answered.reduce((sum, it) => sum + it.delay_ms, 0) / answered.length;
  return words.strip(
    number(answered.length),
    measurements.length && number(measurements.length),
    answered.length > 0 && delay(Math.round(mean)),
  );
}

const bar = (at, high) => `M${at * STEP} ${HEIGHT}v${-high}h${WIDTH}v${high}z`;

/** By the logarithm: from 100 to 200 ms is as far as from 1 s to 2 s. */
function height(ms) {
  const part = Math.log(ms / LOWEST) / Math.log(HIGHEST / LOWEST);
  return 4 + Math.round(Math.min(1, Math.max(0, part)) * (HEIGHT - 6));
}
