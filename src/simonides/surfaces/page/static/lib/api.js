// Requests to the HTTP interface of the server that this page came from, by the name of the operation.
//
// A page that was written to disk (`simonides ui --export`) has its data inside and no server: there
// `exported` answers, read-only.

import { answerFromExport, exportedBank } from "./exported.js";

/**
 * @typedef {{type?: string | string[], enum?: any[], description?: string, default?: any, minimum?: number,
 *   maximum?: number, items?: any, anyOf?: any[], properties?: Record<string, any>, required?: string[]}} Schema
 * @typedef {{method: string, path: string, verbs: string[], owner_only: boolean, help: string,
 *   schema: Schema}} Operation
 * @typedef {{version: string, name: string, principal: string | null, verbs: string[], banks: string[],
 *   csrf: string, operations: Record<string, Operation>}} Session
 */

/** What the server refused, or why it was not reached. */
export class Problem extends Error {
  /**
   * @param {number} status of HTTP; 0 = the server was not reached
   * @param {string} detail what is wrong and what to do
   * @param {number} retryAfter seconds; 0 = not said
   */
  constructor(status, detail, retryAfter = 0) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** @type {Session | null} */
let session = null;

/** Whether this page was written to disk and has no server. */
export const isExport = exportedBank() !== null;

/**
 * Who is signed in; rejects with a Problem of status 401 where nobody is.
 * @returns {Promise<Session>}
 */
export async function loadSession() {
  const exported = exportedBank();
  session = exported ? exported.session : await send("GET", "/ui/session");
  return /** @type {Session} */ (session);
}

/** @param {string} token */
export async function signIn(token) {
  await send("POST", "/ui/enter", { token });
  return loadSession();
}

export async function signOut() {
  await send("POST", "/ui/leave", {});
  session = null;
}

/**
 * The method, the path and what stands in the query or the body of one request.
 * @param {Operation} operation
 * @param {string} bank
 * @param {Record<string, any>} values
 */
export function requestOf(operation, bank, values) {
  /** @type {Record<string, any>} */
  const rest = {};
  let path = operation.path.replace("{bank}", encodeURIComponent(bank));
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    if (path.includes(`{${name}}`)) path = path.replace(`{${name}}`, encodeURIComponent(String(value)));
    else rest[name] = value;
  }
  if (operation.method !== "GET") return { method: operation.method, path, body: rest };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) {
    if (value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
  }
  const asked = query.toString();
  return { method: "GET", path: asked ? `${path}?${asked}` : path, body: undefined };
}

/**
 * Do one operation.
 * @param {string} name of the operation, such as "recall"
 * @param {string} bank
 * @param {Record<string, any>} [values]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function call(name, bank, values = {}, signal) {
  if (isExport) return answerFromExport(name, values);
  const operation = session?.operations[name];
  if (!operation) throw new Problem(404, `this server does not know the operation ${name}; it may be older`);
  const { method, path, body } = requestOf(operation, bank, values);
  return send(method, path, body, signal);
}

/**
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function send(method, path, body, signal) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (method !== "GET" && session?.csrf) headers["x-csrf-token"] = session.csrf;
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal,
    });
  } catch (error) {
    if (/** @type {any} */ (error).name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Start it again with: simonides ui");
  }
  /** @type {any} */
  let answer = {};
  try {
    answer = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    if (response.ok) throw new Problem(response.status, "The answer of the server was cut short. Ask again.");
  }
  if (response.ok) return answer;
  const after = Number(response.headers.get("retry-after")) || 0;
  throw new Problem(response.status, answer.detail || answer.title || response.statusText, after);
}
