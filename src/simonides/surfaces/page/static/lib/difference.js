// What changed between two texts, word by word.

import { Text, partsOf } from "./text.js";
import { Fragment, html } from "./ui.js";

const MOST = 400;

/**
 * Both texts in one: words that are gone as <del>, words that are new as <ins>.
 * @param {string} before
 * @param {string} after
 */
export function wordDifference(before, after) {
  const one = before.split(/(\s+)/), other = after.split(/(\s+)/);
  // A secret is known by the words before it, so a text that holds one is shown whole, and masked.
  const secret = [before, after].some((text) => partsOf(text).some((part) => part.what === "secret"));
  if (secret || one.length > MOST || other.length > MOST) {
    return html`<${Fragment}><del><${Text} value=${before} /></del> <ins><${Text} value=${after} /></ins></${Fragment}>`;
  }
  return html`<span>${parts(one, other).map(({ what, text }) =>
    what === "same" ? html`<${Text} value=${text} />`
    : what === "gone" ? html`<del><${Text} value=${text} /></del>`
    : html`<ins><${Text} value=${text} /></ins>`)}</span>`;
}

/**
 * By the longest common run of words.
 * @param {string[]} one
 * @param {string[]} other
 * @returns {{what: "same" | "gone" | "new", text: string}[]}
 */
export function parts(one, other) {
  const lengths = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let a = one.length - 1; a >= 0; a--) {
    for (let b = other.length - 1; b >= 0; b--) {
      lengths[a][b] = one[a] === other[b] ? lengths[a + 1][b + 1] + 1 : Math.max(lengths[a + 1][b], lengths[a][b + 1]);
    }
  }
  /** @type {{what: "same" | "gone" | "new", text: string}[]} */
  const found = [];
  /** @param {"same" | "gone" | "new"} what @param {string} text */
  const add = (what, text) => {
    const last = found.at(-1);
    if (last?.what === what) last.text += text;
    else found.push({ what, text });
  };
  let a = 0, b = 0;
  while (a < one.length && b < other.length) {
    if (one[a] === other[b]) add("same", one[a++]), b++;
    else if (lengths[a + 1][b] >= lengths[a][b + 1]) add("gone", one[a++]);
    else add("new", other[b++]);
  }
  while (a < one.length) add("gone", one[a++]);
  while (b < other.length) add("new", other[b++]);
  return found;
}
