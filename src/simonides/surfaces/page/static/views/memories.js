// All memories of a bank as a table: searched, narrowed, chosen, and changed in place or many at once.

import { call, isExport } from "../lib/api.js";
import { wordDifference } from "../lib/difference.js";
import { useKeys } from "../lib/keys.js";
import { address, change, failed, go, offers, route, set, tell } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { CopyRequest, Dialog, Empty, Failure, Busy, Relevance, VirtualList, effect, html, useEffect, useLayoutEffect, useMemo, useRef, useSearch, useState } from "../lib/ui.js";
import { Marks } from "./memory.js";
import { BulkActions, Progress } from "./memories-bulk.js";
import { Chips, Filters, isFiltered, optionsOf, passes, requestIn, useFacets } from "./memories-filters.js";
import { Listing } from "./memories-listing.js";

const NARROW = matchMedia("(max-width: 760px)");
const HEIGHT = 42, NARROW_HEIGHT = 66;
/** What can be done with chosen rows; who may do none of it chooses none. */
const CHANGES = ["update_memory", "pin", "archive", "invalidate", "forget"];

/** Texts that were begun and not saved, by bank and id. @type {Map<string, {text: string, base: any}>} */
const drafts = new Map();

/** The listing that a memory was opened from: going back finds it as it was. @type {{key: string, listing: Listing, at: number} | null} */
let left = null;
effect(() => {
  if (!["memories", "memory"].includes(route.value.view)) left = null;
});

/** @param {{params: Record<string, string>}} props */
export function Memories({ params }) {
  const bank = route.value.bank;
  const { operation, values } = requestIn(params);
  const key = JSON.stringify([bank, operation, values, params.q || isExport ? params : 0]);
  const [, draw] = useState(0);
  const narrow = useNarrow();
  const [turn, setTurn] = useState(0);
  // The keys may come faster than the page is drawn.
  const at = useRef(-1), anchor = useRef(-1);
  const [chosen, setChosen] = useState(/** @type {Set<string>} */ (new Set()));
  const [editing, edit] = useState("");
  const [asking, ask] = useState("");
  /** @param {number} place */
  const point = (place) => {
    at.current = place;
    draw((count) => count + 1);
  };
  const shown = useRef(/** @type {Listing | null} */ (null));

  const latest = useMemo(() => {
    const again = () => draw((count) => count + 1);
    if (left?.key === key) {
      left.listing.changed = again;
      return left.listing;
    }
    return new Listing(async (cursor, signal) => pageOf(operation, await call(operation, bank, { ...values, ...(cursor ? { cursor } : {}) }, signal), params), again);
  }, [key, turn]);
  useLayoutEffect(() => {
    if (left?.listing === latest) {
      const back = left;
      left = null;
      point(back.at);
      void refresh(bank, latest, latest.id(back.at));
    } else {
      at.current = anchor.current = -1;
      edit("");
      // Nothing is changed that is not shown.
      setChosen(new Set());
      void latest.more();
    }
    return () => left?.listing === latest || latest.stop();
  }, [latest]);
  // While the next rows are on their way, the last ones stay.
  if (latest.begun || !shown.current) shown.current = latest;
  const listing = shown.current;
  const facets = useFacets(params, isExport || params.q ? [...latest.records.values()].filter(Boolean) : null);
  const writes = offers("update_memory"), chooses = CHANGES.some(offers);

  /** @param {string[]} ids @param {boolean | "other"} [whether] */
  const choose = (ids, whether = true) => setChosen((was) => {
    const now = new Set(was);
    for (const id of ids) if (whether === "other" ? !was.has(id) : whether) now.add(id); else now.delete(id);
    return now;
  });
  /** @param {number} place @param {boolean} range */
  const toggle = (place, range) => {
    const id = listing.id(place);
    if (id === undefined) return;
    const from = range && anchor.current >= 0 ? anchor.current : place;
    if (range) choose(listing.ids(Math.min(from, place), Math.max(from, place)));
    else choose([id], "other");
    anchor.current = from;
    point(place);
  };
  /** @param {number} place */
  const open = (place) => {
    const id = listing.id(place);
    if (id === undefined) return;
    left = { key, listing, at: place };
    go("memory", { id });
  };
  /** @param {number} step */
  const move = (step) => listing.count && point(Math.max(0, Math.min(listing.count - 1, at.current + step)));
  const escape = () => (editing ? edit("") : chosen.size ? setChosen(new Set()) : point(-1));
  useKeys(asking ? {} : {
    j: { does: "Next memory", run: () => move(1) },
    k: { does: "Memory before", run: () => move(at.current < 0 ? 1 : -1) },
    Enter: { does: "Open the memory", run: () => open(at.current) },
    ...(!chooses ? {} : {
      x: { does: "Choose the memory", run: () => toggle(at.current, false) },
      X: { does: "Choose all up to the memory", run: () => toggle(at.current, true) },
    }),
    ...(writes ? { e: { does: "Edit the text in its row", run: () => edit(listing.id(at.current) ?? "") } } : {}),
    Escape: { does: "Close the text, choose none", run: escape },
    "/": { does: "Search here", run: () => document.getElementById("search-memories")?.focus() },
  });

  useEffect(() => {
    // All rows that were loaded may be forgotten.
    if (listing.begun && listing.count === 0) void listing.more();
  });

  const nothing = listing.begun && listing.count === 0 && listing.next === null && !listing.problem;
  if (nothing && !params.q && !isFiltered(params)) {
    return html`<div class="stack first-memory"><${Progress} /><${FirstMemory} stored=${() => setTurn((was) => was + 1)} /></div>`;
  }
  // Rows that were made stay the same while somebody scrolls, and need not be compared again.
  /** @type {Map<number, any>} */
  const rows = new Map();
  /** @param {number} place */
  const row = (place) => {
    const id = listing.id(place) ?? "", made = rows.get(place);
    if (made) return made;
    const memory = listing.record(place);
    const now = html`<${Row} key=${id} place=${place} id=${id} memory=${memory} score=${listing.scores.get(id)} found=${Boolean(params.q)}
      current=${place === at.current} chosen=${chosen.has(id)} toggle=${chooses ? toggle : null} open=${open} point=${point}
      editor=${editing === id && html`<${Editor} listing=${listing} id=${id} close=${() => edit("")} ask=${ask} />`} />`;
    rows.set(place, now);
    return now;
  };
  const total = listing !== latest ? null : facets.total;
  const known = total ?? listing.count;
  return html`<div class="side memories-view"><h1 class="unseen">Memories</h1>
    <${Filters} params=${params} facets=${facets.facets} narrow=${narrow} />
    <div class="stack">
      <${Search} params=${params} />
      <${Chips} params=${params} />
      <${Progress} />
      ${chosen.size > 0
        ? html`<${BulkActions} chosen=${chosen} listing=${listing} unchoose=${(/** @type {string[]} */ ids) => choose(ids, false)} asking=${asking} ask=${ask} />`
        : html`<div class="row apart above"><span class="quiet" role="status">${!listing.begun ? "" : `${known.toLocaleString()}${total === null && listing.next ? " or more" : ""} ${params.q ? "found, the likeliest first" : known === 1 ? "memory" : "memories"}`}</span>
          <span class="row">
            ${!isExport && optionsOf("list_memories").order && !params.q && html`<select aria-label="Order" value=${params.order ?? "newest"}
              onChange=${(/** @type {any} */ event) => set({ order: event.currentTarget.value === "id" ? "id" : null })}>
              <option value="newest">learned last first</option><option value="id" selected=${params.order === "id"}>by id</option></select>`}
            ${!isExport && html`<button class="quiet" onClick=${() => setTurn((was) => was + 1)}>Read again</button>`}
            ${!isExport && html`<${CopyRequest} operation=${operation} values=${values} />`}</span></div>`}
      ${listing.problem && listing.count === 0 ? html`<${Failure} problem=${listing.problem} again=${() => setTurn((was) => was + 1)} />`
        : !listing.begun ? html`<${Busy} />`
        : nothing ? html`<${NothingFound} params=${params} />`
        : html`<div class=${`table${params.q ? " found" : ""}${listing === latest ? "" : " stale"}`}>
          <${Head} listing=${listing} chosen=${chosen} choose=${chooses ? choose : null} found=${Boolean(params.q)} />
          <${VirtualList} key=${key} count=${listing.count} height=${narrow ? NARROW_HEIGHT : HEIGHT} selected=${at.current} label="Memories"
            onEnd=${() => void listing.more()} row=${row} />
          ${listing.problem && html`<${Failure} problem=${listing.problem} again=${() => listing.again()} />`}
        </div>`}
    </div>
  </div>`;
}

function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const changed = () => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", changed);
    return () => NARROW.removeEventListener("change", changed);
  }, []);
  return narrow;
}

/**
 * One page of a listing, from an answer.
 * @param {string} operation
 * @param {any} answer
 * @param {Record<string, string>} params
 * @returns {import("./memories-listing.js").Page}
 */
function pageOf(operation, answer, params) {
  const found = operation === "recall" ? answer.hits.map((/** @type {any} */ hit) => hit.memory) : answer.memories;
  const records = found.filter((/** @type {any} */ memory) => passes(operation, memory, params));
  if (operation !== "recall") return { records, next: answer.next };
  return { records, next: null, scores: new Map(answer.hits.map((/** @type {any} */ hit) => [hit.id, hit.relevance])) };
}

/** Read one memory again, as after it was opened. @param {string} bank @param {Listing} listing @param {string | undefined} id */
async function refresh(bank, listing, id) {
  if (id === undefined) return;
  try {
    const { memory } = await call("get_memory", bank, { memory: id });
    if (memory) listing.patch(memory);
    else listing.drop(new Set([id]));
  } catch (error) {
    if (/** @type {any} */ (error).status === 404) listing.drop(new Set([id]));
  }
}

/** @param {{params: Record<string, string>}} props */
function Search({ params }) {
  const [typed, search] = useSearch(params.q ?? "");
  return html`<form role="search" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); search(typed, 0); }}>
    <input id="search-memories" data-question type="search" aria-label="Search the memories" placeholder="Search by meaning or words" value=${typed}
      maxlength="65536" autocomplete="off" onInput=${(/** @type {any} */ event) => search(event.currentTarget.value)} /></form>`;
}

/** @param {{listing: Listing, chosen: Set<string>, choose: ((ids: string[], whether: boolean) => void) | null, found: boolean}} props */
function Head({ listing, chosen, choose, found }) {
  const row = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [scrollbar, setScrollbar] = useState(0);
  useEffect(() => {
    const list = /** @type {HTMLElement | null} */ (row.current?.nextElementSibling);
    if (list) setScrollbar(list.offsetWidth - list.clientWidth - 2);
  });
  const all = chosen.size >= listing.count && listing.ids().every((id) => chosen.has(id));
  return html`<div class=${`memory-row head${choose ? "" : " plain"}`} ref=${row} style=${{ paddingRight: `${10 + scrollbar}px` }}>
    ${!choose ? html`<span></span>` : html`<span><input type="checkbox" aria-label=${`choose all ${listing.count} that are loaded`} checked=${all}
      indeterminate=${!all && chosen.size > 0} onChange=${() => choose(listing.ids(), !all)} /></span>`}
    <span>Text</span><span>Kind</span><span>Tags</span>
    <span title="the time that it tells of (event_time)">When true</span><span title="when this version of it was stored (ingested_at)">Learned on</span>
    ${found && html`<span title="how probably it answers what was searched">Relevance</span>`}<span>Marks</span></div>`;
}

/**
 * @param {{place: number, id: string, memory: any, score: number | null | undefined, found: boolean, current: boolean, chosen: boolean,
 *   toggle: ((place: number, range: boolean) => void) | null, open: (place: number) => void, point: (place: number) => void, editor: any}} props
 */
function Row({ place, id, memory, score, found, current, chosen, toggle, open, point, editor }) {
  const name = `memory-row${toggle ? "" : " plain"}${current ? " current" : ""}${chosen ? " chosen" : ""}${editor ? " editing" : ""}`;
  if (!memory) return html`<div class=${name} role="listitem"><span></span><span class="quiet">${memory === null ? "no longer there" : "…"}</span></div>`;
  /** @param {MouseEvent} event */
  const pressed = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest(".row-editor, input")) return;
    if (event.shiftKey && toggle) {
      event.preventDefault();
      getSelection()?.removeAllRanges();
      toggle(place, true);
    } else if (target.closest("a") && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      open(place);
    } else point(place);
  };
  return html`<div class=${name} role="listitem" aria-current=${current ? "true" : undefined} onClick=${pressed}>
    ${!toggle ? html`<span></span>` : html`<span><input type="checkbox" aria-label=${`choose memory ${place + 1}`} checked=${chosen}
      onClick=${(/** @type {MouseEvent} */ event) => toggle(place, event.shiftKey)} /></span>`}
    <span class="cell text">${drafts.has(draftKey(id)) && !editor && html`<span class="mark weak" title="a text that you began and did not save; e opens it">unsaved</span> `}
      <a href=${address("memory", { id })} tabindex=${current ? 0 : -1}><${Text} value=${memory.text} short=${true} inert=${true} /></a></span>
    <span class="cell kind">${memory.kind}</span>
    <span class="cell tags">${memory.tags.map((/** @type {string} */ tag) => html`<span class="mark" key=${tag}><${Text} value=${tag} short=${true} inert=${true} /></span> `)}</span>
    <span class="cell"><span class="label">true </span><${Time} value=${memory.event_time} precision=${memory.event_precision ?? "instant"} /></span>
    <span class="cell learned"><span class="label">learned </span><${Time} value=${memory.ingested_at} precision="instant" /></span>
    ${found && html`<span class="cell"><${Relevance} value=${score} /></span>`}
    <span class="cell marks"><${Marks} memory=${memory} /></span>
    ${editor}
  </div>`;
}

/** @param {string} id */
function draftKey(id) {
  return `${route.value.bank}/${id}`;
}

/**
 * The text of a memory, edited in its row. What is typed stays until it is saved or thrown away.
 * @param {{listing: Listing, id: string, close: () => void, ask: (what: string) => void}} props
 */
function Editor({ listing, id, close, ask }) {
  const key = draftKey(id), bank = route.value.bank;
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const base = drafts.get(key)?.base ?? listing.records.get(id);
  const [text, setText] = useState(drafts.get(key)?.text ?? base.text);
  const [theirs, setTheirs] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => {
    const element = /** @type {HTMLTextAreaElement} */ (box.current);
    element.focus({ preventScroll: true });
    element.setSelectionRange(element.value.length, element.value.length);
    element.closest(".row-editor")?.scrollIntoView({ block: "nearest" });
    return () => ask("");
  }, []);
  /** @param {string} next */
  const typed = (next) => {
    setText(next);
    if (next === base.text) drafts.delete(key);
    else drafts.set(key, { text: next, base });
  };
  const discard = () => {
    drafts.delete(key);
    close();
  };
  /** @param {any} memory that stands there now, and was seen */
  const write = async (memory) => {
    /** @param {string} text @param {number} version the one that was seen */
    const put = async (text, version) => {
      const { memory: now } = await call("update_memory", bank, { memory: id, text, expected_version: version });
      listing.patch(now);
      return now;
    };
    const saved = await change(() => put(text, memory.version), "Corrected. The text before stays in the history.",
      (now) => put(memory.text, now.version));
    if (!saved) return;
    ask("");
    discard();
  };
  const save = async () => {
    if (busy || !text.trim()) return undefined;
    if (text === base.text) return discard();
    setBusy(true);
    try {
      const { memory } = await call("get_memory", bank, { memory: id });
      if (memory.text !== base.text && memory.text !== text) {
        setTheirs(memory);
        ask("conflict");
      } else await write(memory);
    } catch (error) {
      failed(error);
    }
    setBusy(false);
    return undefined;
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void save();
  };
  const decideLater = () => {
    setTheirs(null);
    ask("");
  };
  return html`<div class="row-editor">
    <textarea ref=${box} rows="3" aria-label="Text of the memory" value=${text} onKeyDown=${pressed}
      onInput=${(/** @type {any} */ event) => typed(event.currentTarget.value)}></textarea>
    <div class="row">
      <button class="main" disabled=${busy || !text.trim()} onClick=${save}>Save <kbd>Ctrl</kbd> <kbd>Enter</kbd></button>
      ${text !== base.text ? html`<button onClick=${discard}>Throw away</button><button class="quiet" onClick=${close}>Close, keep for later <kbd>Esc</kbd></button>`
        : html`<button onClick=${close}>Cancel <kbd>Esc</kbd></button>`}
    </div>
    ${theirs && html`<${Dialog} title="Somebody changed this memory meanwhile" close=${decideLater}>
      <div class="stack">
        <section><h3>It says now, with what they changed</h3><p>${wordDifference(base.text, theirs.text)}</p></section>
        <section><h3>Your text, with what you changed</h3><p>${wordDifference(base.text, text)}</p></section>
        <p class="quiet">Whichever you keep, the other texts stay in the history.</p>
        <div class="row"><button class="main" onClick=${() => write(theirs)}>Save mine over it</button>
          <button onClick=${() => { listing.patch(theirs); ask(""); discard(); }}>Keep theirs</button>
          <button class="quiet" onClick=${decideLater}>Decide later</button></div>
      </div></${Dialog}>`}
  </div>`;
}

/** @param {{params: Record<string, string>}} props */
function NothingFound({ params }) {
  if (params.as_of && !params.known) {
    return html`<${Empty} title="Nothing was known then.">
      <p>This shows the bank as it stood at that moment, before later memories were learned.</p>
      <button onClick=${() => set({ known: "now" })}>Show what was true then, by what is known today</button></${Empty}>`;
  }
  return html`<${Empty} title="No memory fits.">${params.q ? "Search with other words, or take a filter away." : "Take a filter away to see more."}</${Empty}>`;
}

/** An empty bank: three ways to store the first memory. @param {{stored: () => void}} props */
function FirstMemory({ stored }) {
  const bank = route.value.bank;
  const [text, setText] = useState("");
  const shell = `simonides retain --bank ${/^[\w.-]+$/u.test(bank) ? bank : `'${bank.replaceAll("'", `'\\''`)}'`} "Mara lives in Bergen."`;
  const python = `import simonides\n\nwith simonides.open("PATH OF THE STORE") as store:\n    store.bank(${JSON.stringify(bank)}).retain("Mara lives in Bergen.")`;
  /** @param {Event} event */
  const store = async (event) => {
    event.preventDefault();
    const kept = await change(() => call("retain", bank, { items: [{ text }] }), "Stored.",
      offers("forget") ? async ({ ids }) => { await call("forget", bank, { ids }); stored(); } : null);
    if (kept) stored();
  };
  return html`<section class="panel stack">
    <div><h1>Nothing is remembered here yet</h1>
      <p class="quiet">A memory is one statement that holds by itself, such as “Mara lives in Bergen.” Store a first one:</p></div>
    ${offers("retain") && html`<form class="stack" onSubmit=${store}>
      <label class="field"><strong>Here</strong>
        <textarea rows="2" placeholder="Mara lives in Bergen." value=${text} maxlength="65536"
          onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim() && store(event)}></textarea></label>
      <div><button class="main" disabled=${!text.trim()}>Store it</button></div></form>`}
    <${Snippet} title="From the command line" text=${shell} />
    <${Snippet} title="From Python" text=${python} />
    <p class="quiet">An agent remembers by itself once it is connected: <code>simonides install claude-code</code></p>
  </section>`;
}

/** @param {{title: string, text: string}} props */
function Snippet({ title, text }) {
  const copy = () => navigator.clipboard.writeText(text).then(() => tell("Copied."), failed);
  return html`<div class="snippet"><div class="row apart"><strong>${title}</strong><button class="quiet" onClick=${copy} aria-label=${`copy: ${title}`}>Copy</button></div>
    <pre>${text}</pre></div>`;
}
