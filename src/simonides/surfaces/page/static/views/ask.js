// The one screen: ask, see three lines, choose one, see why it came and what it replaced, correct it, and see the
// answer change.

import { call, isExport } from "../lib/api.js";
import { useKeys } from "../lib/keys.js";
import { address, can, change, offers, route, session, set } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { CopyRequest, Dialog, Empty, Failure, Fragment, Loaded, Relevance, html, useAnswer, useLayoutEffect, useRef, useState, useTyped } from "../lib/ui.js";
import { Stages } from "./stages.js";
import { Marks, MemoryCard } from "./memory.js";

/** Options of a recall that have a place of their own, or that the page sets itself. */
const OWN = new Set(["query", "explain", "trace", "count_returned", "tier", "helpers", "window", "aliases", "seed"]);
const COMMON = ["precision", "profile", "limit", "max_tokens", "as_of", "known_at", "tags", "project"];

/** @param {{params: Record<string, string>}} props */
export function Ask({ params }) {
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [typed, setTyped] = useTyped(params.q ?? "");
  const [empty, setEmpty] = useState(false);
  useLayoutEffect(() => {
    if (!params.q) box.current?.focus();
    call("stats", route.value.bank).then((told) => setEmpty(told.current === 0), () => setEmpty(false));
  }, []);
  /** @param {Event} event */
  const ask = (event) => {
    event.preventDefault();
    if (typed.trim()) set({ q: typed.trim(), hit: null });
  };
  return html`<div class="stack ask">
    <h1 class="unseen">Ask</h1>
    <form class="question" onSubmit=${ask} role="search">
      <input ref=${box} data-question type="search" aria-label="Question" value=${typed} autocomplete="off"
        placeholder="Ask what it remembers: a question, or a few words"
        onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} />
      <button class="main">Ask</button>
    </form>
    <${Options} params=${params} />
    ${params.q ? html`<${Answer} params=${params} />` : empty ? html`<${FirstSteps} />` : html`<${Empty} title="Ask something.">
      The three likeliest memories come first, with how sure the engine is. <kbd>/</kbd> brings you back here.</${Empty}>`}
  </div>`;
}

/** The options in the address, as values of the request. @param {Record<string, string>} params */
export function optionsOf(params) {
  const properties = session.value?.operations.recall?.schema.properties ?? {};
  /** @type {Record<string, any>} */
  const values = {};
  for (const [name, text] of Object.entries(params)) {
    if (OWN.has(name) || !(name in properties)) continue;
    const form = formOf(properties[name]);
    values[name] =
      form.type === "switch" ? text === "true"
      : form.type === "number" ? Number(text)
      : form.type === "list" ? text.split(",").map((each) => each.trim()).filter(Boolean)
      : text;
  }
  return values;
}

/** How a person gives a value: from its schema. @param {any} schema @returns {{type: string, choices?: string[], time?: boolean}} */
function formOf(schema) {
  const all = [schema, ...(schema.anyOf ?? []), ...(schema.anyOf ?? []).flatMap((/** @type {any} */ each) => each.anyOf ?? [])];
  const types = new Set(all.flatMap((each) => each.type ?? []));
  if (types.has("boolean")) return { type: "switch" };
  if (all.some((each) => each.format === "date")) return { type: "time" };
  if (types.has("array")) return { type: "list" };
  const choices = all.find((each) => each.enum)?.enum;
  if (choices) return { type: "choice", choices };
  if (types.has("integer") || types.has("number")) return { type: "number" };
  return { type: types.has("object") ? "none" : "text" };
}

/** @param {{params: Record<string, string>}} props */
function Options({ params }) {
  const properties = session.value?.operations.recall?.schema.properties ?? {};
  const names = Object.keys(properties).filter((name) => !OWN.has(name) && formOf(properties[name]).type !== "none");
  if (!names.length) return null;
  const used = names.filter((name) => params[name] !== undefined);
  const rest = names.filter((name) => !COMMON.includes(name));
  /** @param {string} name */
  const field = (name) => {
    const { type, choices } = formOf(properties[name]);
    /** @param {any} event */
    const chosen = (event) => set({ [name]: type === "switch" ? (event.currentTarget.checked ? "true" : null) : event.currentTarget.value || null }, true);
    const title = properties[name].description ?? "";
    const label = name.replaceAll("_", " ");
    if (type === "switch") return html`<label title=${title}><input type="checkbox" checked=${params[name] === "true"} onChange=${chosen} /> ${label}</label>`;
    return html`<label class="field" title=${title}><span class="quiet">${label}</span>
      ${type === "choice"
        ? html`<select value=${params[name] ?? ""} onChange=${chosen}><option value="">as usual</option>${choices?.map((each) =>
            html`<option value=${each} selected=${each === params[name]}>${each}</option>`)}</select>`
        : html`<input type=${type === "time" ? "datetime-local" : type === "number" ? "number" : "text"} step="any" value=${params[name] ?? ""}
            placeholder=${type === "list" ? "one, two" : ""} onChange=${chosen} />`}</label>`;
  };
  return html`<details class="options" open=${used.length > 0}>
    <summary>Options${used.length > 0 && html` <span class="mark">${used.map((name) => `${name} ${params[name]}`).join(" · ")}</span>`}</summary>
    <div class="fields">${COMMON.filter((name) => names.includes(name)).map(field)}</div>
    <details><summary class="quiet">All ${names.length} options</summary><div class="fields">${rest.map(field)}</div></details>
    ${used.length > 0 && html`<button class="quiet" onClick=${() => set(Object.fromEntries(used.map((name) => [name, null])), true)}>Reset</button>`}
  </details>`;
}

/** @param {{params: Record<string, string>}} props */
function Answer({ params }) {
  const values = { query: params.q, ...optionsOf(params), explain: true, trace: true };
  const found = useAnswer("recall", values);
  const other = params.beside ?? "";
  return html`<${Fragment}>
    <div class=${other ? "columns" : ""}>
      <div class="stack">
        ${other && html`<h2>${params.profile ?? "default"}</h2>`}
        <${Loaded} of=${found}>${(/** @type {any} */ answer) => html`<${Found} answer=${answer} params=${params} />`}</${Loaded}>
      </div>
      ${other && html`<${Beside} profile=${other} values=${values} />`}
    </div>
    ${found.answer && html`<${Tools} answer=${found.answer} params=${params} values=${values} />`}
  </${Fragment}>`;
}

/** @type {Record<string, [string, string]>} */
const BANDS = {
  match: ["Answered", "something very likely answers this"],
  weak: ["Possibly", "something may answer this; a prompt gets two lines at most, marked “possibly”"],
  none: ["Nothing known", "nothing here answers this; a prompt gets nothing"],
};

/** @param {{answer: any}} props */
function Band({ answer }) {
  const [word, meaning] =
    answer.confidence === null && answer.band === "match"
      ? ["Found", isExport ? "by its words alone: a page on disk has no engine" : "this profile does not judge how sure it is"]
      : BANDS[answer.band] ?? ["", ""];
  const sure = answer.confidence === null ? "" : `${Math.round(answer.confidence * 100)} % sure`;
  return html`<p class="band"><span class=${`mark ${answer.band}`} title=${meaning}>${word}</span>
    <span class="quiet" title="how probably anything here answers the question">${sure}</span>
    <span class="quiet">${meaning}</span></p>`;
}

/** @param {{answer: any, params: Record<string, string>}} props */
function Found({ answer, params }) {
  const [all, showAll] = useState(false);
  const told = answer.hits.slice(0, answer.told), rest = answer.hits.slice(answer.told);
  const shown = all ? answer.hits : told.length ? told : rest.slice(0, 3);
  const place = shown.findIndex((/** @type {any} */ hit) => hit.id === params.hit);
  /** @param {number} next */
  const choose = (next) => set({ hit: shown[Math.max(0, Math.min(shown.length - 1, next))]?.id ?? null }, true);
  useKeys({
    j: { does: "Next memory", run: () => choose(place + 1) },
    k: { does: "Memory before", run: () => choose(place < 0 ? 0 : place - 1) },
  });
  const kept = useAnswer(offers("put_records") ? "list_records" : null, { space: JUDGED, path: keyOf(params.q, "").slice(0, 1) });
  /** @type {Map<string, boolean>} */
  const verdicts = new Map((kept.answer?.records ?? []).map((/** @type {any} */ each) => [each.path[1], each.value.right]));
  const chosen = answer.hits.find((/** @type {any} */ hit) => hit.id === params.hit);
  const why = answer.explanations?.find((/** @type {any} */ each) => each.id === params.hit);
  return html`<div class=${params.hit ? "columns" : ""}>
    <div>
      <${Band} answer=${answer} />
      ${answer.no_match_reasons.map((/** @type {string} */ reason) => html`<p class="quiet">${reason}</p>`)}
      ${answer.band === "none" && answer.hits.length > 0 && !all && html`<p class="quiet">The nearest, told to nobody:</p>`}
      <ol class="hits">${shown.map((/** @type {any} */ hit) => html`<${Line} key=${hit.id} hit=${hit} params=${params} verdict=${verdicts.get(hit.id)} />`)}</ol>
      ${shown.length === 0 && html`<${Empty} title="It remembers nothing of this." />`}
      ${!all && answer.hits.length > shown.length && html`<button class="quiet" onClick=${() => showAll(true)}>Show ${answer.hits.length - shown.length} more that were found</button>`}
    </div>
    ${params.hit && html`<${MemoryCard} key=${params.hit} id=${params.hit} hit=${chosen} explanation=${why} close=${() => set({ hit: null }, true)} />`}
  </div>`;
}

/** @param {{hit: any, params: Record<string, string>, verdict: boolean | undefined}} props */
function Line({ hit, params, verdict }) {
  const chosen = hit.id === params.hit;
  return html`<li class=${chosen ? "chosen" : ""}>
    <button class="line" aria-expanded=${chosen} onClick=${() => set({ hit: chosen ? null : hit.id }, true)}>
      <span class="memory-line"><${PlainText} value=${hit.text} /></span>
      <span class="row">
        <span class="quiet"><${Time} value=${hit.memory.event_time ?? hit.memory.valid_from} precision=${hit.memory.event_precision ?? "day"} /></span>
        <${Relevance} value=${hit.relevance} /> ${hit.earlier && html`<span class="mark weak" title="a newer hit states another value">earlier</span>`}
        <${Marks} memory=${hit.memory} />
      </span>
    </button>
    <${Judge} hit=${hit} query=${params.q} verdict=${verdict} />
  </li>`;
}

/** One line of a text inside a button, whose secrets are masked: a button holds no other button. @param {{value: string}} props */
function PlainText({ value }) {
  return html`<${Text} value=${value} short=${true} inert=${true} />`;
}

/** Right or wrong: kept under the question, for `simonides tune`. @param {{hit: any, query: string, verdict: boolean | undefined}} props */
function Judge({ hit, query, verdict }) {
  if (!offers("put_records")) return null;
  /** @param {boolean} right */
  const judge = (right) => {
    const bank = route.value.bank, key = keyOf(query, hit.id);
    const put = (/** @type {boolean} */ value) => call("put_records", bank, { space: JUDGED, records: [{ path: key, value: { query, right: value }, text: "" }] });
    const forget = () => call("forget_records", bank, { space: JUDGED, path: key, exact: true });
    return change(
      () => (verdict === right ? forget() : put(right)),
      verdict === right ? "Judgement taken back." : right ? "Kept: it answers." : "Kept: it does not answer.",
      can("forget") ? () => (verdict === undefined ? forget() : put(verdict)) : null);
  };
  return html`<span class="judge">
    <button class="quiet" aria-pressed=${verdict === true} aria-label="This answers the question" title="This answers" onClick=${() => judge(true)}>✓</button>
    <button class="quiet" aria-pressed=${verdict === false} aria-label="This does not answer the question" title="This does not answer" onClick=${() => judge(false)}>✗</button>
  </span>`;
}

const JUDGED = "judged";

/** The key of a judgement; a long question is cut, and stands whole in the value. @param {string} query @param {string} id */
function keyOf(query, id) {
  return [query.slice(0, 200).trim(), id];
}

/** @param {{profile: string, values: Record<string, any>}} props */
function Beside({ profile, values }) {
  const found = useAnswer("recall", { ...values, profile });
  return html`<div class="stack"><h2>${profile}</h2>
    <${Loaded} of=${found}>${(/** @type {any} */ answer) => html`<div><${Band} answer=${answer} />
      <ol class="hits">${answer.hits.slice(0, 10).map((/** @type {any} */ hit) => html`<li><a class="line" href=${address("memory", { id: hit.id })}>
        <span class="memory-line"><${PlainText} value=${hit.text} /></span></a></li>`)}</ol></div>`}</${Loaded}></div>`;
}

/** @param {{answer: any, params: Record<string, string>, values: Record<string, any>}} props */
function Tools({ answer, params, values }) {
  const [stages, showStages] = useState(false);
  const profiles = session.value?.operations.recall?.schema.properties?.profile?.enum ?? [];
  const tokens = answer.hits.slice(0, answer.told).reduce((/** @type {number} */ sum, /** @type {any} */ hit) => sum + hit.tokens, 0);
  const request = { query: values.query, ...optionsOf(params) };
  return html`<div class="stack">
    <details class="panel" open><summary>What a prompt gets <span class="quiet">${tokens} tokens</span></summary>
      ${answer.context ? html`<pre class="context"><${Text} value=${answer.context} /></pre>` : html`<p class="quiet">Nothing: the context is empty.</p>`}
    </details>
    ${answer.trace && html`<details class="panel" onToggle=${(/** @type {any} */ event) => showStages(event.currentTarget.open)}><summary>How it was found <span class="quiet">${answer.trace.milliseconds.toFixed(1)} ms, ${answer.trace.visible.toLocaleString()} memories looked at</span></summary>
      ${stages && html`<${Stages} answer=${answer} values=${values} />`}</details>`}
    ${offers("why_not") && html`<${WhyNot} values=${request} />`}
    <div class="row apart">
      ${profiles.length > 0 && html`<label>Beside it, the profile
        <select value=${params.beside ?? ""} onChange=${(/** @type {any} */ event) => set({ beside: event.currentTarget.value || null }, true)}>
          <option value="">none</option>${profiles.map((/** @type {string} */ name) => html`<option value=${name} selected=${name === params.beside}>${name}</option>`)}
        </select></label>`}
      <span class="row">${offers("put_records") && html`<${Judged} />`}<${CopyRequest} operation="recall" values=${request} /></span>
    </div>
  </div>`;
}

/** Why a memory is not among the hits. @param {{values: Record<string, any>}} props */
function WhyNot({ values }) {
  const [text, setText] = useState("");
  const [chosen, choose] = useState(/** @type {any} */ (null));
  const near = useAnswer(text.trim() ? "recall" : null, { query: text.trim(), precision: "wide", limit: 6 });
  const { limit: _, ...asked } = values;
  const told = useAnswer(chosen ? "why_not" : null, { memory: chosen?.id ?? "", ...asked });
  return html`<details class="panel"><summary>Why not another memory?</summary>
    <label class="field">The memory that you expected, by some of its words
      <input type="search" value=${text} onInput=${(/** @type {any} */ event) => { setText(event.currentTarget.value); choose(null); }} /></label>
    ${!chosen && near.answer && html`<ul class="plain">${near.answer.hits.map((/** @type {any} */ hit) => html`<li>
      <button class="quiet" onClick=${() => choose(hit)}><${PlainText} value=${hit.text} /></button></li>`)}</ul>`}
    ${chosen && html`<p><${Text} value=${chosen.text} short=${true} /></p>`}
    ${told.problem && html`<${Failure} problem=${told.problem} />`}
    ${chosen && told.answer && (told.answer.returned
      ? html`<p>It is among the hits.</p>`
      : html`<dl class="facts"><dt>Dropped by</dt><dd><code>${told.answer.stage}</code></dd><dt>Because</dt><dd>${told.answer.reason}</dd>
          ${told.answer.remedy && html`<${Fragment}><dt>What would keep it</dt><dd>${told.answer.remedy}</dd></${Fragment}>`}</dl>`)}
  </details>`;
}

/** Judged questions as the file that `simonides tune` reads. */
function Judged() {
  const [open, setOpen] = useState(false);
  const found = useAnswer(open ? "list_records" : null, { space: JUDGED, limit: 1000 });
  /** @type {Map<string, string[]>} */
  const right = new Map();
  for (const each of found.answer?.records ?? []) {
    if (each.value?.right) right.set(each.value.query, [...(right.get(each.value.query) ?? []), each.path[1]]);
  }
  const lines = [...right].map(([query, relevant]) => JSON.stringify({ query, relevant }));
  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "application/x-ndjson" }));
    link.download = "judged.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  return html`<${Fragment}><button class="quiet" onClick=${() => setOpen(true)}>Judged questions</button>
    ${open && html`<${Dialog} title="Judged questions" close=${() => setOpen(false)}>
      <p>Marks ✓ and ✗ beside the hits are kept here. With some dozens of them, <code>simonides tune judged.jsonl</code> looks for numbers
        that serve you better, and takes them only if they help on questions held back.</p>
      <${Loaded} of=${found}>${() => html`<p>${lines.length} ${lines.length === 1 ? "question" : "questions"} with a right memory.</p>
        <button class="main" disabled=${!lines.length} onClick=${download}>Download judged.jsonl</button>`}</${Loaded}>
    </${Dialog}>`}</${Fragment}>`;
}

/** An empty bank: the first memory, here and now. */
export function FirstSteps() {
  const [text, setText] = useState("");
  /** @param {Event} event */
  const keep = async (event) => {
    event.preventDefault();
    const bank = route.value.bank;
    const kept = await change(
      () => call("retain", bank, { items: [{ text }] }), "Remembered. Now ask for it.",
      can("forget") ? (answer) => call("forget", bank, { ids: answer.ids }) : null);
    if (kept) setText("");
  };
  return html`<div class="panel stack">
    <h2>This bank is empty.</h2>
    ${can("write") && html`<form class="question" onSubmit=${keep}>
      <input aria-label="A first memory" placeholder="Tell it something: Mara lives in Bergen." value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
      <button class="main" disabled=${!text.trim()}>Remember</button></form>`}
    <p>From a shell:</p><pre>simonides retain "Mara lives in Bergen."</pre>
    <p>From Python:</p><pre>import simonides

with simonides.open() as store:
    store.bank(${JSON.stringify(route.value.bank)}).retain("Mara lives in Bergen.")</pre>
    <p class="quiet">An agent: <code>simonides install claude-code</code> (or cursor, codex, …) lets it remember by itself.</p>
  </div>`;
}
