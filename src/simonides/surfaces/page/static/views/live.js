// What agents write and what they are given, as it happens: the newest first, with the exact text.

import { call } from "../lib/api.js";
import { useKeys } from "../lib/keys.js";
import { address, changes, offers, route, session, set } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { Busy, Empty, Failure, Fragment, html, useEffect, useRef, useState } from "../lib/ui.js";

const EVERY = 1_500;
const LONGEST_WAIT = 30_000;
const AT_ONCE = 100;
/** Events that the page holds; older ones are taken away. */
const HELD = 500;

/** @type {Record<string, [string, string, string]>} word, class of its mark, meaning */
const WHAT = {
  stored: ["Stored", "match", "a memory that was not there before"],
  changed: ["Changed", "weak", "a new version of a memory"],
  ended: ["Ended", "none", "a memory that is not true any more; its history stays"],
  archived: ["Archived", "", "a memory that is found only when asked for archived ones"],
  forgotten: ["Forgotten", "none", "memories that were deleted for ever"],
  recalled: ["Recalled", "asked", "a question, and what the agent was given"],
  briefed: ["Briefed", "asked", "what an agent was given at the start of a session"],
};
/** Each filter with what it shows. @type {[string, string[]][]} */
const FILTERS = [
  ["stored", ["stored"]], ["changed", ["changed"]], ["ended", ["ended", "archived"]], ["forgotten", ["forgotten"]],
  ["recalled", ["recalled", "briefed"]],
];

/** @typedef {{number: number, at: string | null, what: string, memory: any, ids: string[], query: string, context: string,
 *   band: string, confidence: number | null, profile: string, by: string | null}} Event */

/**
 * The events so far, the newest first, asked again as long as the page is seen and not paused.
 * @param {boolean} paused
 * @returns {{events: Event[] | null, problem: any, wait: number, again: () => void}} *wait* = seconds until the next try
 */
function useActivity(paused) {
  const [events, setEvents] = useState(/** @type {Event[] | null} */ (null));
  const [trouble, setTrouble] = useState(/** @type {{problem: any, wait: number}} */ ({ problem: null, wait: 0 }));
  const [seen, setSeen] = useState(!document.hidden);
  const [turn, setTurn] = useState(0);
  const after = useRef(/** @type {string | null} */ (null));
  const counted = useRef(0);
  const bank = route.value.bank;
  useEffect(() => {
    const look = () => setSeen(!document.hidden);
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  useEffect(() => {
    if (paused || !seen) return undefined;
    const stop = new AbortController();
    let timer = 0, failures = 0;
    const ask = async () => {
      let wait = EVERY;
      try {
        let answer = await call("activity", bank, { after: after.current ?? undefined, most: AT_ONCE }, stop.signal);
        counted.current += answer.events.length;
        // No word of what was forgotten stays here: what was shown is read again.
        const forgot = answer.events.some((/** @type {any} */ each) => each.what === "forgotten"), anew = forgot || after.current === null;
        if (forgot && after.current !== null) answer = await call("activity", bank, { most: AT_ONCE }, stop.signal);
        after.current = answer.next;
        failures = 0;
        setTrouble((was) => (was.problem ? { problem: null, wait: 0 } : was));
        const fresh = answer.events.reverse().map((/** @type {any} */ each, /** @type {number} */ place) => ({ ...each, number: counted.current - place }));
        setEvents((was) => (anew ? fresh : was && !fresh.length ? was : [...fresh, ...(was ?? [])].slice(0, HELD)));
        if (answer.events.length === AT_ONCE) wait = 0;
      } catch (error) {
        const problem = /** @type {any} */ (error);
        if (stop.signal.aborted) return;
        if (problem.status === 401) session.value = null;
        // A cursor of another state of the bank, such as before a restore: begin with the newest events.
        if (problem.status >= 400 && problem.status < 500 && after.current && ![401, 403, 429].includes(problem.status)) after.current = null;
        wait = problem.retryAfter * 1_000 || Math.min(LONGEST_WAIT, EVERY * 2 ** ++failures);
        setTrouble({ problem, wait: Math.ceil(wait / 1_000) });
      }
      timer = setTimeout(ask, wait);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [bank, paused, seen, turn, changes.value]);
  return { events, ...trouble, again: () => setTurn(turn + 1) };
}

/** @param {{params: Record<string, string>}} props */
export function Live({ params }) {
  if (!offers("activity")) {
    return html`<${Empty} title="This server does not tell what happens.">It is older than this page, or your token does not allow it.</${Empty}>`;
  }
  return html`<${Watched} params=${params} />`;
}

/** @param {{params: Record<string, string>}} props */
function Watched({ params }) {
  const paused = params.paused === "yes";
  const { events, problem, wait, again } = useActivity(paused);
  const chosen = new Set((params.what ?? "").split(",").filter(Boolean));
  const kinds = new Set(FILTERS.filter(([name]) => chosen.has(name)).flatMap(([, kinds]) => kinds));
  const passing = (events ?? []).filter((each) => !kinds.size || kinds.has(each.what));
  const scrolled = useScrolled();
  const [shownTo, showTo] = useState(0);
  const newest = events?.[0]?.number ?? 0;
  useEffect(() => {
    if (!scrolled) showTo(newest);
  }, [scrolled, newest]);
  const shown = scrolled ? passing.filter((each) => each.number <= shownTo) : passing;
  const waiting = passing.length - shown.length;
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  const toTop = () => {
    showTo(newest);
    scrollTo({ top: 0 });
  };
  const rows = () => /** @type {HTMLElement[]} */ ([...(list.current?.children ?? [])]);
  const focused = () => rows().findIndex((row) => row.contains(document.activeElement));
  /** @param {number} step */
  const move = (step) => rows()[focused() < 0 ? 0 : Math.max(0, Math.min(rows().length - 1, focused() + step))]?.focus();
  const open = () => /** @type {HTMLElement | null | undefined} */ (rows()[focused()]?.querySelector("summary, a"))?.click();
  // The keys may come faster than the page is drawn.
  const pause = () => set({ paused: route.value.params.paused === "yes" ? null : "yes" }, true);
  useKeys({
    j: { does: "Next event", run: () => move(1) },
    k: { does: "Event before", run: () => move(-1) },
    Enter: { does: "Open the event", run: open },
    p: { does: "Pause or go on", run: pause },
    n: { does: "Show what is new", run: toTop },
  });
  /** @param {string} name */
  const toggle = (name) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    set({ what: [...next].join(",") || null }, true);
  };
  return html`<div class="stack live">
    <div class="row apart">
      <h1>Live</h1>
      <div class="row">
        <${State} paused=${paused} problem=${problem} wait=${wait} />
        <button onClick=${pause} aria-pressed=${paused}>${paused ? "Go on" : "Pause"}</button>
      </div>
    </div>
    <div class="row choices" role="group" aria-label="Show only">
      <button aria-pressed=${!chosen.size} onClick=${() => set({ what: null }, true)}>Everything</button>
      ${FILTERS.map(([name]) => html`<button key=${name} aria-pressed=${chosen.has(name)} title=${WHAT[name][2]} onClick=${() => toggle(name)}>${WHAT[name][0]}</button>`)}
    </div>
    <${Counts} events=${events ?? []} />
    ${waiting > 0 && html`<button class="main newer" onClick=${toTop}>${waiting} new</button>`}
    ${problem && !events ? html`<${Failure} problem=${problem} again=${again} />`
    : events === null ? (paused ? html`<${Empty} title="Paused.">Go on to see what happens.</${Empty}>` : html`<${Busy} />`)
    : passing.length === 0 ? html`<${Empty} title=${events.length ? "Nothing of this kind yet." : "Nothing has happened yet."}>
        This page shows each memory that an agent stores, and each question with the exact text it was given.</${Empty}>`
    : html`<ol class="events" ref=${list}>${shown.map((each) => html`<${Row} key=${each.number} event=${each} />`)}</ol>`}
    ${events?.length === HELD && html`<p class="quiet">Older events are not shown here. Every memory stands under <a href=${address("memories")}>Memories</a>.</p>`}
  </div>`;
}

/** Whether the top of the view is out of sight. */
function useScrolled() {
  const [scrolled, setScrolled] = useState(false);
  useEffect(() => {
    const look = () => setScrolled(scrollY > 240);
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  return scrolled;
}

/** @param {{paused: boolean, problem: any, wait: number}} props */
function State({ paused, problem, wait }) {
  if (paused) return html`<span class="quiet">Paused</span>`;
  if (!problem) return html`<span class="quiet"><span class="pulse" aria-hidden="true"></span> Listening</span>`;
  const busy = problem.status === 429 || problem.status === 503;
  return html`<span class="wrong" title=${problem.message}>${busy ? "The server is busy" : problem.message}; asked again in ${wait} s</span>`;
}

/** Tells how many events came, and not what they say. @param {{events: Event[]}} props */
function Counts({ events }) {
  const [told, tell] = useState("");
  const before = useRef(/** @type {number | null} */ (null));
  const newest = events[0]?.number ?? 0;
  useEffect(() => {
    if (before.current !== null && newest > before.current) {
      const fresh = events.filter((each) => each.number > /** @type {number} */ (before.current));
      const counts = Map.groupBy(fresh, (each) => each.what);
      tell(`${fresh.length} new: ${[...counts].map(([what, each]) => `${each.length} ${what}`).join(", ")}`);
    }
    if (newest) before.current = newest;
  }, [newest]);
  return html`<p class="unseen" role="status" aria-live="polite">${told}</p>`;
}

/** @param {{event: Event}} props */
function Row({ event }) {
  const [word, tone, meaning] = WHAT[event.what] ?? [event.what, "", ""];
  const given = event.what === "recalled" || event.what === "briefed";
  return html`<li tabindex="-1">
    <div class="event-head">
      <span class=${`mark ${tone}`} title=${meaning}>${word}</span>
      <span class="quiet"><${Clock} value=${event.at} /></span>
      ${event.by && html`<span class="quiet">by <${Text} value=${event.by} short=${true} /></span>`}
    </div>
    <div class="event-body">${
      given ? html`<${Given} event=${event} />`
      : event.memory ? html`<${Written} memory=${event.memory} what=${event.what} />`
      : html`<span class="quiet">What was forgotten is not told.</span>`}
    </div>
  </li>`;
}

/** The time of day of what happened today, else the date too. @param {{value: string | null}} props */
function Clock({ value }) {
  if (!value) return html`<span>at an unknown time</span>`;
  const moment = new Date(value);
  if (moment.toDateString() !== new Date().toDateString()) return html`<${Time} value=${value} />`;
  return html`<time datetime=${value} title=${value}>${moment.toLocaleTimeString()}</time>`;
}

/** @param {{memory: any, what: string}} props */
function Written({ memory, what }) {
  return html`<${Fragment}>
    <p><${Text} value=${memory.text} /></p>
    <p class="row quiet small">
      <a href=${address("memory", { id: memory.id })}>${what === "stored" ? "Open it" : "Open it with its history"}</a>
      <span>${memory.kind}</span>
      ${memory.speaker && html`<span>said by <${Text} value=${memory.speaker} short=${true} /></span>`}
      ${memory.project && html`<span>project <${Text} value=${memory.project} short=${true} /></span>`}
      ${memory.version > 1 && html`<span>version ${memory.version}</span>`}
      ${memory.valid_to && html`<span>true until <${Time} value=${memory.valid_to} /></span>`}
      ${memory.superseded_by && html`<a href=${address("memory", { id: memory.superseded_by })}>Replaced by</a>`}
    </p>
  </${Fragment}>`;
}

/** @param {{event: Event}} props */
function Given({ event }) {
  return html`<${Fragment}>
    <p>${event.query ? html`<q><${Text} value=${event.query} /></q>` : html`<span class="quiet">What was asked is not kept.</span>`}</p>
    <p class="row small"><${Band} band=${event.band} confidence=${event.confidence} />
      ${event.profile && event.profile !== "default" && html`<span class="quiet">profile <${Text} value=${event.profile} short=${true} /></span>`}</p>
    ${event.context
      ? html`<details><summary>The exact text that the agent was given</summary><pre tabindex="0"><${Text} value=${event.context} /></pre></details>`
      : html`<p class="quiet small">${event.band === "none" ? "The agent was given nothing." : "What the agent was given is not kept."}</p>`}
    ${event.ids.length > 0 && html`<${Held} ids=${event.ids} />`}
  </${Fragment}>`;
}

/**
 * The texts of memories by id, read one after the other.
 * @param {string[]} ids
 * @returns {Record<string, string>}
 */
export function useTexts(ids) {
  const [texts, setTexts] = useState(/** @type {Record<string, string>} */ ({}));
  const bank = route.value.bank;
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      for (const id of ids) {
        if (id in texts) continue;
        const answer = await call("get_memory", bank, { memory: id }, stop.signal).catch(() => null);
        if (stop.signal.aborted) return;
        if (answer?.memory) setTexts((was) => ({ ...was, [id]: answer.memory.text }));
      }
    };
    void read();
    return () => stop.abort();
  }, [bank, ids.join()]);
  return texts;
}

/** The memories that were given, read one after the other when somebody looks. @param {{ids: string[]}} props */
function Held({ ids }) {
  const [open, setOpen] = useState(false);
  const texts = useTexts(open ? ids : []);
  return html`<details onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>${ids.length} ${ids.length === 1 ? "memory" : "memories"}</summary>
    <ul class="given">${ids.map((id) => html`<li key=${id}><${MemoryLink} id=${id} text=${texts[id]} /></li>`)}</ul></details>`;
}

/** A link to a memory: its text where that is known, else its id. @param {{id: string, text?: string}} props */
export function MemoryLink({ id, text }) {
  return html`<a href=${address("memory", { id })}>${
    text === undefined ? html`<code>${id}</code>` : html`<${Text} value=${text} short=${true} inert=${true} />`}</a>`;
}

/** @type {Record<string, [string, string]>} */
const BANDS = {
  match: ["Answered", "something very likely answers the question"],
  weak: ["Possibly", "something may answer; the agent is told so"],
  none: ["Nothing known", "nothing answers; the agent is given nothing"],
};

/** How sure the engine is that something answers. @param {{band: string, confidence: number | null}} props */
export function Band({ band, confidence }) {
  const [word, meaning] = BANDS[band] ?? ["", ""];
  return html`<${Fragment}>
    ${word && html`<span class=${`mark ${band}`} title=${`${meaning} (band: ${band})`}>${word}</span>`}
    ${confidence !== null && confidence !== undefined && html`<span class="quiet" title="how probably anything here answers (confidence)">${Math.round(confidence * 100)} % sure</span>`}
  </${Fragment}>`;
}
