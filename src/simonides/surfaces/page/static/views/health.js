// How the bank is: damage, sizes and settings, what maintenance did and would do, the audit log, and copies.

import { Problem, call, requestOf } from "../lib/api.js";
import { address, change, failed, offers, route, session, set } from "../lib/state.js";
import { Text, Time } from "../lib/text.js";
import { Busy, Empty, Failure, Fragment, Loaded, html, useAnswer, useEffect, useRef, useState } from "../lib/ui.js";
import { MemoryLink, useTexts } from "./live.js";

const ROWS = 50;

/**
 * What a path of this server answers, with the session.
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<Response>}
 */
async function ask(path, signal) {
  const response = await fetch(path, { credentials: "same-origin", signal }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Start it again with: simonides ui");
  });
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Problem(response.status, told.detail || response.statusText, Number(response.headers.get("retry-after")) || 0);
}

/**
 * The answer of a path as *read* makes it, asked again by *again*.
 * @param {string} path
 * @param {(response: Response) => Promise<any>} read
 * @returns {{answer: any, problem: any, busy: boolean, again: () => void}}
 */
function usePath(path, read) {
  const [state, setState] = useState({ answer: null, problem: null, busy: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    ask(path, stop.signal).then(read).then((answer) => setState({ answer, problem: null, busy: false }))
      .catch((problem) => stop.signal.aborted || setState({ answer: null, problem, busy: false }));
    return () => stop.abort();
  }, [path, turn]);
  return { ...state, again: () => setTurn(turn + 1) };
}

/** @type {[string, string, () => boolean, any][]} */
const PARTS = [
  ["state", "State", () => true, StatePart],
  ["maintenance", "Maintenance", () => offers("maintain") || offers("moves"), MaintenancePart],
  ["log", "Audit log", () => offers("audit_entries"), LogPart],
  ["server", "Server", () => true, ServerPart],
  ["copies", "Copies", () => offers("export") || offers("backup"), CopiesPart],
];

/** @param {{params: Record<string, string>}} props */
export function Health({ params }) {
  const parts = PARTS.filter(([, , allowed]) => allowed());
  const [shown, , , part] = parts.find(([name]) => name === params.part) ?? parts[0];
  return html`<div class="stack health">
    <div class="row apart"><h1>Health</h1><span class="quiet">simonides ${session.value?.version}</span></div>
    <nav class="parts" aria-label="Parts of health">${parts.map(([name, title]) =>
      html`<a key=${name} href=${address("health", { part: name === "state" ? null : name })} aria-current=${name === shown ? "page" : undefined}>${title}</a>`)}</nav>
    <${part} params=${params} />
  </div>`;
}

/** A heading with what it is about. @param {{title: string, children?: any, action?: any}} props */
function Section({ title, children, action = null }) {
  return html`<section class="panel stack"><div class="row apart"><h2>${title}</h2>${action}</div>${children}</section>`;
}

// -- state

function StatePart() {
  const stats = useAnswer("stats", {});
  return html`<${Fragment}>
    <${Verify} />
    <${Loaded} of=${stats}>${(/** @type {any} */ answer) => html`<${Stats} stats=${answer} />`}</${Loaded}>
  </${Fragment}>`;
}

/** @type {Record<string, string>} */
const CHECKED = {
  file: "parts of the file", rows: "rows", reembedding: "rows of a move to another model", seals: "checksums", changes: "changes",
  index_files: "files of the index", arrays: "arrays of the index", accesses: "uses", upkeep: "records of maintenance", forgetting: "records of forgetting",
  graph: "parts of the graph of names", vectors: "vectors", entities: "names", links: "links",
};

function Verify() {
  const [state, setState] = useState(/** @type {{answer: any, problem: any, busy: boolean}} */ ({ answer: null, problem: null, busy: false }));
  const bank = route.value.bank;
  const verify = async () => {
    setState({ answer: null, problem: null, busy: true });
    try {
      setState({ answer: await call("verify", bank), problem: null, busy: false });
    } catch (problem) {
      setState({ answer: null, problem, busy: false });
    }
  };
  const { answer, problem, busy } = state;
  return html`<${Section} title="Check for damage" action=${html`<button class="main" disabled=${busy} onClick=${verify}>${busy ? "Checking…" : answer ? "Check again" : "Check now"}</button>`}>
    <div aria-live="polite">
      ${busy ? html`<${Busy} />`
      : problem ? html`<${Failure} problem=${problem} />`
      : !answer ? html`<p class="quiet">Compares every row with its checksum, and everything that is made from the rows with the rows. It changes nothing.</p>`
      : html`<div class="stack">
        <p class="verdict"><span class=${`mark ${answer.ok ? "match" : "none"}`}>${answer.ok ? "No damage" : "Damaged"}</span>
          ${answer.ok ? "Everything is as it was stored." : "Restore a copy, or rebuild what is made from the rows with: simonides verify --repair"}</p>
        ${answer.problems.length > 0 && html`<ul>${answer.problems.map((/** @type {string} */ each) => html`<li class="wrong"><${Text} value=${each} /></li>`)}</ul>`}
        ${answer.notes.length > 0 && html`<ul>${answer.notes.map((/** @type {string} */ each) => html`<li><${Text} value=${each} /></li>`)}</ul>`}
        ${Object.keys(answer.checked).length > 0 && html`<p class="quiet small">Checked: ${Object.entries(answer.checked).filter(([, count]) => Number(count) > 0).map(([name, count]) =>
          `${CHECKED[name] ?? name.replaceAll("_", " ")} ${Number(count).toLocaleString()}`).join(", ")}.</p>`}
      </div>`}
    </div>
  </${Section}>`;
}

/** @param {number} bytes */
function asSize(bytes) {
  const step = bytes < 1_000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** step).toLocaleString(undefined, { maximumFractionDigits: step ? 1 : 0 })} ${["bytes", "kB", "MB", "GB", "TB"][step]}`;
}

/** @param {{stats: any}} props */
function Stats({ stats }) {
  const owner = "memories" in stats;
  /** @param {string} name */
  const count = (name) => (stats[name] === undefined ? null : Number(stats[name]).toLocaleString());
  const missing = stats.versions - stats.with_vector;
  const enrichment = stats.enrichment ?? {};
  const settings = stats.ttl_defaults ?? {};
  const told = [["every memory", settings.bank], ...Object.entries(settings.kinds ?? {})].filter(([, each]) => each)
    .map(([kind, each]) => `${kind}: ${typeof each.ttl === "number" ? `${(each.ttl / 86_400).toLocaleString()} days` : each.ttl}, then ${each.on_expiry}`);
  /** @type {[string, string, string | null][]} */
  const holds = [
    ["Memories that hold now", "current", count("current")],
    ["Memories in all, with ended ones", "memories", count("memories")],
    ["Their versions", "versions", count("versions")],
    ["Texts that they come from", "episodes", count("episodes")],
    ["Names", "entities", count("entities")],
    ["Links between memories", "links", count("links")],
    ["Memories with a time to live", "with_ttl", count("with_ttl")],
    ["On disk", "disk_bytes", stats.disk_bytes === undefined ? null : asSize(stats.disk_bytes)],
  ];
  /** @type {[string, string, string | null][]} */
  const settled = [
    ["Time to live of new memories", "ttl_defaults", told.join("; ") || "none"],
    ["Encrypted", "encrypted", stats.encrypted ? "yes" : "no"],
    ["Opened only to read", "read_only", stats.read_only ? "yes" : "no"],
    ["Learned word weights", "sparse_encoder", stats.sparse_encoder || "none"],
  ];
  /** @type {[string, string, string | null][]} */
  const files = [
    ["Changes since it was made", "sequence", count("sequence")],
    ["Index files: generation", "generation", count("generation")],
    ["Index files: blocks", "blocks", count("blocks")],
    ["Rows not yet in index files", "tail_rows", `${count("tail_rows")}, searched all the same`],
    ["Database engine", "sqlite", stats.sqlite],
  ];
  if (!owner) return html`<${Section} title="What it holds"><${Facts} rows=${holds} /><p class="quiet">Sizes and settings are told to the owner alone.</p></${Section}>`;
  return html`<div class="stack">
    ${stats.problems.length > 0 && html`<div class="state wrong" role="alert"><strong>The index has a problem; asking works all the same</strong>
      ${stats.problems.map((/** @type {string} */ each) => html`<p><${Text} value=${each} /></p>`)}</div>`}
    <div class="columns">
      <div class="stack">
      <${Section} title="What it holds"><${Facts} rows=${holds} /></${Section}>
      <${Section} title="Settings"><${Facts} rows=${settled} /></${Section}>
      </div>
      <div class="stack">
      <${Section} title="Search by meaning">
        <p>${stats.embedder ? html`Each memory has a vector of the model <code><${Text} value=${stats.embedder} short=${true} /></code> (${stats.dimension} numbers).` : "No model is set: memories are found by words and names alone."}</p>
        ${stats.embedder && html`<p><meter min="0" max=${Math.max(1, stats.versions)} value=${stats.with_vector} aria-label="versions with a vector"></meter>
          ${" "}${count("with_vector")} of ${count("versions")} versions have one${missing > 0 ? html`; <strong>${missing.toLocaleString()} are missing</strong> and are found by words alone` : ""}</p>`}
        ${stats.following_embedder && html`<p><span class="mark weak">moving</span> to the model <code><${Text} value=${stats.following_embedder} short=${true} /></code>; until then the old one answers</p>`}
        <h3>Work that waits</h3>
        <ul class="waits">
          <li>${stats.waiting ? html`<span class="mark weak">${count("waiting")}</span> rows wait to be linked to their neighbours
            ${offers("settle") && html` <${Settle} />`}` : "No row waits to be linked to its neighbours."}</li>
          <li>${enrichment.waiting ? html`<span class="mark weak">${enrichment.waiting}</span> memories wait for a language model` : "No memory waits for a language model."}</li>
          ${enrichment.given_up > 0 && html`<li><span class="mark none">${enrichment.given_up}</span> were given up
            ${(enrichment.problems ?? []).map((/** @type {any} */ each) => html`<div class="quiet"><${Text} value=${typeof each === "string" ? each : JSON.stringify(each)} /></div>`)}</li>`}
        </ul>
      </${Section}>
      <${Section} title="Files"><${Facts} rows=${files} /></${Section}>
      </div>
    </div>
  </div>`;
}

/** Rows of a table: what, the engine's word for it, and the value. @param {{rows: [string, string, string | null][]}} props */
function Facts({ rows }) {
  return html`<table class="facts"><tbody>${rows.map(([label, name, value]) => value !== null &&
    html`<tr key=${name}><th scope="row" title=${name}>${label}</th><td><${Text} value=${String(value)} short=${true} /></td></tr>`)}</tbody></table>`;
}

function Settle() {
  const bank = route.value.bank;
  return html`<button onClick=${() => change(() => call("settle", bank, {}), "Linked.")}>Link them now</button>`;
}

// -- maintenance

/** @type {Record<string, string>} */
const ACTIONS = {
  promote: "Promoted", archive: "Archived", erase: "Erased", return: "Taken back out of the archive", observe: "Summed up", update: "Summary renewed",
  withdraw: "Summary withdrawn", close: "Replaced", stale: "Out of date", continue: "Continued",
};

/** @param {{params: Record<string, string>}} props */
function MaintenancePart({ params }) {
  return html`<${Fragment}>
    ${offers("maintain") && html`<${Maintain} />`}
    ${offers("moves") && html`<${Moves} params=${params} />`}
  </${Fragment}>`;
}

function Maintain() {
  const profiles = session.value?.operations.maintain.schema.properties?.profile?.enum ?? [];
  const [profile, setProfile] = useState("default");
  const [state, setState] = useState(/** @type {{answer: any, problem: any, busy: boolean}} */ ({ answer: null, problem: null, busy: false }));
  const bank = route.value.bank;
  const look = async () => {
    setState({ answer: null, problem: null, busy: true });
    try {
      setState({ answer: await call("maintain", bank, { profile, dry_run: true }), problem: null, busy: false });
    } catch (problem) {
      setState({ answer: null, problem, busy: false });
    }
  };
  const run = async () => {
    /** @type {any} */
    let done = null;
    setState({ ...state, busy: true });
    await change(async () => (done = await call("maintain", bank, { profile })), "Maintenance is done.", offers("undo_move") ? (answer) => undoAll(bank, answer.steps) : null);
    setState({ answer: done, problem: null, busy: false });
  };
  const { answer, problem, busy } = state;
  return html`<${Section} title="Maintenance">
    <p class="quiet">Promotes memories that are used, archives old ones, sums up what was said often, and ends what has expired. See it first: nothing is
      written until you run it.</p>
    <div class="row">
      <button class=${answer?.dry_run && answer.steps.length ? "" : "main"} disabled=${busy} onClick=${look}>See what it would do</button>
      ${answer?.dry_run && answer.steps.length > 0 && html`<button class="main" disabled=${busy} onClick=${run}>Do these ${answer.steps.length.toLocaleString()} steps</button>`}
      <label title="whose numbers decide what is old or used (profile)">By the profile <select value=${profile} onChange=${(/** @type {any} */ event) => {
        setProfile(event.currentTarget.value);
        setState({ answer: null, problem: null, busy: false });
      }}>${profiles.map((/** @type {string} */ each) => html`<option value=${each} selected=${each === profile}>${each}</option>`)}</select></label>
    </div>
    <div aria-live="polite">
      ${busy ? html`<${Busy} />` : problem ? html`<${Failure} problem=${problem} />` : answer && html`<${Steps} answer=${answer} />`}
    </div>
  </${Section}>`;
}

/** Take back the moves that steps made, the newest first. @param {string} bank @param {any[]} steps */
async function undoAll(bank, steps) {
  const made = new Set(steps.map((step) => `${step.action} ${step.memory}`));
  const { moves } = await call("moves", bank, {});
  const open = moves.filter((/** @type {any} */ move) => !move.undone_at && made.has(`${move.action} ${move.memory}`));
  if (!open.length) throw new Error("None of these steps can be taken back.");
  for (const move of open.sort((/** @type {any} */ one, /** @type {any} */ other) => other.number - one.number)) {
    await call("undo_move", bank, { number: move.number });
  }
}

/** @param {{answer: any}} props */
function Steps({ answer }) {
  const [most, setMost] = useState(ROWS);
  const texts = useTexts(answer.steps.slice(0, most).map((/** @type {any} */ step) => step.memory).filter(Boolean));
  if (!answer.steps.length) return html`<p><span class="mark match">Nothing to do</span></p>`;
  return html`<div class="stack">
    <p>${answer.dry_run ? "It would do" : "It did"} ${answer.steps.length.toLocaleString()} ${answer.steps.length === 1 ? "step" : "steps"}${answer.left > 0 ? `; ${answer.left.toLocaleString()} wait for the next run` : ""}.</p>
    <div class="scroll" tabindex="0"><table><thead><tr><th>What</th><th>Memory</th><th>Before → after</th><th>Why</th></tr></thead>
      <tbody>${answer.steps.slice(0, most).map((/** @type {any} */ step) => html`<tr>
        <td>${ACTIONS[step.action] ?? step.action}</td><td>${step.memory ? html`<${MemoryLink} id=${step.memory} text=${texts[step.memory]} />` : html`<span class="quiet">a new one</span>`}</td>
        <td><${Text} value=${step.was || "—"} short=${true} /> → <${Text} value=${step.became || "—"} short=${true} /></td><td><${Text} value=${step.reason} short=${true} /></td></tr>`)}</tbody></table></div>
    ${answer.steps.length > most && html`<div><button onClick=${() => setMost(most + 500)}>Show more</button></div>`}
  </div>`;
}

/** Whether somebody ended a memory, and no newer one did. @param {any} move */
function byHand(move) {
  return move.action === "close" && !move.became;
}

/** @param {{params: Record<string, string>}} props */
function Moves({ params }) {
  const found = useAnswer("moves", {});
  const [most, setMost] = useState(ROWS);
  const moves = (found.answer?.moves ?? []).filter((/** @type {any} */ each) => !params.action || each.action === params.action)
    .sort((/** @type {any} */ one, /** @type {any} */ other) => other.number - one.number);
  const texts = useTexts(moves.slice(0, most).flatMap((/** @type {any} */ move) => (move.action === "close" && move.became ? [move.memory, move.became] : [move.memory])));
  const bank = route.value.bank;
  return html`<${Section} title="What was done, and why">
    <${Loaded} of=${found}>${(/** @type {any} */ answer) => {
      const kinds = [...new Set(answer.moves.map((/** @type {any} */ each) => each.action))].sort();
      if (!answer.moves.length) return html`<${Empty} title="Nothing was promoted, archived or replaced yet." />`;
      return html`<div class="stack">
        ${kinds.length > 1 && html`<div class="row choices" role="group" aria-label="Show only">
          <button aria-pressed=${!params.action} onClick=${() => set({ action: null }, true)}>Everything</button>
          ${kinds.map((/** @type {any} */ kind) => html`<button key=${kind} aria-pressed=${params.action === kind} onClick=${() => set({ action: kind }, true)}>${ACTIONS[kind] ?? kind}</button>`)}</div>`}
        <div class="scroll" tabindex="0"><table><thead><tr><th>When</th><th>What</th><th>Memory</th><th>Before → after</th><th>Why</th><th><span class="unseen">Undo</span></th></tr></thead>
          <tbody>${moves.slice(0, most).map((/** @type {any} */ move) => html`<tr key=${move.number} class=${move.undone_at ? "undone" : ""}>
            <td><${Time} value=${move.made_at} /></td><td>${byHand(move) ? "Ended" : (ACTIONS[move.action] ?? move.action)}</td><td><${MemoryLink} id=${move.memory} text=${texts[move.memory]} /></td>
            <td>${byHand(move) ? "—" : move.action === "close" ? html`→ <${MemoryLink} id=${move.became} text=${texts[move.became]} />` : html`<${Text} value=${move.was || "—"} short=${true} /> → <${Text} value=${move.became || "—"} short=${true} />`}</td>
            <td><${Text} value=${move.reason} short=${true} /></td>
            <td class="number">${move.undone_at ? html`<span class="quiet">undone <${Time} value=${move.undone_at} /></span>`
              : offers("undo_move") && html`<button onClick=${() => change(() => call("undo_move", bank, { number: move.number }), "Undone.")}>Undo</button>`}</td></tr>`)}</tbody></table></div>
        ${moves.length > most && html`<div><button onClick=${() => setMost(most + 500)}>Show more</button></div>`}
      </div>`;
    }}</${Loaded}>
  </${Section}>`;
}

// -- the audit log

/** @param {{params: Record<string, string>}} props */
function LogPart({ params }) {
  const reads = params.log === "reads";
  const most = Number(params.most) || ROWS;
  const found = useAnswer("audit_entries", { most, recalls: reads });
  return html`<${Fragment}>
    <${CheckLog} />
    <${Section} title=${reads ? "Who read" : "Who changed"} action=${html`<div class="row choices" role="group" aria-label="Which log">
        <button aria-pressed=${!reads} onClick=${() => set({ log: null }, true)}>Changes</button>
        <button aria-pressed=${reads} onClick=${() => set({ log: "reads" }, true)}>Reads</button></div>`}>
      <p class="quiet">Who and what was asked stand here as keyed hashes: equal ones are the same. No text is logged.</p>
      <${Loaded} of=${found}>${(/** @type {any} */ answer) => answer.entries.length === 0
        ? html`<${Empty} title="The log is empty.">Start it with <code>${reads ? "simonides audit recalls" : "simonides audit start"}</code>.</${Empty}>`
        : html`<div class="stack"><div class="scroll" tabindex="0"><table>
          <thead><tr><th class="number">Row</th><th>When</th><th>Who</th><th>What</th><th>${reads ? "Memories" : "Changes"}</th>${reads && html`<th>Question</th>`}</tr></thead>
          <tbody>${answer.entries.map((/** @type {any} */ each) => html`<tr key=${each.number}>
            <td class="number">${each.number}</td><td><${Time} value=${new Date(each.at / 1_000).toISOString()} /></td>
            <td>${each.actor ? html`<code title=${each.actor}>${each.actor.slice(0, 12)}</code>` : "the owner"}</td><td>${each.verb}</td>
            <td>${reads ? html`<${Ids} ids=${each.ids} />` : each.first === each.last ? each.first : `${each.first} to ${each.last}`}</td>
            ${reads && html`<td>${each.query ? html`<code title=${each.query}>${each.query.slice(0, 12)}</code>` : "—"}</td>`}</tr>`)}</tbody></table></div>
          ${answer.entries.length === most && html`<div><button onClick=${() => set({ most: most + 500 }, true)}>Show more</button></div>`}</div>`}</${Loaded}>
    </${Section}>
  </${Fragment}>`;
}

/** @param {{ids: string[]}} props */
function Ids({ ids }) {
  if (!ids.length) return "—";
  return html`<details><summary>${ids.length}</summary>${ids.map((id) => html`<div><${MemoryLink} id=${id} /></div>`)}</details>`;
}

function CheckLog() {
  const [anchor, setAnchor] = useState("");
  const [state, setState] = useState(/** @type {{answer: any, problem: any, busy: boolean}} */ ({ answer: null, problem: null, busy: false }));
  const bank = route.value.bank;
  /** @param {Event} event */
  const verify = async (event) => {
    event.preventDefault();
    setState({ answer: null, problem: null, busy: true });
    try {
      setState({ answer: await call("audit_verify", bank, { anchor: anchor.trim() || undefined }), problem: null, busy: false });
    } catch (problem) {
      setState({ answer: null, problem, busy: false });
    }
  };
  const { answer, problem, busy } = state;
  return html`<${Section} title="Check the log">
    <form class="row" onSubmit=${verify}>
      <button class="main" disabled=${busy}>${busy ? "Checking…" : "Check every row"}</button>
      <input class="grow" aria-label="A head that you kept" placeholder="A head that you kept elsewhere (optional)" value=${anchor} autocomplete="off" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => setAnchor(event.currentTarget.value)} />
    </form>
    <div aria-live="polite">${busy ? html`<${Busy} />` : problem?.status === 404 ? html`<${Empty} title="This bank keeps no audit log."><${Text} value=${problem.message} /></${Empty}>`
      : problem ? html`<${Failure} problem=${problem} />`
      : answer && html`<p class="verdict"><span class=${`mark ${answer.ok ? "match" : "none"}`}>${answer.ok ? "Whole" : "Not whole"}</span>
        ${answer.entries.toLocaleString()} changes and ${answer.recalls.toLocaleString()} reads were checked.</p>
        ${answer.problems.map((/** @type {string} */ each) => html`<p class="wrong"><${Text} value=${each} /></p>`)}
        <p class="quiet small">Head of the changes: <code>${answer.head || "none"}</code>. Keep it elsewhere; later you can check that nothing before it was altered.</p>`}</div>
  </${Section}>`;
}

// -- the server

function ServerPart() {
  const ready = usePath("/health/ready", (response) => response.json());
  return html`<${Fragment}>
    <${Section} title="The server">
      <${Loaded} of=${ready}>${(/** @type {any} */ answer) => html`<p class="verdict"><span class=${`mark ${answer.degraded.length ? "weak" : "match"}`}>${
        answer.degraded.length ? "Works, with less" : "Ready"}</span> Version ${session.value?.version}</p>
        ${answer.degraded.map((/** @type {string} */ each) => html`<p><${Text} value=${each} /></p>`)}
        <p class="quiet">You are ${session.value?.principal ? html`<${Text} value=${session.value.principal} short=${true} />` : "the owner"}, and may ${list((session.value?.verbs ?? []).map((verb) => (verb === "admin" ? "administer" : verb)))}.</p>`}</${Loaded}>
    </${Section}>
    ${session.value?.principal
      ? html`<p class="quiet">The numbers of the server count the requests of all tokens; only a token of the owner sees them.</p>`
      : html`<${Numbers} />`}
  </${Fragment}>`;
}

/** @param {string[]} words */
function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function Numbers() {
  const found = usePath("/metrics", (response) => response.text().then(readMetrics));
  if (found.problem?.status === 403) return html`<p class="quiet">Your token does not allow the numbers of the server. <${Text} value=${found.problem.message} /></p>`;
  return html`<${Section} title="Requests since the server was started" action=${html`<button onClick=${found.again}>Again</button>`}>
    <${Loaded} of=${found}>${(/** @type {ReturnType<typeof readMetrics>} */ { operations, jobs }) => {
      const sum = (/** @type {"requests" | "errors"} */ name) => operations.reduce((all, each) => all + each[name], 0);
      return html`<div class="stack">
        <p class="row numbers"><span><strong>${sum("requests").toLocaleString()}</strong> requests</span>
          <span><strong class=${sum("errors") ? "wrong" : ""}>${sum("errors").toLocaleString()}</strong> refused or failed</span>
          <span><strong>${jobs.toLocaleString()}</strong> run now or wait</span></p>
        <div class="scroll" tabindex="0"><table><thead><tr><th>Operation</th><th class="number">Requests</th><th class="number" title="also those that the caller gave up">Refused or failed</th>
            <th class="number" title="mean time of an answer">Mean</th><th class="number" title="95 of 100 answers took at most about this">95 of 100 within</th></tr></thead>
          <tbody>${operations.map((each) => html`<tr key=${each.name}><td>${each.name === "-" ? html`<span class="quiet">refused before any</span>` : html`<code>${each.name}</code>`}</td>
            <td class="number">${each.requests.toLocaleString()}</td>
            <td class=${each.errors ? "number wrong" : "number quiet"}>${each.errors.toLocaleString()}</td>
            <td class="number">${each.mean === null ? "—" : asTime(each.mean)}</td>
            <td class="number">${each.within === null ? "—" : each.within === Infinity ? "over 60 s" : asTime(each.within)}</td></tr>`)}</tbody></table></div>
      </div>`;
    }}</${Loaded}>
  </${Section}>`;
}

/** @param {number} seconds */
function asTime(seconds) {
  return seconds < 1 ? `${(seconds * 1_000).toLocaleString(undefined, { maximumFractionDigits: 1 })} ms` : `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
}

/**
 * A few numbers of the text format of Prometheus.
 * @param {string} text
 */
export function readMetrics(text) {
  /** @type {Map<string, {name: string, requests: number, errors: number, sum: number, count: number, buckets: [number, number][]}>} */
  const found = new Map();
  let jobs = 0;
  for (const line of text.split("\n")) {
    const parts = /^(simonides_\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!parts) continue;
    const [, name, given = "", number] = parts;
    const labels = Object.fromEntries([...given.matchAll(/(\w+)="([^"]*)"/g)].map((each) => [each[1], each[2]]));
    const value = Number(number);
    if (name === "simonides_jobs") jobs = value;
    if (!labels.operation) continue;
    const each = found.get(labels.operation) ?? { name: labels.operation, requests: 0, errors: 0, sum: 0, count: 0, buckets: [] };
    found.set(labels.operation, each);
    if (name === "simonides_requests_total") {
      each.requests += value;
      if (Number(labels.status) >= 400) each.errors += value;
    } else if (name === "simonides_request_seconds_sum") each.sum = value;
    else if (name === "simonides_request_seconds_count") each.count = value;
    else if (name === "simonides_request_seconds_bucket") each.buckets.push([labels.le === "+Inf" ? Infinity : Number(labels.le), value]);
  }
  const operations = [...found.values()].map(({ sum, count, buckets, ...rest }) => ({
    ...rest,
    mean: count ? sum / count : null,
    within: count ? (buckets.find(([, below]) => below >= 0.95 * count)?.[0] ?? null) : null,
  }));
  return { jobs, operations: operations.sort((one, other) => other.requests - one.requests || (one.name < other.name ? -1 : 1)) };
}

// -- copies

function CopiesPart() {
  return html`<${Section} title="Copies">
    <p class="quiet">Each copy is the whole bank as of one moment, with every version. It holds every text: keep it as safe as the bank.</p>
    ${offers("export") && html`<${Copy} operation="export" title="Lines of JSON" ending="jsonl">Readable by any program; read back with <code>simonides import FILE</code>.</${Copy}>`}
    ${offers("backup") && html`<${Copy} operation="backup" title="One database file" ending="simonides">The quickest to go back to: <code>simonides restore FILE</code>.</${Copy}>`}
  </${Section}>`;
}

/** @param {{operation: string, title: string, ending: string, children?: any}} props */
function Copy({ operation, title, ending, children }) {
  const [received, setReceived] = useState(/** @type {number | null} */ (null));
  const stop = useRef(/** @type {AbortController | null} */ (null));
  const bank = route.value.bank;
  useEffect(() => () => stop.current?.abort(), []);
  const load = async () => {
    const known = session.value?.operations[operation];
    if (!known) return;
    stop.current = new AbortController();
    setReceived(0);
    try {
      const response = await ask(requestOf(known, bank, {}).path, stop.current.signal);
      const parts = [];
      let size = 0;
      const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        parts.push(part.value);
        setReceived((size += part.value.length));
      }
      save(new Blob(parts, { type: response.headers.get("content-type") ?? "" }), `${bank}-${new Date().toISOString().slice(0, 10)}.${ending}`);
    } catch (error) {
      failed(error);
    }
    setReceived(null);
  };
  return html`<div class="copy-row">
    <div><h3>${title}</h3><p class="quiet">${children}</p></div>
    ${received === null
      ? html`<button class="main" onClick=${load} aria-label=${`Download: ${title}`}>Download</button>`
      : html`<span class="row" role="status">${asSize(received)} <button onClick=${() => stop.current?.abort()}>Stop</button></span>`}
  </div>`;
}

/** Hand a file to the browser. @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
