// Changes of many memories: one after the other, with progress, a way to stop, what failed, and a way back.

import { call } from "../lib/api.js";
import { address, changes, failed, offers, route, session } from "../lib/state.js";
import { Text } from "../lib/text.js";
import { Dialog, Fragment, html, signal, useEffect, useState } from "../lib/ui.js";
import { optionsOf } from "./memories-filters.js";

/** More memories than this are forgotten only by typing their number. */
const ASKS = 20;
/** What goes with a memory and means something to people; the engine counts more. @type {Record<string, string>} */
const ROWS = { versions: "versions", episodes: "raw sources", entities: "names", relations: "relations", links: "links to others",
  evidence: "evidence of observations", moves: "notes of changes" };
/** Memories of one request. */
const CHUNK = 100;

/**
 * @typedef {import("./memories-listing.js").Listing} Listing
 * @typedef {{does: string, did: string, total: number, done: number, changed: number, running: boolean,
 *   stopped: boolean, waits: number, failures: {id: string, why: string}[], undo: (() => void) | null}} Job
 * @type {import("../vendor/signals.js").Signal<Job | null>}
 */
const job = signal(null);

/**
 * What is done to memories. *make* changes some (one, or up to CHUNK) and returns what is needed to take it back:
 * an id that is left out was not changed. *back* takes one back.
 * @typedef {{does: string, did: string, size?: number, make: (ids: string[]) => Promise<any[]>,
 *   back?: ((one: any) => Promise<any>) | null, undoable?: ((one: any) => Promise<boolean>)}} Task
 */

/** @param {Task} task @param {any[]} items ids, or what *back* takes */
async function run(task, items) {
  const size = task.size ?? 1;
  /** @type {Job} */
  let now = { does: task.does, did: task.did, total: items.length, done: 0, changed: 0, running: true, stopped: false, waits: 0, failures: [], undo: null };
  /** @param {Partial<Job>} news */
  const told = (news) => {
    // Somebody may have pressed Stop.
    now = { ...now, ...news, stopped: now.stopped || Boolean(job.value?.stopped) };
    job.value = now;
  };
  /** @type {any[]} */
  const made = [];
  job.value = now;
  let one = 0;
  for (let place = 0, most = size; place < items.length && !now.stopped; place += most) {
    most = place < one ? 1 : size;
    const some = items.slice(place, place + most);
    try {
      made.push(...(await patiently(() => task.make(some), (waits) => told({ waits }), () => Boolean(job.value?.stopped))));
      told({ done: now.done + some.length, changed: made.length });
    } catch (error) {
      const { message, status } = /** @type {any} */ (error);
      if (some.length > 1 && status !== 401 && status !== 0) {
        // One of them is in the way of all: do these one by one.
        one = place + some.length;
        most = 0;
        continue;
      }
      told({ done: now.done + some.length, failures: [...now.failures, ...some.map((each) => ({ id: each.id ?? each, why: message }))] });
      if (status === 401) {
        failed(error);
        break;
      }
    }
  }
  changes.value += 1;
  const back = task.back;
  const may = back && made.length > 0 && (!task.undoable || (await task.undoable(made[0]).catch(() => false)));
  told({
    running: false,
    undo: may && back
      ? () => void run({ does: "Undoing", did: "Undone for", make: async ([one]) => (await back(one), [one]) }, made)
      : null,
  });
}

/**
 * Try again after the time that a busy server names.
 * @param {() => Promise<any>} change
 * @param {(seconds: number) => void} waits
 * @param {() => boolean} stopped
 */
async function patiently(change, waits, stopped) {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      const { status, retryAfter } = /** @type {any} */ (error);
      if (!(status === 429 || status === 503) || !retryAfter || stopped()) throw error;
      waits(retryAfter);
      await new Promise((resolve) => setTimeout(resolve, Math.min(retryAfter, 60) * 1_000));
      waits(0);
    }
  }
}

/** @param {string} bank @param {string} id */
async function read(bank, id) {
  return (await call("get_memory", bank, { memory: id })).memory;
}

/** @param {any} memory */
export function hasEnded(memory) {
  return Boolean(memory.superseded_by || memory.expired_at) || (memory.valid_to !== null && new Date(memory.valid_to) <= new Date());
}

/**
 * The number of the engine's note on what was done, by which undo_move takes it back; null = there is none.
 * @param {string} bank
 * @param {string} id
 * @param {"archive" | "close"} action
 * @returns {Promise<number | null>}
 */
export async function moveOf(bank, id, action) {
  if (!offers("moves") || !offers("undo_move")) return null;
  const { moves } = await call("moves", bank, { memory: id });
  const open = moves.filter((/** @type {any} */ move) => !move.undone_at && move.action === action);
  return open.length ? Math.max(...open.map((/** @type {any} */ move) => move.number)) : null;
}

/**
 * The tasks over a listing, whose rows follow.
 * @param {Listing} listing
 * @param {(ids: string[]) => void} unchoose
 */
function tasksOf(listing, unchoose) {
  const bank = route.value.bank;
  /** @param {string} id */
  const reread = async (id) => listing.patch(await read(bank, id));
  /** @param {string} id @param {(tags: string[]) => string[]} change */
  const retag = async (id, change) => {
    for (let turn = 0; ; turn++) {
      const memory = await read(bank, id);
      const tags = change(memory.tags);
      if (tags.length === memory.tags.length) return [];
      try {
        listing.patch((await call("update_memory", bank, { memory: id, tags, expected_version: memory.version })).memory);
        return [id];
      } catch (error) {
        // Somebody else was faster: their change stays, too.
        if (/** @type {any} */ (error).status !== 409 || turn > 3) throw error;
      }
    }
  };
  /** @param {string} id @param {string} tag */
  const add = (id, tag) => retag(id, (tags) => (tags.includes(tag) ? tags : [...tags, tag]));
  /** @param {string} id @param {string} tag */
  const remove = (id, tag) => retag(id, (tags) => tags.filter((each) => each !== tag));
  /** @param {string} id @param {"pin" | "unpin"} name @param {boolean} [always] */
  const mark = async (id, name, always = false) => {
    await call(name, bank, { memory: id, ...(always ? { always } : {}) });
    await reread(id);
  };
  /** @param {"archive" | "close"} action */
  const byMove = (action) => offers("undo_move") ? {
    undoable: async (/** @type {string} */ id) => (await moveOf(bank, id, action)) !== null,
    back: async (/** @type {string} */ id) => {
      const number = await moveOf(bank, id, action);
      if (number === null) throw new Error("the engine keeps no note by which this is taken back");
      await call("undo_move", bank, { number });
      await reread(id);
    },
  } : {};
  return {
    /** @param {string} tag @returns {Task} */
    tag: (tag) => ({ does: "Adding the tag", did: "Tag added to", make: ([id]) => add(id, tag), back: (id) => remove(id, tag) }),
    /** @param {string} tag @returns {Task} */
    untag: (tag) => ({ does: "Removing the tag", did: "Tag removed from", make: ([id]) => remove(id, tag), back: (id) => add(id, tag) }),
    /** @returns {Task} */
    pin: () => ({
      does: "Pinning", did: "Pinned:", back: (id) => mark(id, "unpin"),
      make: async ([id]) => {
        if ((await read(bank, id)).pinned) return [];
        await mark(id, "pin");
        return [id];
      },
    }),
    /** @returns {Task} */
    unpin: () => ({
      does: "Unpinning", did: "Unpinned:", back: ({ id, always }) => mark(id, "pin", always),
      make: async ([id]) => {
        const { pinned, standing } = await read(bank, id);
        if (!pinned && !standing) return [];
        await mark(id, "unpin");
        return [{ id, always: standing }];
      },
    }),
    /** @param {string} at @returns {Task} */
    end: (at) => ({
      does: "Ending", did: "Ended:", ...byMove("close"),
      make: async ([id]) => {
        if (hasEnded(await read(bank, id))) return [];
        listing.patch((await call("invalidate", bank, { memory: id, ...(at ? { at } : {}) })).memory);
        return [id];
      },
    }),
    /** @returns {Task} */
    archive: () => ({
      does: "Archiving", did: "Archived:", size: CHUNK, ...byMove("archive"),
      make: async (ids) => {
        const those = ids.filter((id) => !listing.records.get(id)?.archived);
        if (those.length) await call("archive", bank, { ids: those });
        for (const id of those) if (listing.records.get(id)) listing.patch({ ...listing.records.get(id), archived: true });
        return those;
      },
    }),
    /** @returns {Task} */
    forget: () => ({
      does: "Forgetting", did: "Forgotten:", size: CHUNK,
      make: async (ids) => {
        await call("forget", bank, { ids });
        unchoose(ids);
        listing.drop(new Set(ids));
        return ids;
      },
    }),
  };
}

/**
 * What can be done with the chosen rows.
 * @param {{chosen: Set<string>, listing: Listing, unchoose: (ids: string[]) => void, asking: string, ask: (what: string) => void}} props
 */
export function BulkActions({ chosen, listing, unchoose, asking, ask }) {
  const ids = [...chosen], writes = offers("update_memory");
  const tasks = tasksOf(listing, unchoose);
  const busy = Boolean(job.value?.running);
  /** @param {Task} task */
  const start = (task) => {
    ask("");
    void run(task, ids);
  };
  return html`<div class="row bulk" role="toolbar" aria-label="What to do with the chosen memories">
    <strong>${ids.length.toLocaleString()} chosen</strong>
    ${writes && html`<${Fragment}>
      <button disabled=${busy} onClick=${() => ask("tag")}>Add tag…</button>
      <button disabled=${busy} onClick=${() => ask("untag")}>Remove tag…</button></${Fragment}>`}
    ${offers("pin") && html`<button disabled=${busy} title="keep from ageing, first in a brief" onClick=${() => start(tasks.pin())}>Pin</button>`}
    ${offers("unpin") && html`<button disabled=${busy} title="let it age like any other" onClick=${() => start(tasks.unpin())}>Unpin</button>`}
    ${offers("archive") && html`<button disabled=${busy} title="found on request only" onClick=${() => start(tasks.archive())}>Archive</button>`}
    ${offers("invalidate") && html`<button disabled=${busy} title="no longer true; the history stays" onClick=${() => ask("end")}>End…</button>`}
    ${offers("forget") && html`<button class="danger" disabled=${busy} onClick=${() => ask("forget")}>Forget…</button>`}
    <button class="quiet" onClick=${() => unchoose(ids)}>Choose none <kbd>Esc</kbd></button>
    ${(asking === "tag" || asking === "untag") && html`<${TagDialog} adds=${asking === "tag"} ids=${ids} listing=${listing}
      close=${() => ask("")} done=${(/** @type {string} */ tag) => start(asking === "tag" ? tasks.tag(tag) : tasks.untag(tag))} />`}
    ${asking === "end" && html`<${EndDialog} count=${ids.length} close=${() => ask("")} done=${(/** @type {string} */ at) => start(tasks.end(at))} />`}
    ${asking === "forget" && html`<${ForgetDialog} ids=${ids} listing=${listing} close=${() => ask("")} done=${() => start(tasks.forget())} />`}
  </div>`;
}

/** @param {number} count */
function memories(count) {
  return count === 1 ? "1 memory" : `${count.toLocaleString()} memories`;
}

/** @param {{adds: boolean, ids: string[], listing: Listing, close: () => void, done: (tag: string) => void}} props */
function TagDialog({ adds, ids, listing, close, done }) {
  const [tag, setTag] = useState("");
  const used = [...new Set(ids.flatMap((id) => listing.records.get(id)?.tags ?? []))].sort();
  const known = adds ? [...new Set([...listing.records.values()].flatMap((memory) => memory?.tags ?? []))].sort().slice(0, 500) : used;
  /** @param {Event} event */
  const send = (event) => {
    event.preventDefault();
    if (tag.trim()) done(tag.trim());
  };
  return html`<${Dialog} title=${adds ? `Add a tag to ${memories(ids.length)}` : `Remove a tag from ${memories(ids.length)}`} close=${close}>
    <form class="stack" onSubmit=${send}>
      <label class="field">Tag <input autofocus list="known-tags" required maxlength="256" autocomplete="off" value=${tag}
        onInput=${(/** @type {any} */ event) => setTag(event.currentTarget.value)} /></label>
      <datalist id="known-tags">${known.map((each) => html`<option value=${each}></option>`)}</datalist>
      ${!adds && used.length > 0 && html`<div class="row">${used.slice(0, 20).map((each) => html`
        <button type="button" aria-pressed=${each === tag} onClick=${() => setTag(each)}><${Text} value=${each} short=${true} inert=${true} /></button>`)}</div>`}
      <div class="row"><button class="main" disabled=${!tag.trim()}>${adds ? "Add" : "Remove"}</button>
        <button type="button" onClick=${close}>Cancel</button></div>
    </form></${Dialog}>`;
}

/** @param {{count: number, close: () => void, done: (at: string) => void}} props */
function EndDialog({ count, close, done }) {
  const [day, setDay] = useState("");
  return html`<${Dialog} title=${count === 1 ? "It is no longer true" : `${memories(count)} are no longer true`} close=${close}>
    <div class="stack">
      <p>From then on ${count === 1 ? "it is not told any more. Its" : "they are not told any more. Their"} history stays: questions about earlier moments still
        find ${count === 1 ? "it" : "them"}.</p>
      <label class="field">Until when (empty = until now)
        <input autofocus type="date" value=${day} onInput=${(/** @type {any} */ event) => setDay(event.currentTarget.value)} /></label>
      <div class="row"><button class="main" onClick=${() => done(day)}>End ${memories(count)}</button><button onClick=${close}>Cancel</button></div>
    </div></${Dialog}>`;
}

/** @param {{ids: string[], listing: Listing, close: () => void, done: () => void}} props */
function ForgetDialog({ ids, listing, close, done }) {
  const [typed, type] = useState("");
  const [dry, setDry] = useState(/** @type {{answer: any, problem: any}} */ ({ answer: null, problem: null }));
  const tries = "dry_run" in optionsOf("forget");
  useEffect(() => {
    if (!tries) return undefined;
    const stop = new AbortController();
    wouldGo(ids, stop.signal).then(
      (answer) => setDry({ answer, problem: null }),
      (problem) => problem?.name !== "AbortError" && setDry({ answer: null, problem }));
    return () => stop.abort();
  }, []);
  const asks = ids.length > ASKS;
  const ready = (!tries || dry.answer) && (!asks || typed.replace(/\D/gu, "") === String(ids.length));
  return html`<${Dialog} title=${`Forget ${memories(ids.length)}?`} close=${close}>
    <div class="stack">
      <p>${ids.length === 1 ? "It is deleted for ever, with every version and everything derived from it. To keep the history, end it instead."
        : "They are deleted for ever, with every version and everything derived from them. To keep the history, end them instead."}</p>
      <ul class="going">${ids.slice(0, 5).map((id) => html`<li key=${id}>
        ${listing.records.get(id) ? html`<${Text} value=${listing.records.get(id).text} short=${true} inert=${true} />` : html`<code>${id}</code>`}</li>`)}
        ${ids.length > 5 && html`<li class="quiet">and ${(ids.length - 5).toLocaleString()} more</li>`}</ul>
      ${dry.problem ? html`<p class="wrong" role="alert">${dry.problem.message}</p>`
        : tries && !dry.answer ? html`<p class="quiet" role="status">Looking what would go…</p>`
        : dry.answer && html`<p>With ${ids.length === 1 ? "it" : "them"} go ${spoken(dry.answer)}.</p>`}
      ${asks && html`<label class="field">Type ${ids.length} to confirm
        <input autofocus inputmode="numeric" autocomplete="off" value=${typed} onInput=${(/** @type {any} */ event) => type(event.currentTarget.value)} /></label>`}
      <div class="row"><button class="danger" disabled=${!ready} onClick=${done}>Forget for ever</button><button onClick=${close}>Cancel</button></div>
    </div></${Dialog}>`;
}

/**
 * What forgetting would delete, as the engine counts it.
 * @param {string[]} ids
 * @param {AbortSignal} stop
 * @returns {Promise<Record<string, number>>}
 */
async function wouldGo(ids, stop) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (let place = 0; place < ids.length; place += 10_000) {
    const answer = await call("forget", route.value.bank, { ids: ids.slice(place, place + 10_000), dry_run: true }, stop);
    for (const [name, count] of Object.entries({ memories: answer.forgotten, ...answer.rows })) counts[name] = (counts[name] ?? 0) + count;
  }
  return counts;
}

/** @param {Record<string, number>} counts */
function spoken(counts) {
  const named = Object.entries(ROWS).filter(([name]) => counts[name]).map(([name, word]) => `${counts[name].toLocaleString()} ${word}`);
  return named.length ? new Intl.ListFormat("en").format(named) : "all their versions";
}

/** The work that goes on, and how it ended. */
export function Progress() {
  const now = job.value;
  if (!now || !session.value) return null;
  const { does, did, total, done, changed, running, stopped, waits, failures, undo } = now;
  const unchanged = done - changed - failures.length;
  return html`<section class="panel job" aria-label="Changes of many memories">
    <div class="row apart">
      <span role="status">${running ? `${does}: ${done.toLocaleString()} of ${total.toLocaleString()}${waits ? `; the server is busy, going on in ${waits} s` : ""}`
        : `${did} ${memories(changed)}.${unchanged > 0 ? ` ${unchanged.toLocaleString()} needed no change.` : ""}${stopped && done < total ? ` Stopped: ${(total - done).toLocaleString()} left as they were.` : ""}`}</span>
      <span class="row">
        ${running && html`<button disabled=${stopped} onClick=${() => { job.value = { ...now, stopped: true }; }}>${stopped ? "Stopping…" : "Stop"}</button>`}
        ${undo && html`<button onClick=${undo}>Undo</button>`}
        ${!running && html`<button class="quiet" aria-label="close this report" onClick=${() => { job.value = null; }}>✕</button>`}
      </span>
    </div>
    ${running && html`<progress max=${total} value=${done} aria-label=${does}></progress>`}
    ${failures.length > 0 && html`<details open><summary class="wrong">${memories(failures.length)} could not be changed${running ? "" : "; the rest was done"}</summary>
      <ul class="failures">${failures.slice(0, 200).map(({ id, why }) => html`<li key=${id}>
        <a href=${address("memory", { id })}><code>${id}</code></a> <${Text} value=${why} short=${true} /></li>`)}</ul></details>`}
  </section>`;
}
