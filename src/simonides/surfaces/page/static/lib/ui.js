// Components that every view uses, and the one import of the libraries.

import htm from "../vendor/htm.js";
import { Component, Fragment, h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { computed, effect, signal, useSignal } from "../vendor/signals.js";
import { call, requestOf } from "./api.js";
import { changes, failed, route, session, set, tell } from "./state.js";

const TYPING_MS = 250;

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
export { Component, Fragment, computed, effect, render, signal, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useSignal, useState };

/**
 * The answer of a reading operation, asked again when *values* or the bank change, or something was changed here.
 * @param {string | null} operation null = ask nothing
 * @param {Record<string, any>} values
 * @returns {{answer: any, problem: any, busy: boolean, again: () => void}}
 */
export function useAnswer(operation, values) {
  const [state, setState] = useState({ answer: null, problem: null, busy: true });
  const [turn, setTurn] = useState(0);
  const bank = route.value.bank;
  const key = JSON.stringify([operation, bank, values, turn, changes.value]);
  useEffect(() => {
    if (!operation) {
      setState({ answer: null, problem: null, busy: false });
      return undefined;
    }
    const stop = new AbortController();
    setState((was) => ({ ...was, busy: true }));
    call(operation, bank, values, stop.signal)
      .then((answer) => setState({ answer, problem: null, busy: false }))
      .catch((problem) => {
        if (problem?.name === "AbortError") return;
        if (problem?.status === 401) session.value = null;
        setState({ answer: null, problem, busy: false });
      });
    return () => stop.abort();
  }, [key]);
  return { ...state, again: () => setTurn(turn + 1) };
}

/**
 * The text of a search box that follows a parameter of the address.
 * @param {string} value of the parameter
 * @returns {[string, (text: string) => void]}
 */
export function useTyped(value) {
  const [typed, setTyped] = useState(value);
  // In a layout effect, as all that moves the focus or sets what a key changes: one after the paint would undo the
  // first key. A space at the end is the start of the next word.
  useLayoutEffect(() => setTyped((was) => (was.trim() === value ? was : value)), [value]);
  return [typed, setTyped];
}

/**
 * The text of a search box that asks while somebody writes: by the parameter *q*, when no key came for a while.
 * @param {string} value of the parameter
 * @returns {[string, (text: string, wait?: number) => void]}
 */
export function useSearch(value) {
  const [typed, type] = useTyped(value);
  const waiting = useRef(0);
  // Another view must not be asked what was written in this one.
  useLayoutEffect(() => () => clearTimeout(waiting.current), []);
  return [typed, (text, wait = TYPING_MS) => {
    type(text);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => set({ q: text.trim() || null }, true), wait);
  }];
}

/** @param {{problem: any, again?: () => void}} props */
export function Failure({ problem, again }) {
  const title =
    problem.status === 0 ? "Not reached"
    : problem.status === 403 ? "Not allowed"
    : problem.status === 429 || problem.status === 503 ? "The server is busy"
    : "That did not work";
  return html`<div class="state wrong" role="alert">
    <strong>${title}</strong>
    <p>${problem.message}${problem.retryAfter ? ` Try again in ${problem.retryAfter} s.` : ""}</p>
    ${again && html`<button onClick=${again}>Try again</button>`}
  </div>`;
}

/** @param {{title: string, children?: any}} props */
export function Empty({ title, children }) {
  return html`<div class="state"><strong>${title}</strong>${children && html`<div>${children}</div>`}</div>`;
}

export function Busy() {
  return html`<div class="busy" role="status" aria-label="loading"></div>`;
}

/**
 * What depends on an answer: loading, failed, or shown.
 * @param {{of: {answer: any, problem: any, busy: boolean, again: () => void}, children: (answer: any) => any}} props
 */
export function Loaded({ of, children }) {
  if (of.problem) return html`<${Failure} problem=${of.problem} again=${of.again} />`;
  if (of.answer === null) return html`<${Busy} />`;
  return html`<div class=${of.busy ? "stale" : ""}>${children(of.answer)}</div>`;
}

/**
 * A dialogue over the page; Escape and the button close it.
 * @param {{title: string, close: () => void, children?: any}} props
 */
export function Dialog({ title, close, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    box.current?.showModal();
  }, []);
  return html`<dialog ref=${box} onClose=${close} aria-label=${title}>
    <header><h2>${title}</h2><button class="quiet" aria-label="close" onClick=${close}>✕</button></header>
    ${children}
  </dialog>`;
}

/**
 * Copy one request as Python or curl.
 * @param {{operation: string, values: Record<string, any>}} props
 */
export function CopyRequest({ operation, values }) {
  /** @param {string} text @param {string} what */
  const copy = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
      tell(`${what} copied.`);
    } catch (error) {
      failed(error);
    }
  };
  return html`<span class="copy">
    <button class="quiet" onClick=${() => copy(asPython(operation, values), "Python")}>Copy as Python</button>
    <button class="quiet" onClick=${() => copy(asCurl(operation, values), "curl")}>Copy as curl</button>
  </span>`;
}

/** @param {any} value @returns {string} */
function pythonOf(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonOf(each)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** @param {string} operation @param {Record<string, any>} values */
export function asPython(operation, values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const named = given.map(([name, value]) => `${name}=${pythonOf(value)}`).join(", ");
  return `import simonides

with simonides.open("PATH OF THE STORE") as store:
    print(store.bank(${JSON.stringify(route.value.bank)}).${operation}(${named}))
`;
}

/** @param {string} operation @param {Record<string, any>} values */
export function asCurl(operation, values) {
  const known = session.value?.operations[operation];
  if (!known) return "";
  const { method, path, body } = requestOf(known, route.value.bank, values);
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const sent = body === undefined ? "" : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
  return `curl -X ${method} -H "Authorization: Bearer $TOKEN"${sent} ${quoted(location.origin + path)}\n`;
}

const TALLEST = 8_000_000;

/**
 * Rows of equal height, of which only those in view are in the page.
 * @param {{count: number, height: number, row: (place: number) => any, selected?: number, onEnd?: () => void,
 *   label: string}} props
 */
export function VirtualList({ count, height, row, selected = -1, onEnd, label }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [scrolled, setScrolled] = useState(0);
  const [room, setRoom] = useState(800);
  // No browser shows an element of any height: of very many rows, each pixel that is scrolled stands for several.
  const shown = Math.min(count * height, TALLEST);
  const scale = shown < count * height ? (count * height - room) / (shown - room) : 1;
  const top = scrolled * scale;
  useEffect(() => {
    const element = /** @type {HTMLDivElement} */ (box.current);
    const watch = new ResizeObserver(() => setRoom(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (!element || selected < 0) return;
    if (selected * height < element.scrollTop * scale) element.scrollTop = (selected * height) / scale;
    const below = ((selected + 1) * height - element.clientHeight) / scale;
    if (below > element.scrollTop) element.scrollTop = below;
  }, [selected]);
  const first = Math.max(0, Math.floor(top / height) - 8);
  const last = Math.min(count, Math.ceil((top + room) / height) + 8);
  useEffect(() => {
    if (onEnd && last >= count) onEnd();
  }, [last, count]);
  const rows = [];
  for (let place = first; place < last; place++) rows.push(row(place));
  return html`<div class="virtual" ref=${box} role="list" aria-label=${label} tabindex="0"
    onScroll=${(/** @type {any} */ event) => setScrolled(event.currentTarget.scrollTop)}>
    <div style=${{ height: `${shown}px` }}>
      <div style=${{ transform: `translateY(${first * height - top + scrolled}px)` }}>${rows}</div>
    </div>
  </div>`;
}

/** How sure the engine is that a hit answers, as a number and a bar. @param {{value: number | null}} props */
export function Relevance({ value }) {
  if (value === null || value === undefined) return null;
  const percent = Math.round(value * 100);
  return html`<span class="relevance" title="how probably this answers the question">
    <meter min="0" max="1" value=${value} aria-label="relevance"></meter> ${percent} %</span>`;
}
