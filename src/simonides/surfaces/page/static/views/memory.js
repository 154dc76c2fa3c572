// One memory: its text, why it came, when it was learned, what it replaced, and what can be done with it.

import { call } from "../lib/api.js";
import { useKeys } from "../lib/keys.js";
import { address, can, change, failed, go, offers } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { CopyRequest, Dialog, Empty, Fragment, Loaded, html, useAnswer, useLayoutEffect, useRef, useState } from "../lib/ui.js";
import { wordDifference } from "../lib/difference.js";

/** @param {{params: Record<string, string>}} props */
export function Memory({ params }) {
  if (!params.id) return html`<${Empty} title="No memory is chosen." />`;
  return html`<div class="stack"><h1 class="unseen">One memory</h1><${MemoryCard} key=${params.id} id=${params.id} whole=${true} /></div>`;
}

/**
 * The state of a memory in words.
 * @param {any} memory
 */
export function Marks({ memory }) {
  const past = memory.valid_to && new Date(memory.valid_to) <= new Date();
  return html`<${Fragment}>
    ${memory.superseded_by ? html`<span class="mark weak" title="a newer statement replaced it">replaced</span>`
      : past && html`<span class="mark weak" title="true only until then">ended</span>`}
    ${memory.standing ? html`<span class="mark" title="leads every context that asks for standing memories">always told</span>`
      : memory.pinned && html`<span class="mark" title="kept from ageing, first in a brief">pinned</span>`}
    ${memory.archived && html`<span class="mark" title="found only when archived memories are asked for">archived</span>`}
    ${memory.kind === "quarantine" && html`<span class="mark none" title="told to nobody until it is released">quarantined</span>`}
  </${Fragment}>`;
}

/**
 * A memory with its history and its actions. *hit* and *explanation* say why it came, when a question found it.
 * @param {{id: string, whole?: boolean, hit?: any, explanation?: any, close?: (() => void) | null}} props
 */
export function MemoryCard({ id, whole = false, hit = null, explanation = null, close = null }) {
  const found = useAnswer("get_memory", { memory: id });
  if (found.problem?.status === 404) return html`<section class="panel" aria-label="One memory"><${Empty} title="This memory is not there any more." /></section>`;
  return html`<section class="panel card" aria-label="One memory">
    <${Loaded} of=${found}>${(/** @type {any} */ answer) =>
      answer.memory === null
        ? html`<${Empty} title="This memory is not there any more." />`
        : html`<${Card} memory=${answer.memory} whole=${whole} hit=${hit} explanation=${explanation} close=${close} />`}
    </${Loaded}>
  </section>`;
}

/** @param {{memory: any, whole: boolean, hit: any, explanation: any, close: (() => void) | null}} props */
function Card({ memory, whole, hit, explanation, close }) {
  const [editing, edit] = useState(false);
  const [asking, ask] = useState(/** @type {"" | "end" | "forget"} */ (""));
  const writes = can("write");
  useKeys({
    ...(writes && !editing ? { e: { does: "Correct this memory", run: () => edit(true) } } : {}),
    ...(editing || close ? { Escape: { does: "Close", run: () => (editing ? edit(false) : close?.()) } } : {}),
  });
  const archive = () => change(
    () => call("archive", bankOf(), { ids: [memory.id] }), "Archived.", offers("undo_move") ? () => undoLast(memory.id) : null);
  return html`<${Fragment}>
    <div class="row apart">
      <h2>${whole ? "One memory" : html`<a href=${address("memory", { id: memory.id })}>This memory</a>`}</h2>
      <span class="row"><${Marks} memory=${memory} />${close && html`<button class="quiet" aria-label="close this memory" onClick=${close}>✕</button>`}</span>
    </div>
    ${editing
      ? html`<${Editor} memory=${memory} done=${() => edit(false)} />`
      : html`<p class="statement"><${Text} value=${memory.text} /></p>`}
    ${!editing && html`<div class="row actions">
      ${writes && html`<button class="main" onClick=${() => edit(true)}>Correct <kbd>e</kbd></button>`}
      ${writes && html`<button onClick=${() => pin(memory)}>${memory.pinned ? "Unpin" : "Pin"}</button>`}
      ${writes && !memory.valid_to && html`<button onClick=${() => ask("end")}>It is no longer true</button>`}
      ${offers("archive") && !memory.archived && html`<button onClick=${archive}>Archive</button>`}
      ${can("forget") && html`<button class="danger" onClick=${() => ask("forget")}>Forget</button>`}
    </div>`}
    ${asking === "end" && html`<${EndDialog} memory=${memory} close=${() => ask("")} />`}
    ${asking === "forget" && html`<${ForgetDialog} memory=${memory} close=${() => ask("")} />`}
    ${explanation && html`<${Why} hit=${hit} explanation=${explanation} />`}
    <${Facts} memory=${memory} />
    <${History} id=${memory.id} />
    <${Source} id=${memory.id} text=${memory.text} />
    ${whole && html`<${CopyRequest} operation="get_memory" values=${{ memory: memory.id }} />`}
  </${Fragment}>`;
}

function bankOf() {
  return decodeURIComponent(location.hash.replace(/^#\/?/, "").split("/")[0]);
}

/** @param {any} memory */
function pin(memory) {
  const [name, back] = memory.pinned ? ["unpin", "pin"] : ["pin", "unpin"];
  const always = memory.standing ? { always: true } : {};
  return change(
    () => call(name, bankOf(), { memory: memory.id }), memory.pinned ? "Unpinned." : "Pinned.",
    () => call(back, bankOf(), { memory: memory.id, ...(back === "pin" ? always : {}) }));
}

/** Take back the newest move of a memory. @param {string} id */
async function undoLast(id) {
  const { moves } = await call("moves", bankOf(), { memory: id });
  const open = moves.filter((/** @type {any} */ move) => !move.undone_at);
  if (!open.length) throw new Error("The engine holds no step that could be taken back.");
  return call("undo_move", bankOf(), { number: Math.max(...open.map((/** @type {any} */ move) => move.number)) });
}

/** @param {{memory: any, close: () => void}} props */
function EndDialog({ memory, close }) {
  const [day, setDay] = useState("");
  const end = async () => {
    close();
    await change(
      () => call("invalidate", bankOf(), { memory: memory.id, ...(day ? { at: day } : {}) }), "Ended: it is told only of the time before.",
      offers("undo_move") ? () => undoLast(memory.id) : null);
  };
  return html`<${Dialog} title="It is no longer true" close=${close}>
    <p>From then on it is not told any more. Its history stays, and questions about earlier moments still find it.</p>
    <label class="field">Until when was it true? (empty = until now)
      <input type="date" value=${day} onInput=${(/** @type {any} */ event) => setDay(event.currentTarget.value)} /></label>
    <div class="row"><button class="main" onClick=${end}>End it</button><button onClick=${close}>Cancel</button></div>
  </${Dialog}>`;
}

/** @param {{memory: any, close: () => void}} props */
function ForgetDialog({ memory, close }) {
  const forget = async () => {
    close();
    await change(() => call("forget", bankOf(), { ids: [memory.id] }), "Forgotten, with every version.");
  };
  return html`<${Dialog} title="Forget this memory?" close=${close}>
    <p><${Text} value=${memory.text} short=${true} /></p>
    <p>Its ${memory.version === 1 ? "text is" : `${memory.version} versions are`} deleted for ever, with everything derived from it.
      To keep the history, end it instead.</p>
    <div class="row"><button class="danger" onClick=${forget}>Forget for ever</button><button onClick=${close}>Cancel</button></div>
  </${Dialog}>`;
}

/**
 * Correct the text. If somebody else changed the memory meanwhile, both texts are shown and nothing is lost.
 * @param {{memory: any, done: () => void}} props
 */
export function Editor({ memory, done }) {
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [text, setText] = useState(memory.text);
  const [base, setBase] = useState(memory);
  const [theirs, setTheirs] = useState(/** @type {any} */ (null));
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, []);
  const save = async () => {
    const bank = bankOf();
    try {
      await call("get_memory", bank, { memory: base.id }).then(({ memory: now }) => {
        if (now && now.version !== base.version) throw Object.assign(new Error("changed"), { status: 409 });
      });
      const saved = await change(
        () => call("update_memory", bank, { memory: base.id, text, expected_version: base.version }), "Corrected.",
        (now) => call("update_memory", bank, { memory: base.id, text: base.text, expected_version: now.memory.version }));
      if (saved) done();
    } catch (error) {
      if (/** @type {any} */ (error).status !== 409) return failed(error);
      setTheirs((await call("get_memory", bank, { memory: base.id })).memory);
    }
    return undefined;
  };
  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void save();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      done();
    }
  };
  return html`<div class="stack editor">
    ${theirs && html`<div class="state wrong" role="alert">
      <strong>Somebody changed this memory meanwhile.</strong>
      <p>Now it says: <${Text} value=${theirs.text} /></p>
      <div class="row">
        <button onClick=${() => { setBase(theirs); setTheirs(null); }}>Keep mine, as a newer version</button>
        <button onClick=${done}>Keep theirs</button>
      </div></div>`}
    <textarea ref=${box} rows="3" aria-label="Text of the memory" value=${text} onKeyDown=${key}
      onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea>
    <div class="row">
      <button class="main" disabled=${!text.trim() || text === base.text || Boolean(theirs)} onClick=${save}>Save <kbd>Ctrl</kbd> <kbd>Enter</kbd></button>
      <button onClick=${done}>Cancel</button>
      <span class="quiet">The text before stays in the history.</span>
    </div>
  </div>`;
}

/** @type {Record<string, string>} */
const CHANNELS = { dense: "its meaning is near", lexical: "it holds words of the question", graph: "it is about the same names", temporal: "its time fits" };

/** @param {{hit: any, explanation: any}} props */
function Why({ hit, explanation }) {
  const reasons = Object.entries(explanation.ranks).map(([channel, rank]) => `${CHANNELS[channel] ?? channel} (${channel}: place ${rank})`);
  const notes = explanation.verdicts.filter((/** @type {any} */ each) => each.note);
  return html`<div>
    <h3>Why it came</h3>
    <ul class="plain">
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
      ${notes.map((/** @type {any} */ each) => html`<li><code>${each.stage}</code>: ${each.note}</li>`)}
    </ul>
    <details><summary>Every stage</summary>
      <div class="scroll" tabindex="0"><table>
        <thead><tr><th>Stage</th><th>What it did</th><th class="number">Place</th><th class="number">Score</th></tr></thead>
        <tbody>${explanation.verdicts.map((/** @type {any} */ each) => html`<tr>
          <td><code>${each.stage}</code> <span class="quiet">${each.shape}</span></td><td>${each.verdict}</td>
          <td class="number">${each.rank ?? "—"}</td><td class="number">${each.score === null ? "—" : each.score.toFixed(3)}</td></tr>`)}
        </tbody></table></div>
      ${hit?.earlier && html`<p>A newer hit states another value of the same.</p>`}
    </details>
  </div>`;
}

/** @param {{memory: any}} props */
function Facts({ memory }) {
  const replaces = useAnswer(offers("moves") ? "moves" : null, {});
  const before = (replaces.answer?.moves ?? []).filter((/** @type {any} */ move) => move.became === memory.id && !move.undone_at);
  const own = (replaces.answer?.moves ?? []).filter((/** @type {any} */ move) => move.memory === memory.id && !move.undone_at);
  /** @type {[string, any][]} */
  const rows = [
    ["Learned on", html`<${Time} value=${memory.ingested_at} />`],
    ["What it tells of", memory.event_time && html`<${Time} value=${memory.event_time} precision=${memory.event_precision} />`],
    ["True", memory.valid_to
      ? html`<${Time} value=${memory.valid_from} /> – <${Time} value=${memory.valid_to} />`
      : html`since <${Time} value=${memory.valid_from} none="ever" />`],
    ["Replaced by", memory.superseded_by && html`<a href=${address("memory", { id: memory.superseded_by })}><${TextOf} id=${memory.superseded_by} /></a>
      ${own.map((/** @type {any} */ move) => html` <span class="quiet">rule: <${Text} value=${move.reason} short=${true} /></span> <${Undo} move=${move} />`)}`],
    ["It replaced", before.length > 0 && html`<ul class="plain">${before.map((/** @type {any} */ move) => html`<li>
      <a href=${address("memory", { id: move.memory })}><${TextOf} id=${move.memory} /></a>
      <span class="quiet"> rule: <${Text} value=${move.reason} short=${true} /></span> <${Undo} move=${move} /></li>`)}</ul>`],
    ["Kind", memory.kind],
    ["Tags", memory.tags.length > 0 && memory.tags.map((/** @type {string} */ tag) => html`<span class="mark"><${Text} value=${tag} short=${true} /></span> `)],
    ["Project", memory.project && html`<${Text} value=${memory.project} short=${true} />`],
    ["Said by", memory.speaker && html`<${Text} value=${memory.speaker} short=${true} />`],
    ["Stored by", memory.author && html`<${Text} value=${memory.author} short=${true} />`],
    ["Who may read it", memory.acl.length > 0 && memory.acl.join(", ")],
    ["Stated", memory.proof_count > 1 && `${memory.proof_count} times`],
    ["Used", memory.access_count > 0 && `${memory.access_count} times`],
    ["Trust", memory.trust < 1 && memory.trust],
    ["Deleted on", memory.expires_at && html`<${Time} value=${memory.expires_at} />`],
    ["Id", html`<code>${memory.id}</code>, version ${memory.version}`],
  ];
  return html`<div><h3>What is known of it</h3><dl class="facts">${rows.map(([name, value]) =>
    value && html`<${Fragment}><dt>${name}</dt><dd>${value}</dd></${Fragment}>`)}</dl></div>`;
}

/** @param {{move: any}} props */
function Undo({ move }) {
  if (!offers("undo_move")) return null;
  return html`<button class="quiet" onClick=${() => change(() => call("undo_move", bankOf(), { number: move.number }), "Undone: both hold again.")}>Undo this</button>`;
}

/** The text of another memory, by id. @param {{id: string}} props */
function TextOf({ id }) {
  const found = useAnswer("get_memory", { memory: id });
  return found.answer?.memory ? html`<${Text} value=${found.answer.memory.text} short=${true} />` : html`<code>${id}</code>`;
}

/** The versions as a timeline, each with what changed. @param {{id: string}} props */
function History({ id }) {
  const found = useAnswer("history", { memory: id });
  const versions = found.answer?.versions ?? [];
  if (versions.length < 2) return null;
  return html`<div><h3>${versions.length} versions</h3>
    <ol class="timeline">${versions.map((/** @type {any} */ each, /** @type {number} */ place) => html`<li>
      <div class="quiet"><${Time} value=${each.ingested_at} /> ${each.author && html`by <${Text} value=${each.author} short=${true} />`}</div>
      ${place === 0 ? html`<${Text} value=${each.text} />`
        : each.text === versions[place - 1].text ? html`<span class="quiet">${labelsChanged(versions[place - 1], each)}</span>`
        : wordDifference(versions[place - 1].text, each.text)}
    </li>`)}</ol></div>`;
}

/** @param {any} before @param {any} after */
function labelsChanged(before, after) {
  const names = Object.keys(after).filter((name) =>
    !["version", "ingested_at", "expired_at", "expansion", "salience"].includes(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return names.length ? `changed: ${names.map((name) => name.replaceAll("_", " ")).join(", ")}` : "stated again";
}

/** Where the statement stands in what was said. @param {{id: string, text: string}} props */
function Source({ id, text }) {
  const [open, setOpen] = useState(false);
  const found = useAnswer(open && offers("source") ? "source" : null, { memory: id });
  const source = found.answer?.source;
  return html`<details onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary>What was said, word for word</summary>
    ${source ? html`<pre>${source.text === text ? html`<${Text} value=${source.text} />` : html`<${Text} value=${source.text.slice(0, source.start)} /><mark><${Text} value=${source.text.slice(source.start, source.stop)} /></mark><${Text} value=${source.text.slice(source.stop)} />`}</pre>
      <p class="quiet">${source.document && html`document <${Text} value=${source.document} short=${true} />`} ${source.session && html`session <${Text} value=${source.session} short=${true} />`}
        recorded <${Time} value=${source.recorded_at} /></p>`
    : open && !found.busy && html`<p class="quiet">Its source is not kept.</p>`}
  </details>`;
}

export { bankOf, undoLast, go };
