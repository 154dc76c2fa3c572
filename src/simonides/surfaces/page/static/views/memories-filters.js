// What narrows the list of memories: values of the address, of a request, and the lists with counts beside it.

import { isExport } from "../lib/api.js";
import { offers, session, set } from "../lib/state.js";
import { Text } from "../lib/text.js";
import { html, useAnswer, useState } from "../lib/ui.js";

const MOST_FOUND = 500;
const PAGE = 200;
const SHOWN = 8;

/** @typedef {Record<string, {value: string, count: number | null}[]>} Facets */

/**
 * @typedef {{facet: string, param: string, option: string, many: boolean, title: string, all: string, help: string}} Filter
 * @type {Filter[]} in the order of the page; *param* in the address, *option* of the operation
 */
const FILTERS = [
  { facet: "kind", param: "kinds", option: "kinds", many: true, title: "Kind", all: "kinds", help: "what sort of statement it is" },
  { facet: "tag", param: "tags", option: "tags", many: true, title: "Tags", all: "tags", help: "labels; with several, a memory must have all of them" },
  { facet: "project", param: "project", option: "project", many: false, title: "Project", all: "projects", help: "the project that it belongs to" },
  { facet: "speaker", param: "speaker", option: "speaker", many: false, title: "Said by", all: "speakers", help: "who said it" },
  { facet: "session", param: "session", option: "session", many: false, title: "Conversation", all: "conversations", help: "the session in which it was said" },
  { facet: "state", param: "state", option: "state", many: false, title: "State", all: "states", help: "pinned: kept from ageing; standing: always in context; archived: found on request only" },
  { facet: "month", param: "period", option: "period", many: false, title: "Month", all: "months", help: "when it was true; of what has no date, when it was learned" },
  { facet: "layer", param: "layer", option: "layer", many: false, title: "Layer", all: "layers", help: "where the engine keeps it, which decides how fast it ages" },
];

const NO_FILTERS = Object.fromEntries(
  [...FILTERS.map(({ param }) => param), "entity", "from", "to", "as_of", "known", "archived"].map((name) => [name, null]));

/** @type {Record<string, string>} */
const WORDS = { standing: "always in context" };

/** Values of one parameter of the address; a comma inside a value has a backslash before it. @param {string | undefined} text */
export function valuesIn(text) {
  return (text?.match(/(?:\\.|[^,\\])+/gu) ?? []).map((each) => each.replace(/\\(.)/gu, "$1"));
}

/** @param {string[]} values @param {boolean} many */
function asParam(values, many) {
  return (many ? values.map((each) => each.replace(/[,\\]/gu, "\\$&")).join(",") : values[0]) || null;
}

/** The options of an operation, by name. @param {string} operation @returns {Record<string, any>} */
export function optionsOf(operation) {
  return session.value?.operations[operation]?.schema.properties ?? {};
}

/** @param {Record<string, string>} params */
export function isFiltered(params) {
  return Object.keys(params).some((name) => name !== "order");
}

/**
 * What the address asks of an operation, without what the operation does not take.
 * @param {string} operation
 * @param {Record<string, string>} params
 */
export function filtersOf(operation, params) {
  const options = optionsOf(operation);
  /** @type {Record<string, any>} */
  const values = {};
  for (const { param, option, many } of FILTERS) {
    if (params[param] && option in options) values[option] = many ? valuesIn(params[param]) : params[param];
  }
  if (params.entity && "entity" in options) values.entity = Number(params.entity);
  if (values.tags) values.tags_match = "all_strict";
  if (params.from || params.to) values.window = [params.from || "0001-01-01", params.to ? dayAfter(params.to) : "9999-12-31"];
  if (params.as_of) {
    values.as_of = params.as_of;
    if (params.known) values.known_at = "2100";
  }
  if (params.archived && "include_archived" in options) values.include_archived = true;
  return values;
}

/**
 * The request of the list.
 * @param {Record<string, string>} params
 * @returns {{operation: string, values: Record<string, any>}}
 */
export function requestIn(params) {
  if (params.q) {
    const values = { query: params.q, precision: "wide", limit: MOST_FOUND, ...filtersOf("recall", params) };
    return { operation: "recall", values };
  }
  const newest = optionsOf("list_memories").order?.enum?.includes("newest") && params.order !== "id";
  const values = { limit: PAGE, ...(newest ? { order: "newest" } : {}), ...filtersOf("list_memories", params) };
  return { operation: "list_memories", values };
}

/** @param {string} day */
function dayAfter(day) {
  const moment = new Date(`${day}T00:00:00Z`);
  moment.setUTCDate(moment.getUTCDate() + 1);
  return moment.toISOString().slice(0, 10);
}

/** What a memory has of each filter. @type {Record<string, (memory: any) => string[]>} */
const HAS = {
  kind: (memory) => [memory.kind],
  tag: (memory) => memory.tags,
  project: (memory) => [memory.project],
  speaker: (memory) => [memory.speaker],
  session: (memory) => [memory.session],
  layer: (memory) => [memory.layer],
  month: (memory) => [(memory.event_time ?? memory.ingested_at ?? "").slice(0, 7)],
  state: (memory) => ["pinned", "standing", "archived"].filter((name) => memory[name]),
};

/**
 * Whether a memory passes those filters of the address that the operation does not know: all of them on a page on
 * disk, which has no server to ask.
 * @param {string} operation
 * @param {any} memory
 * @param {Record<string, string>} params
 */
export function passes(operation, memory, params) {
  const options = optionsOf(operation);
  const here = FILTERS.filter(({ option }) => isExport || !(option in options));
  const happened = (memory.event_time ?? memory.ingested_at ?? "").slice(0, 10);
  return here.every(({ facet, param, many }) => {
    const wanted = many ? valuesIn(params[param]) : [params[param] ?? ""].filter(Boolean);
    const held = HAS[facet](memory);
    return facet === "kind" ? !wanted.length || wanted.includes(memory.kind) : wanted.every((each) => held.includes(each));
  }) && (!isExport || ((!params.from || happened >= params.from) && (!params.to || happened <= params.to)));
}

/** Counts of memories that are at hand. @param {any[]} memories @returns {Facets} */
export function countsOf(memories) {
  /** @type {Facets} */
  const facets = {};
  for (const [facet, has] of Object.entries(HAS)) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const memory of memories) for (const value of has(memory)) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
    facets[facet] = [...counts].map(([value, count]) => ({ value, count }))
      .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
  }
  return facets;
}

/**
 * How many memories there are by each filter; null = not known. What is at hand is counted here: all of a page on
 * disk, and what a search found.
 * @param {Record<string, string>} params
 * @param {any[] | null} atHand
 * @returns {{total: number | null, facets: Facets}}
 */
export function useFacets(params, atHand) {
  const asks = offers("facets") && !atHand;
  const all = filtersOf("facets", params);
  const { kinds, ...others } = all;
  const found = useAnswer(asks ? "facets" : null, all).answer;
  const anyKind = useAnswer(asks && kinds ? "facets" : null, others).answer;
  if (atHand) return { total: atHand.length, facets: countsOf(atHand) };
  if (!found) return { total: null, facets: {} };
  return { total: found.total, facets: { ...found.facets, ...(anyKind && kinds ? { kind: anyKind.facets.kind } : {}) } };
}

/**
 * Filters beside the list. On narrow screens they are closed until somebody opens them.
 * @param {{params: Record<string, string>, facets: Facets, narrow: boolean}} props
 */
export function Filters({ params, facets, narrow }) {
  const options = optionsOf(params.q ? "recall" : "list_memories");
  const used = Object.keys(params).filter((name) => !["q", "order"].includes(name)).length;
  const lists = FILTERS.filter(({ option, facet }) => option in options || facets[facet]?.length);
  return html`<details class="filters panel" open=${!narrow} aria-label="Filters">
    <summary>Filters${used > 0 && html` <span class="mark">${used}</span>`}</summary>
    <div class="stack">
      <${When} params=${params} />
      ${lists.map((each) => html`<${Choices} key=${each.facet} filter=${each} params=${params} found=${facets[each.facet]} />`)}
    </div>
  </details>`;
}

/** @param {{params: Record<string, string>}} props */
function When({ params }) {
  const options = optionsOf(params.q ? "recall" : "list_memories");
  /** @param {string} name */
  const given = (name) => (/** @type {any} */ event) => set({ [name]: event.currentTarget.value || null }, true);
  /** @param {any} event */
  const moment = ({ currentTarget: { value } }) => set({ as_of: value ? new Date(value).toISOString() : null, known: null }, true);
  return html`<fieldset>
    <legend title="the day it tells of">When it was true</legend>
    <label class="field">From <input type="date" value=${params.from ?? ""} max=${params.to} onChange=${given("from")} /></label>
    <label class="field">To <input type="date" value=${params.to ?? ""} min=${params.from} onChange=${given("to")} /></label>
    ${!isExport && html`<label class="field" title="as the bank stood at an earlier moment (as_of)">As of a moment
      <input type="datetime-local" value=${localOf(params.as_of)} onChange=${moment} /></label>`}
    ${params.as_of && html`<label title="what was true then, by all that is known today (known_at)">
      <input type="checkbox" checked=${Boolean(params.known)} onChange=${(/** @type {any} */ event) =>
        set({ known: event.currentTarget.checked ? "now" : null }, true)} /> with what was learned later</label>`}
    ${!isExport && "include_archived" in options && html`<label title="archived memories are found only on request">
      <input type="checkbox" checked=${Boolean(params.archived)} onChange=${(/** @type {any} */ event) =>
        set({ archived: event.currentTarget.checked ? "yes" : null }, true)} /> archived ones, too</label>`}
  </fieldset>`;
}

/** A moment as a local date and time for an input. @param {string | undefined} moment */
function localOf(moment) {
  const at = new Date(moment ?? "");
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param {{filter: Filter, params: Record<string, string>, found: Facets[string] | undefined}} props */
function Choices({ filter, params, found }) {
  const [all, showAll] = useState(false);
  const [typed, type] = useState("");
  const { param, many, title, help } = filter;
  const chosen = many ? valuesIn(params[param]) : params[param] ? [params[param]] : [];
  const offered = found ?? (filter.facet === "kind" ? kinds().map((value) => ({ value, count: null })) : []);
  const listed = new Set(offered.map(({ value }) => value));
  const choices = [...chosen.filter((value) => !listed.has(value)).map((value) => ({ value, count: found ? 0 : null })), ...offered];
  const free = !params.q && !["kind", "state", "layer", "month"].includes(filter.facet) && !isExport;
  if (!choices.length && !free) return null;
  /** @param {string} value */
  const toggle = (value) => {
    const next = chosen.includes(value) ? chosen.filter((each) => each !== value) : many ? [...chosen, value] : [value];
    set({ [param]: asParam(next, many) }, false);
  };
  /** @param {Event} event */
  const add = (event) => {
    event.preventDefault();
    const value = typed.trim();
    if (value && !chosen.includes(value)) toggle(value);
    type("");
  };
  const shown = all ? choices : choices.filter(({ value }, place) => place < SHOWN || chosen.includes(value));
  return html`<fieldset>
    <legend title=${help}>${title}</legend>
    <ul>${shown.map(({ value, count }) => html`<li key=${value}>
      <button class="choice" aria-pressed=${chosen.includes(value)} onClick=${() => toggle(value)}>
        <span><${Text} value=${WORDS[value] ?? value} short=${true} inert=${true} /></span>
        ${count !== null && html`<span class="number">${count.toLocaleString()}</span>`}</button></li>`)}
    </ul>
    ${choices.length > shown.length && html`<button class="quiet" onClick=${() => showAll(true)}>All ${choices.length} ${filter.all}</button>`}
    ${free && (!found || found.length >= SHOWN) && html`<form onSubmit=${add}>
      <input aria-label=${`${title}: another one`} placeholder=${found ? "another one" : "type one, then Enter"} value=${typed} maxlength="256"
        onInput=${(/** @type {any} */ event) => type(event.currentTarget.value)} /></form>`}
  </fieldset>`;
}

/** @returns {string[]} */
function kinds() {
  const [one] = optionsOf("list_memories").kinds?.anyOf ?? [];
  return one?.anyOf?.[0]?.enum ?? [];
}

/**
 * The filters in force, each with a button that takes it away.
 * @param {{params: Record<string, string>}} props
 */
export function Chips({ params }) {
  /** @type {{name: string, text: string, without: Record<string, string | null>}[]} */
  const chips = [];
  for (const { param, many, title } of FILTERS) {
    for (const value of many ? valuesIn(params[param]) : [params[param] ?? ""].filter(Boolean)) {
      const rest = many ? valuesIn(params[param]).filter((each) => each !== value) : [];
      chips.push({ name: title, text: WORDS[value] ?? value, without: { [param]: asParam(rest, many) } });
    }
  }
  if (params.entity && !params.q) chips.push({ name: "Name", text: `no. ${params.entity}`, without: { entity: null } });
  if (params.from || params.to) {
    chips.push({ name: "True", text: `${params.from || "…"} – ${params.to || "…"}`, without: { from: null, to: null } });
  }
  if (params.as_of) {
    const known = params.known ? ", by what is known today" : "";
    chips.push({ name: "As of", text: new Date(params.as_of).toLocaleString() + known, without: { as_of: null, known: null } });
  }
  if (params.archived) chips.push({ name: "Archived", text: "too", without: { archived: null } });
  if (!chips.length) return null;
  return html`<div class="row chips" aria-label="Filters in force">${chips.map(({ name, text, without }) => html`
    <button class="chip" title="take this filter away" onClick=${() => set(without)}>
      <span class="quiet">${name}</span> <${Text} value=${text} short=${true} inert=${true} /> <span aria-hidden="true">✕</span></button>`)}
    ${chips.length > 1 && html`<button class="quiet" onClick=${() => set(NO_FILTERS)}>Take all away</button>`}
  </div>`;
}
