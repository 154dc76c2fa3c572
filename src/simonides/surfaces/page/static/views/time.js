// What the bank holds at a moment, by both times: when something was true, and what was known of it; and what
// changed between two moments.

import { call } from "../lib/api.js";
import { wordDifference } from "../lib/difference.js";
import { useKeys } from "../lib/keys.js";
import { address, changes, offers, route, session, set } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { CopyRequest, Empty, Fragment, Loaded, Relevance, html, useAnswer, useEffect, useLayoutEffect, useMemo, useRef, useState, useTyped } from "../lib/ui.js";
import { Band } from "./live.js";

const DAY = 86_400_000;
const PAGE = 100;
/** Pages of a thousand memories that are read to count months where the server counts none. */
const PAGES = 5;
/** A moment after everything that was stored until now: what is known now. */
const KNOWN_NOW = "2100-01-01";

/** @typedef {{answer: any, problem: any, busy: boolean, again: () => void}} Answered */

// -- the moments of a bank

/**
 * The first and the last moment of the bank, and how many memories are from each month.
 * @returns {{first: Date, last: Date, months: {month: string, count: number}[], busy: boolean}}
 */
export function useSpan() {
  const counted = useAnswer(offers("facets") ? "facets" : null, {});
  const read = useMonths(!offers("facets"));
  return useMemo(() => {
    const found = offers("facets") ? (counted.answer?.facets.month ?? []).map((/** @type {any} */ each) => ({ month: each.value, count: each.count })) : read.months;
    const months = [...found].sort((one, other) => (one.month < other.month ? -1 : 1));
    const now = new Date();
    const first = months.length ? startOf(months[0].month) : new Date(now.getTime() - 365 * DAY);
    const newest = months.length ? months[months.length - 1].month : "";
    return { first, last: newest && startOf(newest) > now ? startOf(newest, 1) : now, months, busy: offers("facets") ? counted.busy : read.busy };
  }, [counted.answer, counted.busy, read]);
}

/** The months of the memories themselves. @param {boolean} wanted */
function useMonths(wanted) {
  const [state, setState] = useState({ months: /** @type {{month: string, count: number}[]} */ ([]), busy: wanted });
  const bank = route.value.bank;
  useEffect(() => {
    if (!wanted) return undefined;
    const stop = new AbortController();
    const read = async () => {
      /** @type {Map<string, number>} */
      const counts = new Map();
      let cursor;
      for (let page = 0; page < PAGES && cursor !== null; page++) {
        /** @type {any} */
        const answer = await call("list_memories", bank, { limit: 1_000, cursor }, stop.signal);
        for (const memory of answer.memories) {
          const month = (memory.event_time ?? memory.ingested_at).slice(0, 7);
          counts.set(month, (counts.get(month) ?? 0) + 1);
        }
        cursor = answer.next;
      }
      setState({ months: [...counts].map(([month, count]) => ({ month, count })), busy: false });
    };
    read().catch(() => setState((was) => ({ ...was, busy: false })));
    return () => stop.abort();
  }, [bank, wanted, changes.value]);
  return state;
}

/** The first moment of a month, or of a later one. @param {string} month such as 2026-03 @param {number} [later] */
function startOf(month, later = 0) {
  const [year, number] = month.split("-").map(Number);
  const moment = new Date(2000, 0, 1);
  moment.setFullYear(year, number - 1 + later, 1);
  return moment;
}

/** As the value of a field of type datetime-local. @param {Date} moment */
function asField(moment) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${String(moment.getFullYear()).padStart(4, "0")}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}T${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** A moment of the address; null = none, or no moment. @param {string | undefined} value */
function momentOf(value) {
  const moment = new Date(value ?? "");
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** @param {Date} moment */
function asDay(moment) {
  return moment.toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

// -- choosing a moment

/**
 * A moment, by a slider over days or exactly by a field; null = now.
 * @param {{label: string, value: string | null, span: {first: Date, last: Date}, choose: (value: string | null) => void,
 *   hint?: string, none?: string}} props *none* = what the button says that takes the moment away; empty = no button
 */
export function Moment({ label, value, span, choose, hint, none = "Now" }) {
  const chosen = momentOf(value ?? undefined);
  const [dragged, setDragged] = useState(/** @type {number | null} */ (null));
  const timer = useRef(0);
  useLayoutEffect(() => setDragged(null), [value]);
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  const first = startOfDay(chosen && chosen < span.first ? chosen : span.first);
  const today = startOfDay(new Date());
  const last = startOfDay(chosen && chosen > span.last ? chosen : span.last);
  const days = (/** @type {Date} */ moment) => Math.round((startOfDay(moment).getTime() - first.getTime()) / DAY);
  const place = dragged ?? days(chosen ?? today);
  const momentAt = (/** @type {number} */ place) => new Date(first.getFullYear(), first.getMonth(), first.getDate() + place);
  const shown = dragged === null ? chosen : days(today) === dragged ? null : momentAt(dragged);
  /** @param {any} event */
  const drag = (event) => {
    const next = Number(event.currentTarget.value);
    setDragged(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => choose(next === days(today) ? null : momentAt(next).toISOString()), 160);
  };
  /** @param {any} event */
  const write = (event) => {
    if (!event.currentTarget.value) choose(null);
    else if (momentOf(event.currentTarget.value)) choose(new Date(event.currentTarget.value).toISOString());
  };
  return html`<div class="moment">
    <div class="row apart">
      <span class="moment-label" title=${hint}>${label}</span>
      <span class="row">
        <input type="datetime-local" aria-label=${`${label}, exactly`} value=${shown ? asField(shown) : ""} onChange=${write} />
        ${none && html`<button disabled=${!value} onClick=${() => choose(null)}>${none}</button>`}
      </span>
    </div>
    <input type="range" min="0" max=${days(last)} step="1" value=${place} aria-label=${label} onInput=${drag}
      aria-valuetext=${shown ? asDay(shown) : "now"} />
  </div>`;
}

/** @param {Date} moment */
function startOfDay(moment) {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate());
}

/**
 * How many memories are from each month, above a slider over the same time; the moments that are chosen are lines.
 * @param {{span: {first: Date, last: Date, months: {month: string, count: number}[]}, from?: Date | null, to: Date,
 *   choose: (value: string) => void}} props
 */
function Histogram({ span, from = null, to, choose }) {
  if (!span.months.length) return null;
  const first = startOfDay(span.first).getTime(), length = Math.max(DAY, startOfDay(span.last).getTime() - first);
  const x = (/** @type {Date} */ moment) => Math.max(0, Math.min(1_000, ((moment.getTime() - first) / length) * 1_000));
  const most = Math.max(...span.months.map((each) => each.count));
  const peak = span.months.find((each) => each.count === most);
  const years = [];
  for (let year = span.first.getFullYear() + (span.first.getMonth() ? 1 : 0); year <= span.last.getFullYear(); year++) years.push(year);
  const step = Math.ceil(years.length / 12);
  /** @param {MouseEvent} event */
  const click = (event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    choose(startOfDay(new Date(first + ((event.clientX - box.left) / box.width) * length)).toISOString());
  };
  return html`<div class="histogram">
    <svg viewBox="0 0 1000 72" preserveAspectRatio="none" role="img" onClick=${click}
      aria-label=${`Memories by month, from ${asDay(span.first)} to ${asDay(span.last)}; the most, ${most}, in ${peak?.month}`}>
      ${span.months.map(({ month, count }) => {
        const start = x(startOf(month)), end = x(startOf(month, 1)), height = Math.max(2, (count / most) * 70);
        const inside = startOf(month) <= to && (!from || startOf(month, 1) > from);
        return html`<rect key=${month} class=${inside ? "in" : "out"} x=${start + 1} width=${Math.max(1, end - start - 2)} y=${72 - height} height=${height}>
          <title>${startOf(month).toLocaleDateString(undefined, { month: "long", year: "numeric" })}: ${count}</title></rect>`;
      })}
      ${[from, to].map((moment) => moment && html`<line class="at" x1=${x(moment)} x2=${x(moment)} y1="0" y2="72" vector-effect="non-scaling-stroke" />`)}
    </svg>
    <div class="years" aria-hidden="true">${years.filter((_, place) => place % step === 0).map((year) =>
      html`<span key=${year} style=${{ left: `${x(new Date(year, 0, 1)) / 10}%` }}>${year}</span>`)}</div>
  </div>`;
}

// -- the view

/** @param {{params: Record<string, string>}} props */
export function TimeView({ params }) {
  const span = useSpan();
  const between = params.show === "between";
  return html`<div class="stack time">
    <div class="row apart">
      <h1>Time</h1>
      <div class="row choices" role="group" aria-label="What to show">
        <button aria-pressed=${!between} onClick=${() => set({ show: null })}>At one moment</button>
        <button aria-pressed=${between} onClick=${() => set({ show: "between" })}>Between two moments</button>
      </div>
    </div>
    ${between ? html`<${Between} params=${params} span=${span} />` : html`<${AtMoment} params=${params} span=${span} />`}
  </div>`;
}

/**
 * The answers of several operations, asked one after the other; a new set of questions ends the older one.
 * @param {({operation: string, values: Record<string, any>} | null)[]} asked
 * @returns {Answered[]}
 */
function useInTurn(asked) {
  const [states, setStates] = useState(/** @type {{answer: any, problem: any, busy: boolean}[]} */ (asked.map(() => ({ answer: null, problem: null, busy: true }))));
  const [turn, setTurn] = useState(0);
  const bank = route.value.bank;
  useEffect(() => {
    const stop = new AbortController();
    setStates((was) => was.map((each) => ({ ...each, busy: true })));
    /** @param {number} place @param {{answer: any, problem: any, busy: boolean}} state */
    const put = (place, state) => setStates((was) => was.map((each, number) => (number === place ? state : each)));
    const ask = async () => {
      for (const [place, each] of asked.entries()) {
        try {
          put(place, { answer: each && (await call(each.operation, bank, each.values, stop.signal)), problem: null, busy: false });
        } catch (problem) {
          if (stop.signal.aborted) return;
          if (/** @type {any} */ (problem).status === 401) session.value = null;
          put(place, { answer: null, problem, busy: false });
        }
      }
    };
    void ask();
    return () => stop.abort();
  }, [JSON.stringify([asked, bank, turn, changes.value])]);
  return states.map((each) => ({ ...each, again: () => setTurn(turn + 1) }));
}

/** @param {{params: Record<string, string>, span: any}} props */
function AtMoment({ params, span }) {
  const asOf = params.as_of ?? null;
  const known = params.known ?? "then";
  const knownAt = known === "then" ? undefined : known === "now" ? KNOWN_NOW : known;
  const limit = Math.max(1, Math.min(1_000, Math.floor(Number(params.most)))) || PAGE;
  const moments = { as_of: asOf ?? undefined, known_at: knownAt };
  const newest = session.value?.operations.list_memories.schema.properties?.newest !== undefined;
  const list = { ...moments, limit, newest: newest || undefined };
  const question = params.q ? { query: params.q, ...moments } : null;
  const [listed, answered] = useInTurn([{ operation: "list_memories", values: list }, question && { operation: "recall", values: question }]);
  const [typed, setTyped] = useTyped(params.q ?? "");
  const moment = momentOf(asOf ?? undefined) ?? new Date();
  /** @param {number} months */
  const step = (months) => {
    const next = new Date(moment);
    next.setMonth(next.getMonth() + months);
    set({ as_of: months > 0 && next.getTime() > Date.now() ? null : next.toISOString() }, true);
  };
  useKeys({
    "[": { does: "A month earlier", run: () => step(-1) },
    "]": { does: "A month later", run: () => step(1) },
  });
  /** @param {Event} event */
  const ask = (event) => {
    event.preventDefault();
    set({ q: typed.trim() || null });
  };
  return html`<${Fragment}>
    <div class="panel stack">
      <div>
        <${Histogram} span=${span} to=${moment} choose=${(/** @type {string} */ value) => set({ as_of: value }, true)} />
        <${Moment} label="True at" value=${asOf} span=${span} hint="when it was true (as_of)"
          choose=${(/** @type {string | null} */ value) => set({ as_of: value, most: null }, true)} />
      </div>
      <${Known} known=${known} span=${span} />
      <form class="row" onSubmit=${ask} role="search">
        <input class="grow" data-question type="search" aria-label="A question, asked at this moment" placeholder="Ask at this moment" autocomplete="off"
          value=${typed} onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} />
        <button>Ask</button>
      </form>
    </div>
    ${params.q && html`<section class="stack"><h2>The answer at this moment</h2>
      <${Loaded} of=${answered}>${(/** @type {any} */ answer) => html`<${Answer} answer=${answer} />`}</${Loaded}></section>`}
    <section class="stack">
      <${Loaded} of=${listed}>${(/** @type {any} */ answer) => html`<${Fragment}>
        <h2>${answer.next ? `The first ${answer.memories.length}` : answer.memories.length} ${answer.memories.length === 1 && !answer.next ? "memory" : "memories"} ${
          asOf ? `true on ${asDay(moment)}` : "true now"}${known === "then" ? (asOf ? ", as known then" : "") : known === "now" ? ", as known now" : `, as known on ${asDay(momentOf(known) ?? moment)}`}</h2>
        ${answer.memories.length === 0
          ? html`<${Empty} title="Nothing was true here then.">${known === "then" && asOf ? "Or nothing of it was known yet: choose “what is known now”." : "Choose a later moment."}</${Empty}>`
          : html`<${MemoryTable} memories=${[...answer.memories].sort(lastLearned)} />`}
        ${answer.next && limit < 1_000 && html`<div><button onClick=${() => set({ most: Math.min(1_000, limit + 200) }, true)}>Show more</button></div>`}
      </${Fragment}>`}</${Loaded}>
    </section>
    <${CopyRequest} operation=${question ? "recall" : "list_memories"} values=${question ?? list} />
  </${Fragment}>`;
}

/** The one that was learned last first. @param {any} one @param {any} other */
function lastLearned(one, other) {
  return one.ingested_at > other.ingested_at ? -1 : one.ingested_at < other.ingested_at ? 1 : one.id < other.id ? -1 : 1;
}

/** What of the past may be used: what was known then, what is known now, or at another moment. @param {{known: string, span: any}} props */
function Known({ known, span }) {
  const exact = known !== "then" && known !== "now";
  const today = span.last > new Date() ? { ...span, last: new Date() } : span;
  /** @type {[string, string, string | null][]} */
  const all = [
    ["then", "what was known then", null],
    ["now", "what is known now", "now"],
    ["exact", "what was known on another day", exact ? known : new Date(Date.now() - 90 * DAY).toISOString()],
  ];
  return html`<fieldset class="known" title="which of the stored memories may be used, by when they were stored (known_at)">
    <legend>Use</legend>
    ${all.map(([name, label, value]) => html`<label><input type="radio" name="known" value=${name} checked=${name === (exact ? "exact" : known)}
      onChange=${() => set({ known: value }, true)} /> ${label}</label>`)}
    ${exact && html`<${Moment} label="Known by" value=${known} span=${today} hint="until when it was stored (known_at)" none="As known now"
      choose=${(/** @type {string | null} */ value) => set({ known: value ?? "now" }, true)} />`}
  </fieldset>`;
}

/** @param {{answer: any}} props */
function Answer({ answer }) {
  const told = answer.hits.slice(0, answer.told);
  return html`<div class="panel stack answer">
    <p class="row"><${Band} band=${answer.band} confidence=${answer.confidence} />
      ${answer.no_match_reasons.map((/** @type {string} */ reason) => html`<span class="quiet">${reason}</span>`)}</p>
    ${told.length > 0 && html`<ol class="found">${told.map((/** @type {any} */ hit) => html`<li key=${hit.id}>
      <a href=${address("memory", { id: hit.id })}><${Text} value=${hit.text} short=${true} inert=${true} /></a>
      <span class="quiet"> <${Time} value=${hit.memory.event_time ?? hit.memory.valid_from} precision="day" none="" /></span>
      <${Relevance} value=${hit.relevance} /></li>`)}</ol>`}
    ${answer.context && html`<details><summary>The context that an agent is given</summary><pre tabindex="0"><${Text} value=${answer.context} /></pre></details>`}
  </div>`;
}

/**
 * Memories with both their times.
 * @param {{memories: any[]}} props
 */
export function MemoryTable({ memories }) {
  return html`<table class="memories">
    <thead><tr><th>Memory</th><th title="when it is true">True</th><th title="when it was stored">Learned on</th></tr></thead>
    <tbody>${memories.map((memory) => html`<tr key=${memory.id}>
      <td><a href=${address("memory", { id: memory.id })}><${Text} value=${memory.text} short=${true} inert=${true} /></a>
        ${memory.expired_at && html` <span class="mark weak" title="what is stored of it was changed or ended after this moment">changed later</span>`}</td>
      <td><${Truth} memory=${memory} /></td>
      <td data-label="Learned on "><${Time} value=${memory.ingested_at} precision="date" /></td>
    </tr>`)}</tbody>
  </table>`;
}

/** From when until when a memory is true. @param {{memory: any}} props */
function Truth({ memory }) {
  if (memory.valid_to) return html`<${Time} value=${memory.valid_from} precision="date" none="always" /> – <${Time} value=${memory.valid_to} precision="date" />`;
  return html`since <${Time} value=${memory.valid_from} precision="date" none="ever" />`;
}

// -- between two moments

/** @param {{params: Record<string, string>, span: any}} props */
function Between({ params, span }) {
  const later = momentOf(params.to);
  const end = later ?? new Date();
  const quarter = startOfDay(new Date(end.getTime() - Math.max(DAY, (end.getTime() - span.first.getTime()) / 4)));
  const earlier = momentOf(params.from) ?? quarter;
  const wrong = earlier >= end;
  const values = { earlier: earlier.toISOString(), later: later?.toISOString() };
  const asks = !wrong && !(span.busy && !params.from);
  // The steps first, which say what belongs together.
  const [moved, compared] = useInTurn([
    asks && offers("moves") ? { operation: "moves", values: {} } : null, asks ? { operation: "diff", values } : null]);
  return html`<${Fragment}>
    <div class="panel stack">
      <div>
        <${Histogram} span=${span} from=${earlier} to=${end} choose=${(/** @type {string} */ value) => {
          const at = new Date(value).getTime();
          set(Math.abs(at - earlier.getTime()) <= Math.abs(at - end.getTime()) ? { from: value } : { to: value }, true);
        }} />
        <${Moment} label="From" value=${earlier.toISOString()} span=${span} none="" choose=${(/** @type {string | null} */ value) => set({ from: value ?? new Date().toISOString() }, true)} />
        <${Moment} label="To" value=${params.to ?? null} span=${span} choose=${(/** @type {string | null} */ value) => set({ to: value }, true)} />
      </div>
      ${wrong && html`<p class="wrong" role="alert">The first moment is not before the second.
        <button onClick=${() => set({ from: end.toISOString(), to: earlier.toISOString() }, true)}>Change them round</button></p>`}
    </div>
    ${!wrong && html`<${Loaded} of=${compared}>${(/** @type {any} */ answer) => html`<${Difference} answer=${answer} moves=${moved.answer?.moves ?? []} earlier=${earlier} later=${end} />`}</${Loaded}>`}
    <${CopyRequest} operation="diff" values=${values} />
  </${Fragment}>`;
}

/** @param {{answer: any, moves: any[], earlier: Date, later: Date}} props */
function Difference({ answer, moves, earlier, later }) {
  const { replaced, ended, begun } = paired(answer, moves);
  const total = answer.ended.length + answer.begun.length + answer.changed.length;
  if (!total) return html`<${Empty} title="Nothing changed.">Between ${asDay(earlier)} and ${asDay(later)} nothing ended, began or changed.</${Empty}>`;
  return html`<div class="stack">
    <p class="row counts"><${Count} name="changed" count=${answer.changed.length + replaced.length} />
      <${Count} name="ended" count=${ended.length} /><${Count} name="begun" count=${begun.length} />
      ${answer.omitted > 0 && html`<span class="quiet">${answer.omitted} left out</span>`}</p>
    <${Part} name="changed" title="Changed" items=${[...replaced, ...answer.changed]} row=${(/** @type {any} */ each) => html`<li key=${each.after.id}>
      <a class="quiet" href=${address("memory", { id: each.after.id })}>${each.reason === undefined ? "Corrected" : "Replaced"}</a>
      <span class="quiet"> on <${Time} value=${each.after.ingested_at} precision="date" />${each.reason && html`: <${Text} value=${each.reason} short=${true} />`}</span>
      <div>${each.before.text === each.after.text ? html`<${Text} value=${each.after.text} /> <span class="quiet">(${labelsOf(each)})</span>` : wordDifference(each.before.text, each.after.text)}</div>
    </li>`} />
    <${Part} name="ended" title="Ended" items=${ended} row=${(/** @type {any} */ memory) => html`<li key=${memory.id}>
      <a href=${address("memory", { id: memory.id })}><${Text} value=${memory.text} short=${true} inert=${true} /></a>
      <span class="quiet"> ${memory.valid_to ? html`true until <${Time} value=${memory.valid_to} precision="date" />` : memory.expired_at && html`known until <${Time} value=${memory.expired_at} precision="date" />`}</span></li>`} />
    <${Part} name="begun" title="Begun" items=${begun} row=${(/** @type {any} */ memory) => html`<li key=${memory.id}>
      <a href=${address("memory", { id: memory.id })}><${Text} value=${memory.text} short=${true} inert=${true} /></a>
      <span class="quiet"> learned on <${Time} value=${memory.ingested_at} precision="date" /></span></li>`} />
  </div>`;
}

/** How many there are, as a way to them: the address is the page's own. @param {{name: string, count: number}} props */
function Count({ name, count }) {
  if (!count) return html`<span class="quiet">0 ${name}</span>`;
  return html`<button class="quiet" onClick=${() => document.getElementById(name)?.scrollIntoView()}>${count} ${name}</button>`;
}

/** @param {{name: string, title: string, items: any[], row: (each: any) => any}} props */
function Part({ name, title, items, row }) {
  const [most, setMost] = useState(PAGE);
  if (!items.length) return null;
  return html`<section id=${name} class=${`part-${name}`}><h2>${title} <span class="quiet">${items.length}</span></h2>
    <ul class="difference">${items.slice(0, most).map(row)}</ul>
    ${items.length > most && html`<button onClick=${() => setMost(most + 500)}>Show more</button>`}</section>`;
}

/** What differs beside the text. @param {{before: any, after: any}} change */
function labelsOf({ before, after }) {
  const names = Object.keys(after).filter((name) =>
    !["version", "ingested_at", "expired_at", "access_count"].includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return names.length ? names.map((name) => name.replaceAll("_", " ")).join(", ") : "stated again";
}

/**
 * What ended because something else took its place stands beside that, as one change.
 * @param {any} answer of diff
 * @param {any[]} moves
 */
function paired(answer, moves) {
  const next = new Map(moves.filter((move) => move.action === "close" && !move.undone_at).map((move) => [move.memory, move]));
  const begun = new Map(answer.begun.map((/** @type {any} */ each) => [each.id, each]));
  /** @type {{before: any, after: any, reason: string}[]} */
  const replaced = [];
  const ended = answer.ended.filter((/** @type {any} */ before) => {
    let move = next.get(before.id);
    const reason = move?.reason;
    for (let steps = 0; move && !begun.has(move.became) && steps < 1_000; steps++) move = next.get(move.became);
    const after = move && begun.get(move.became);
    if (!after) return true;
    begun.delete(after.id);
    replaced.push({ before, after, reason });
    return false;
  });
  return { replaced, ended, begun: [...begun.values()] };
}
