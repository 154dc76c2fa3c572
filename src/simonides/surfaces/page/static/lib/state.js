// What the whole page shares: who is signed in, where it is (the address), notices, and what can be undone.

import { signal } from "../vendor/signals.js";
import { isExport, loadSession } from "./api.js";

/** @type {import("../vendor/signals.js").Signal<import("./api.js").Session | null | undefined>}
 *  undefined = not known yet; null = nobody is signed in */
export const session = signal(undefined);

/**
 * @typedef {{bank: string, view: string, params: Record<string, string>}} Route
 * @type {import("../vendor/signals.js").Signal<Route>}
 */
export const route = signal(readRoute());

/**
 * @typedef {{number: number, text: string, wrong: boolean, undo: (() => Promise<any>) | null}} Notice
 * @type {import("../vendor/signals.js").Signal<Notice[]>}
 */
export const notices = signal([]);

/** Counts every change made on this page; views that show lists read it and ask again. */
export const changes = signal(0);

let counted = 0;

/** A part of an address; one that somebody spoilt stays as it is. @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @returns {Route} */
function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [bank = "", view = ""] = path.split("/").map(decoded);
  return { bank, view: view || "ask", params: Object.fromEntries(new URLSearchParams(query)) };
}

addEventListener("hashchange", () => {
  route.value = readRoute();
});

/**
 * The address of a view with its parameters: every state has one, so that it can be copied and opened again.
 * @param {string} view
 * @param {Record<string, string | number | boolean | null | undefined>} [params]
 * @param {string} [bank]
 */
export function address(view, params = {}, bank = route.value.bank) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) query.set(name, String(value));
  }
  const asked = query.toString();
  return `#/${encodeURIComponent(bank)}/${view}${asked ? `?${asked}` : ""}`;
}

/**
 * Go to a view. With *replace* the step is not kept in the browser's history.
 * @param {string} view
 * @param {Record<string, any>} [params]
 * @param {{replace?: boolean, bank?: string}} [how]
 */
export function go(view, params = {}, { replace = false, bank } = {}) {
  const next = address(view, params, bank);
  if (replace) {
    history.replaceState(null, "", next);
    route.value = readRoute();
  } else if (location.hash !== next) location.hash = next;
}

/**
 * Change some parameters of the view that is shown; null takes one away.
 * @param {Record<string, any>} params
 * @param {boolean} [replace]
 */
export function set(params, replace = false) {
  go(route.value.view, { ...route.value.params, ...params }, { replace });
}

/** @param {string} verb "read", "write", "forget" or "admin" */
export function can(verb) {
  return !isExport && Boolean(session.value?.verbs.includes(verb));
}

/** @param {string} operation */
export function offers(operation) {
  const known = session.value?.operations[operation];
  return known !== undefined && known.verbs.every(can) && !(known.owner_only && session.value?.principal);
}

export async function start() {
  try {
    session.value = await loadSession();
    const banks = session.value.banks;
    if (!banks.includes(route.value.bank) && banks.length) go(route.value.view, route.value.params, {
      replace: true, bank: route.value.bank || (banks.includes("default") ? "default" : banks[0]),
    });
  } catch (error) {
    session.value = null;
    if (/** @type {any} */ (error).status !== 401) tell(/** @type {Error} */ (error).message, { wrong: true });
  }
}

/**
 * A notice at the edge of the page; with *undo* it has a button that takes the change back.
 * @param {string} text
 * @param {{wrong?: boolean, undo?: (() => Promise<any>) | null}} [how]
 */
export function tell(text, { wrong = false, undo = null } = {}) {
  const notice = { number: ++counted, text, wrong, undo };
  notices.value = [...notices.value.slice(-3), notice];
  if (!wrong) setTimeout(() => dismiss(notice.number), undo ? 20_000 : 5_000);
}

/** @param {number} number */
export function dismiss(number) {
  notices.value = notices.value.filter((each) => each.number !== number);
}

/**
 * Do a change, tell of it, and let every list ask again. A failure becomes a notice; returns whether it worked.
 * @param {() => Promise<any>} change
 * @param {string} done what to tell
 * @param {((answer: any) => Promise<any>) | null} [undo] takes the change back
 */
export async function change(change, done, undo = null) {
  try {
    const answer = await change();
    changes.value += 1;
    tell(done, {
      undo: undo && (async () => {
        try {
          await undo(answer);
          changes.value += 1;
          tell("Undone.");
        } catch (error) {
          tell(/** @type {Error} */ (error).message, { wrong: true });
        }
      }),
    });
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
}

/** Tell of a failure; one of an ended session leads back to signing in. @param {any} error */
export function failed(error) {
  if (error?.name === "AbortError") return;
  if (error?.status === 401) session.value = null;
  const wait = error?.retryAfter ? ` Try again in ${error.retryAfter} s.` : "";
  tell(`${error?.message ?? error}${wait}`, { wrong: true });
}
