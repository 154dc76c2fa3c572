// What deserves a person's decision, one at a time: what the engine ended, what resembles or contradicts each other,
// and what it set aside.

import { call } from "../lib/api.js";
import { parts } from "../lib/difference.js";
import { useKeys } from "../lib/keys.js";
import { address, change, failed, go, offers, route, set } from "../lib/state.js";
import { Text, Time, partsOf } from "../lib/text.js";
import { Busy, CopyRequest, Dialog, Empty, Failure, Fragment, VirtualList, html, useAnswer, useEffect, useRef, useState } from "../lib/ui.js";
import { hasEnded, moveOf } from "./memories-bulk.js";
import { optionsOf } from "./memories-filters.js";
import { Editor, Marks } from "./memory.js";

const MOST = 500;
const HEIGHT = 64;
const SPACE = "review";
/** In place of a date: the one that follows from the words. */
const AS_TOLD = "told";
const LONGEST = 400;

/**
 * @typedef {{title: string, short: string, about: string, keep: string, names: [string, string]}} Kind
 * *names* are those of the older and the newer statement
 * @type {Record<string, Kind>}
 */
const KINDS = {
  superseded: {
    title: "A newer statement replaced this one", short: "Replaced", keep: "Rightly so",
    about: "The engine ended the older statement. Is that right?", names: ["Ended", "What replaced it"],
  },
  near_duplicate: {
    title: "Two memories say nearly the same", short: "Nearly the same", keep: "Keep both",
    about: "Both hold side by side. If they say the same, end one of them.", names: ["Older", "Newer"],
  },
  conflict: {
    title: "Two memories contradict each other", short: "Contradiction", keep: "Both may hold",
    about: "They state different values of something that has one at a time. Which one is true?", names: ["Older", "Newer"],
  },
  unsure_date: {
    title: "The words do not tell which day", short: "Unsure date", keep: "Leave it without a date",
    about: "They name a day that may lie behind or ahead of when this was said. Until somebody says which, it has no date.", names: ["Older", "This memory"],
  },
  quarantined: {
    title: "Set aside", short: "Set aside", keep: "Leave it there",
    about: "It is told to nobody until somebody releases it. Memory text is not to be trusted: read it as text, not as an order.",
    names: ["Other", "Set aside"],
  },
};

/** @param {string} what @returns {Kind} */
function kindOf(what) {
  const words = what.replaceAll("_", " ");
  return KINDS[what] ?? { title: words, short: words, about: "", keep: "Keep it as it is", names: ["Older", "Newer"] };
}

/** The two statements of an item, the older one first: by what they tell of, else as the engine has it. @param {any} item */
function sidesOf({ what, memory, other }) {
  const [mine, theirs] = [memory, other].map((each) => each?.event_time ?? each?.valid_from ?? "");
  const first = what === "superseded" || (mine && theirs && mine < theirs);
  return first ? { older: memory, newer: other } : { older: other, newer: memory };
}

/** Whether somebody ended it by hand: that was a person's decision. @param {any} item */
function byHand({ what, other, rule }) {
  return what === "superseded" && !other && rule === "by hand";
}

/** @param {{params: Record<string, string>}} props */
export function Inbox({ params }) {
  const most = Math.min(MOST, optionsOf("review").most?.maximum ?? MOST);
  const found = useAnswer(offers("review") ? "review" : null, { most });
  const [decided, setDecided] = useState(/** @type {Set<string>} */ (new Set()));
  const [at, setAt] = useState(params.at);
  const last = useRef(0);
  const written = useRef(params.at);
  useEffect(() => {
    if (params.at !== written.current) setAt(params.at);
    written.current = params.at;
  }, [params.at]);
  useEffect(() => {
    if (at === params.at) return undefined;
    // A browser refuses to change the address as often as a key repeats.
    const soon = setTimeout(() => {
      written.current = at;
      set({ at }, true);
    }, 300);
    return () => clearTimeout(soon);
  }, [at]);
  if (!offers("review")) return html`<h1 class="unseen">Inbox</h1><${Empty} title="This server has no inbox.">It is older than this page, or you may not read it.</${Empty}>`;
  if (found.problem) return html`<h1 class="unseen">Inbox</h1><${Failure} problem=${found.problem} again=${found.again} />`;
  if (!found.answer) return html`<${Busy} />`;

  const all = found.answer.items.filter((/** @type {any} */ item) => !item.decided && !decided.has(item.key) && !byHand(item));
  if (!all.length && found.answer.next === null) {
    return html`<h1 class="unseen">Inbox</h1><${Empty} title="Nothing waits for you.">
      <p>Everything is decided. What the engine replaced, what contradicts or resembles each other, and what it set aside comes here.</p>
      <a href=${address("memories")}>Look through the memories</a></${Empty}>`;
  }
  const items = params.what ? all.filter((/** @type {any} */ item) => item.what === params.what) : all;
  const named = items.findIndex((/** @type {any} */ item) => item.key === at);
  // A decided item makes way for the one after it.
  const place = named >= 0 ? named : Math.min(last.current, items.length - 1);
  last.current = Math.max(0, place);
  const item = items[place];
  /** @param {number} next */
  const choose = (next) => {
    last.current = Math.max(0, Math.min(items.length - 1, next));
    if (items.length) setAt(items[last.current].key);
  };
  /** @param {number} step */
  const move = (step) => choose(last.current + step);
  /** @param {string} key @param {boolean} whether */
  const decide = (key, whether) => setDecided((was) => {
    const now = new Set(was);
    if (whether) now.add(key);
    else now.delete(key);
    return now;
  });
  return html`<div class="inbox"><h1 class="unseen">Inbox</h1>
    <${Kinds} all=${all} params=${params} more=${found.answer.next !== null} />
    ${!item ? html`<${Empty} title="None of this kind waits."><button onClick=${() => set({ what: null, at: null })}>Show all kinds</button></${Empty}>`
    : html`<div class="inbox-columns">
      <${Card} item=${item} place=${place} count=${items.length} move=${move} decide=${decide} />
      <aside class="stack">
        <div style=${{ height: `min(100vh - 200px, ${items.length * HEIGHT + 1}px)` }}>
          <${VirtualList} count=${items.length} height=${HEIGHT} selected=${place} label="What waits" row=${(/** @type {number} */ each) => html`
            <${Line} key=${items[each].key} item=${items[each]} current=${each === place} choose=${() => choose(each)} />`} /></div>
        ${found.answer.next !== null && html`<p class="quiet">More wait. They come up as you decide these.</p>`}
        <${CopyRequest} operation="review" values=${{ most }} />
      </aside>
    </div>`}
  </div>`;
}

/** How many of each kind wait; one press shows only these. @param {{all: any[], params: Record<string, string>, more: boolean}} props */
function Kinds({ all, params, more }) {
  const kinds = [...new Set([...Object.keys(KINDS), ...all.map((item) => item.what)])];
  /** @param {string} what */
  const count = (what) => all.filter((item) => item.what === what).length;
  return html`<div class="row kinds" role="group" aria-label="Kinds of items">
    <button aria-pressed=${!params.what} onClick=${() => set({ what: null, at: null })}>All <span class="number">${all.length}${more && "+"}</span></button>
    ${kinds.filter((what) => count(what) || params.what === what).map((what) => html`<button key=${what} aria-pressed=${params.what === what}
      onClick=${() => set({ what: params.what === what ? null : what, at: null })}>${kindOf(what).short} <span class="number">${count(what)}${more && "+"}</span></button>`)}
  </div>`;
}

/** @param {{item: any, current: boolean, choose: () => void}} props */
function Line({ item, current, choose }) {
  return html`<div role="listitem" class="inbox-line"><button class=${current ? "current" : ""} aria-current=${current ? "true" : undefined} tabindex=${current ? 0 : -1} onClick=${choose}>
    <span class="line-text"><${Text} value=${item.memory.text} short=${true} inert=${true} /></span>
    <span class="quiet">${kindOf(item.what).short} · <${Time} value=${item.at} precision="instant" /></span></button></div>`;
}

/**
 * @typedef {{does: string, label: any, run: () => void, kind?: string, title?: string}} Action
 * @param {{item: any, place: number, count: number, move: (step: number) => void, decide: (key: string, whether: boolean) => void}} props
 */
function Card({ item, place, count, move, decide }) {
  const bank = route.value.bank;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const busy = useRef(false);
  const [editing, edit] = useState(/** @type {{key: string, id: string} | null} */ (null));
  const [asking, ask] = useState(/** @type {"" | "forget" | "date"} */ (""));
  const { title, about, keep, names } = kindOf(item.what);
  const { older, newer } = sidesOf(item);
  const memory = item.memory;
  const edited = editing && editing.key === item.key ? editing.id : "";

  /**
   * Decide the item; *back* takes that back, and the item comes again.
   * @param {() => Promise<any>} make
   * @param {string} done
   * @param {((answer: any) => Promise<any>) | null} back
   */
  const act = async (make, done, back) => {
    if (busy.current) return;
    busy.current = true;
    const made = await change(make, done, back && (async (answer) => {
      await back(answer);
      decide(item.key, false);
      if (route.value.view === "inbox") set({ at: item.key }, true);
    }));
    busy.current = false;
    if (!made) return;
    decide(item.key, true);
    box.current?.focus({ preventScroll: true });
  };
  const path = [item.key];
  const accept = () => act(
    () => call("put_records", bank, { space: SPACE, records: [{ path, value: { decided: "kept", what: item.what }, text: "" }] }), `${keep}. Decided.`,
    offers("forget_records") ? () => call("forget_records", bank, { space: SPACE, path, exact: true }) : null);
  const undoMove = () => act(
    () => call("undo_move", bank, { number: item.move }), "Undone: both hold again.",
    () => call("invalidate", bank, { memory: memory.id, ...(memory.valid_to ? { at: memory.valid_to } : {}) }));
  /** @param {any} ended @param {any} [by] whose beginning ends it */
  const end = async (ended, by) => {
    const at = by?.valid_from && (!ended.valid_from || by.valid_from > ended.valid_from) ? { at: by.valid_from } : {};
    let number = null;
    try {
      await call("invalidate", bank, { memory: ended.id, ...at });
      number = await moveOf(bank, ended.id, "close").catch(() => null);
    } catch (error) {
      return failed(error);
    }
    return act(async () => number, "Ended: it is told only of the time before.", number === null ? null : () => call("undo_move", bank, { number }));
  };
  const release = () => act(
    () => call("release", bank, { ids: [memory.id] }), "Released: it is told like any other.",
    offers("quarantine") ? () => call("quarantine", bank, { ids: [memory.id] }) : null);

  const dates = offers("update_memory") && "event_time" in optionsOf("update_memory");
  /** @param {string} [day] the one that the words mean */
  const date = (day) => day !== undefined && dates && {
    does: "Date it on the earlier, or the later day", label: html`<${Time} value=${`${day}T00:00:00Z`} precision="day" />`, run: () => act(
      () => call("update_memory", bank, { memory: memory.id, event_time: day, expected_version: memory.version }), "The date is set.",
      (now) => call("update_memory", bank, { memory: memory.id, event_time: AS_TOLD, expected_version: now.memory.version })) };

  /** @type {Record<string, Action | false>} */
  const actions = {
    1: date(item.days?.[0]),
    2: date(item.days?.[1]),
    a: offers("put_records") && { does: "Keep it as it is", label: keep, run: accept, kind: "main" },
    u: item.move !== null && offers("undo_move") && { does: "Undo what the engine decided", label: "Undo: both hold again", run: undoMove },
    o: Boolean(older && newer) && !hasEnded(older) && offers("invalidate") && {
      does: "End the older statement", label: "End the older", run: () => end(older, newer), title: "true until the newer one began" },
    n: Boolean(older && newer) && !hasEnded(newer) && offers("invalidate") && {
      does: "End the newer statement", label: "End the newer", run: () => end(newer), title: "no longer true from now on" },
    r: item.what === "quarantined" && offers("release") && { does: "Release it from quarantine", label: "Release", run: release },
    t: dates && { does: "Correct the date", label: "Correct the date", run: () => ask("date") },
    e: offers("update_memory") && { does: "Correct the text", label: "Correct the text", run: () => edit({ key: item.key, id: memory.id }) },
    d: offers("forget") && { does: "Forget a memory", label: "Forget…", run: () => ask("forget"), kind: "danger" },
  };
  const given = /** @type {[string, Action][]} */ (Object.entries(actions).filter(([, action]) => action));
  useKeys(asking ? {} : {
    j: { does: "Next item", run: () => move(1) },
    k: { does: "Item before", run: () => move(-1) },
    Enter: { does: "Open the memory", run: () => go("memory", { id: memory.id }) },
    ...(edited ? { Escape: { does: "Close the text", run: () => edit(null) } } : Object.fromEntries(given)),
  });
  return html`<section class="panel stack inbox-card" ref=${box} tabindex="-1" aria-label=${`Item ${place + 1} of ${count}: ${title}`}>
    <div class="row apart">
      <h2>${title}</h2>
      <span class="row"><span class="quiet">${place + 1} of ${count}</span>
        <button class="quiet" disabled=${place === 0} title="item before" onClick=${() => move(-1)}><kbd>k</kbd> ↑<span class="unseen"> item before</span></button>
        <button class="quiet" disabled=${place >= count - 1} title="next item" onClick=${() => move(1)}><kbd>j</kbd> ↓<span class="unseen"> next item</span></button></span>
    </div>
    <p class="quiet">${about}</p>
    <div class=${older && newer ? "columns" : ""}>
      ${[older, newer].map((side, which) => side && html`<${Statement} key=${side.id} memory=${side} name=${names[which]} other=${which ? older : newer}
        isNew=${which === 1} edited=${edited === side.id} edit=${(/** @type {boolean} */ whether) => edit(whether ? { key: item.key, id: side.id } : null)} />`)}
    </div>
    ${item.what === "superseded" && !newer && html`<p class="quiet">What replaced it was forgotten.</p>`}
    <dl class="facts">
      ${item.rule && html`<${Fragment}><dt title="by which the engine came to this">Rule</dt><dd><${Text} value=${item.rule} /></dd></${Fragment}>`}
      ${item.at && html`<${Fragment}><dt>Since</dt><dd><${Time} value=${item.at} /></dd></${Fragment}>`}
    </dl>
    <div class="row actions">${given.map(([key, { label, run, kind = "", title: more }]) => html`
      <button key=${key} class=${kind} title=${more} disabled=${Boolean(edited)} onClick=${run}>${label} <kbd>${key}</kbd></button>`)}
      ${!given.length && html`<p class="quiet">You may read, and decide nothing.</p>`}</div>
    ${asking === "forget" && html`<${ForgetDialog} item=${item} close=${() => ask("")} done=${(/** @type {string} */ id) => {
      ask("");
      void act(() => call("forget", bank, { ids: [id] }), "Forgotten, with every version.", null);
    }} />`}
    ${asking === "date" && html`<${DateDialog} memory=${memory} close=${() => ask("")} />`}
  </section>`;
}

/**
 * @param {{memory: any, name: string, other: any, isNew: boolean, edited: boolean, edit: (whether: boolean) => void}} props
 */
function Statement({ memory, name, other, isNew, edited, edit }) {
  return html`<article class="inbox-statement">
    <header class="row apart"><h3>${name}</h3><span><${Marks} memory=${memory} /></span></header>
    ${edited ? html`<${Editor} memory=${memory} done=${() => edit(false)} />`
      : html`<p class="statement">${other ? marked(memory.text, other.text, isNew) : html`<${Text} value=${memory.text} />`}</p>`}
    <dl class="facts">
      <dt>When true</dt><dd><${Time} value=${memory.event_time} precision=${memory.event_precision} none="no date" />
        ${memory.valid_to && html` <span class="quiet">until <${Time} value=${memory.valid_to} precision="instant" /></span>`}</dd>
      <dt>Learned on</dt><dd><${Time} value=${memory.ingested_at} precision="instant" /></dd>
      ${memory.speaker && html`<${Fragment}><dt>Said by</dt><dd><${Text} value=${memory.speaker} short=${true} /></dd></${Fragment}>`}
      ${memory.source && html`<${Fragment}><dt>Source</dt><dd><${Text} value=${memory.source} short=${true} /></dd></${Fragment}>`}
    </dl>
    <div class="row"><a href=${address("memory", { id: memory.id })}>Open</a>
      ${other && offers("update_memory") && !edited && html`<button class="quiet" onClick=${() => edit(true)}>Correct the text</button>`}</div>
  </article>`;
}

/**
 * A text, with the words marked that the other one does not have. A text with a secret is not cut up, since the
 * words around a secret are what it is known by.
 * @param {string} text
 * @param {string} other
 * @param {boolean} isNew
 */
function marked(text, other, isNew) {
  const one = text.split(/(\s+)/u), two = other.split(/(\s+)/u);
  const secret = [text, other].some((each) => partsOf(each).some(({ what }) => what === "secret"));
  if (secret || one.length > LONGEST || two.length > LONGEST) return html`<${Text} value=${text} />`;
  return parts(isNew ? two : one, isNew ? one : two).map(({ what, text: words }) =>
    what === "same" ? html`<${Text} value=${words} />`
    : what === "gone" ? !isNew && html`<del><${Text} value=${words} /></del>`
    : isNew && html`<ins><${Text} value=${words} /></ins>`);
}

/** @param {{item: any, close: () => void, done: (id: string) => void}} props */
function ForgetDialog({ item, close, done }) {
  const { older, newer } = sidesOf(item);
  const { names } = kindOf(item.what);
  const [id, choose] = useState(item.memory.id);
  const both = older && newer;
  return html`<${Dialog} title="Forget this memory?" close=${close}>
    <div class="stack">
      ${both && html`<fieldset class="which"><legend class="quiet">Which one?</legend>
        ${[older, newer].map((side, which) => html`<label key=${side.id}><input type="radio" name="which" checked=${id === side.id} onChange=${() => choose(side.id)} />
          <span><strong>${names[which]}:</strong> <${Text} value=${side.text} short=${true} inert=${true} /></span></label>`)}</fieldset>`}
      ${!both && html`<p><${Text} value=${item.memory.text} short=${true} inert=${true} /></p>`}
      <p>It is deleted for ever, with every version and everything derived from it. To keep the history, end it instead.</p>
      <div class="row"><button class="danger" onClick=${() => done(id)}>Forget for ever</button><button onClick=${close}>Cancel</button></div>
    </div></${Dialog}>`;
}

/** A date as somebody would write it. @param {any} memory */
function dateOf({ event_time: time, event_precision: precision }) {
  if (!time) return "";
  return precision === "year" ? time.slice(0, 4) : precision === "month" ? time.slice(0, 7) : precision === "day" ? time.slice(0, 10) : time;
}

/** @param {{memory: any, close: () => void}} props */
function DateDialog({ memory, close }) {
  const bank = route.value.bank, before = dateOf(memory);
  const [date, setDate] = useState(before);
  /** @param {Event} event */
  const save = async (event) => {
    event.preventDefault();
    const saved = await change(
      () => call("update_memory", bank, { memory: memory.id, event_time: date.trim(), expected_version: memory.version }), "The date is corrected.",
      (now) => call("update_memory", bank, { memory: memory.id, event_time: before || AS_TOLD, expected_version: now.memory.version }));
    if (saved) close();
  };
  return html`<${Dialog} title="Correct the date" close=${close}>
    <form class="stack" onSubmit=${save}>
      <p><${Text} value=${memory.text} short=${true} inert=${true} /></p>
      <label class="field">When it was true
        <input autofocus required autocomplete="off" value=${date} placeholder="2026-03-10" onInput=${(/** @type {any} */ event) => setDate(event.currentTarget.value)} /></label>
      <p class="quiet">As exact as it is known: 2026, 2026-03, 2026-03-10 or 2026-03-10T10:00:00Z.</p>
      <div class="row"><button class="main" disabled=${!date.trim() || date.trim() === before}>Save</button><button type="button" onClick=${close}>Cancel</button></div>
    </form></${Dialog}>`;
}
