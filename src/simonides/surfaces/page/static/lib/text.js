// What a memory holds is shown as text alone: nothing of it is markup, and what cannot be seen is shown.

import { html, useState } from "./ui.js";

/** Controls, zero-width characters and those that turn the direction of writing. */
// eslint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Words before a secret. */
const NAMED = "password|passwd|passphrase|passcode|pin|secret|api[ _-]?key|access[ _-]?key|token";

/** What looks like a secret: masked until somebody asks to see it. */
const SECRET = new RegExp(
  [
    "\\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_A-Za-z0-9]{16,}",
    "\\bgh[pousr]_[A-Za-z0-9]{20,}", "\\bglpat-[-_A-Za-z0-9]{16,}", "\\bxox[abprs]-[-A-Za-z0-9]{10,}",
    "\\bAKIA[0-9A-Z]{16}\\b", "\\bAIza[-_A-Za-z0-9]{30,}", "\\bsmn_[0-9a-f]{16}_[-_A-Za-z0-9]{40,}",
    "\\beyJ[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{8,}",
    `(?<=(?<![A-Za-z0-9])(?:${NAMED})(?![A-Za-z0-9])(?: is |[^.;\\n]{0,60}[:=] ?))[^\\s,;]{4,}`,
    "-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
  ].join("|"),
  "giu",
);

const SHOWN = 600;

/** @param {string} character */
function nameOf(character) {
  return `U+${/** @type {number} */ (character.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Parts of a text: plain, hidden characters, and secrets.
 * @param {string} text
 * @returns {{text: string, what: "plain" | "hidden" | "secret"}[]}
 */
export function partsOf(text) {
  /** @type {{text: string, what: "plain" | "hidden" | "secret"}[]} */
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(SECRET)) {
    parts.push(...plainParts(text.slice(end, found.index)), { text: found[0], what: "secret" });
    end = found.index + found[0].length;
  }
  parts.push(...plainParts(text.slice(end)));
  return parts;
}

/**
 * @param {string} text
 * @returns {{text: string, what: "plain" | "hidden"}[]}
 */
function plainParts(text) {
  /** @type {{text: string, what: "plain" | "hidden"}[]} */
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > end) parts.push({ text: text.slice(end, found.index), what: "plain" });
    parts.push({ text: nameOf(found[0]), what: "hidden" });
    end = found.index + found[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), what: "plain" });
  return parts;
}

/**
 * The text of a memory. *short* cuts it for a list; otherwise a long one ends with a button. *inert* = inside a
 * button or a link, where nothing else may be pressed.
 * @param {{value: string, short?: boolean, inert?: boolean}} props
 */
export function Text({ value, short = false, inert = false }) {
  const [all, showAll] = useState(false);
  const most = short ? 240 : all ? Infinity : SHOWN;
  const cut = value.length > most ? value.slice(0, most) : value;
  return html`<span class="memory-text" dir="auto">
    ${partsOf(cut).map((part) =>
      part.what === "plain" ? part.text
      : part.what === "hidden" ? html`<span class="hidden-character" title="a character that cannot be seen">${part.text}</span>`
      : inert ? html`<span class="secret" title="a secret; open the memory to show it">••••••</span>`
      : html`<${Secret} value=${part.text} />`)}${cut.length < value.length && "…"}
    ${!short && cut.length < value.length && html` <button class="quiet" onClick=${() => showAll(true)}>
      show all ${value.length.toLocaleString()} characters</button>`}
  </span>`;
}

/** @param {{value: string}} props */
function Secret({ value }) {
  const [shown, show] = useState(false);
  if (shown) return html`<span class="secret">${value}</span>`;
  /** @param {Event} event */
  const reveal = (event) => {
    event.preventDefault();
    event.stopPropagation();
    show(true);
  };
  return html`<button class="secret" onClick=${reveal} aria-label="a secret; press to show it">••••••</button>`;
}

/** @type {Map<string, Intl.DateTimeFormat>} */
const FORMATS = new Map();

/** A formatter costs far more than a formatted moment. @param {Intl.DateTimeFormatOptions} form */
function formatOf(form) {
  const key = JSON.stringify(form);
  if (!FORMATS.has(key)) FORMATS.set(key, new Intl.DateTimeFormat(undefined, form));
  return /** @type {Intl.DateTimeFormat} */ (FORMATS.get(key));
}

/**
 * A moment, in the zone of the browser; its exact form is in the title. *precision* is "day", "month", "year".
 * @param {{value: string | null, precision?: string | null, none?: string}} props
 */
export function Time({ value, precision = null, none = "—" }) {
  if (!value) return html`<span class="quiet">${none}</span>`;
  const moment = new Date(value);
  if (Number.isNaN(moment.getTime())) return html`<span>${value}</span>`;
  /** @type {Intl.DateTimeFormatOptions} */
  const form = { year: "numeric" };
  if (precision !== "year") form.month = "short";
  if (precision !== "year" && precision !== "month") form.day = "numeric";
  if (!precision || precision === "minute" || precision === "second" || precision === "hour") {
    form.hour = "2-digit";
    form.minute = "2-digit";
  }
  if (precision === "day" || precision === "month" || precision === "year") form.timeZone = "UTC";
  return html`<time datetime=${value} title=${value}>${formatOf(form).format(moment)}</time>`;
}
