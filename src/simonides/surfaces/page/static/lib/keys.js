// The keyboard: what each key does now. The view that is shown adds its own keys while it is shown.

import { useLayoutEffect } from "../vendor/hooks.js";

/** @typedef {{does: string, run: (event: KeyboardEvent) => void}} Key */

/** @type {Record<string, Key>[]} */
const layers = [];

/** Every key that works now, with what it does: for the help. */
export function keysNow() {
  return Object.assign({}, ...layers);
}

/**
 * Let keys work while a component is shown. Names are as in KeyboardEvent.key.
 * @param {Record<string, Key>} keys
 * @param {"view" | "page"} [of] whose they are: those of a view go before those of the page
 */
export function useKeys(keys, of = "view") {
  // Before the next key can come, so that none is lost between a view and its keys.
  useLayoutEffect(() => {
    if (of === "page") layers.unshift(keys);
    else layers.push(keys);
    return () => void layers.splice(layers.indexOf(keys), 1);
  });
}

/** @param {EventTarget | null} target */
function isWriting(target) {
  const element = /** @type {HTMLElement | null} */ (target);
  return Boolean(element?.closest?.("input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable]"));
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  // A dialogue has the keyboard to itself; the browser closes it by Escape.
  if (document.querySelector("dialog[open]")) return;
  const writing = isWriting(event.target);
  if (writing && event.key !== "Escape") return;
  if (event.key === "Enter" && /** @type {HTMLElement} */ (event.target).closest?.("a, button, summary")) return;
  for (let place = layers.length - 1; place >= 0; place--) {
    const key = layers[place][event.key];
    if (!key) continue;
    event.preventDefault();
    if (writing) /** @type {HTMLElement} */ (event.target).blur();
    key.run(event);
    return;
  }
  if (writing) /** @type {HTMLElement} */ (event.target).blur();
});
