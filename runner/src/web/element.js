// Elements made of text alone: nothing that comes from outside is ever read as HTML.
// It must not know what the elements are for.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with attributes, properties (which begin with a dot), listeners (which begin with
 * `on`) and children. A child that is no node is text; null and false are left out.
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for what SVG knows. */
export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** One of the icons that the page brings. */
export function icon(name) {
  return drawing('svg', { 'aria-hidden': 'true' }, drawing('use', { href: `#icon-${name}` }));
}

/** Text whose direction is its own, whatever stands around it. */
export function isolated(text, direction = 'auto') {
  return element('bdi', { dir: direction }, text);
}

/** The same within a text: two characters keep its direction to itself. */
export const isolate = (text) => `\u{2068}${text}\u{2069}`;

/** Sets a text, only if it is another: what does not change is not drawn again. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets or removes an attribute, only if it is another. */
export function attribute(node, name, value) {
  if (value === null || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, String(value));
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith('.')) node[name.slice(1)] = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((it) => it !== null && it !== undefined && it !== false));
  return node;
}
