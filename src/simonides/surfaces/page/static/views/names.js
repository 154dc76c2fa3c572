// People, places and things that memories mention: one of them with its memories and what stands beside it, its
// other names, and merging two that are the same.

import { call } from "../lib/api.js";
import { useKeys } from "../lib/keys.js";
import { address, change, offers, route, session, set } from "../lib/state.js";
import { Text, Time, partsOf } from "../lib/text.js";
import { Dialog, Empty, Fragment, Loaded, VirtualList, html, useAnswer, useLayoutEffect, useRef, useSearch, useState } from "../lib/ui.js";
import { MemoryTable, Moment, useSpan } from "./time.js";

const MOST = 1_000;
const ROW = 56;
/** Neighbours in the picture; the table has all. */
const AROUND = 10;

/** @typedef {{number: number, name: string, kind: string, qualifier: string, aliases: string[], mentions: number}} Entity */

/**
 * Names that hold a text, the most mentioned first.
 * @param {string} text
 * @param {string} [kind]
 * @returns {{of: any, found: Entity[]}}
 */
function useNames(text, kind = "") {
  const searches = session.value?.operations.entities.schema.properties?.named !== undefined;
  const of = useAnswer("entities", { limit: MOST, named: (searches && text.trim()) || undefined });
  const wanted = text.trim().toLowerCase();
  const found = (of.answer?.entities ?? []).filter((/** @type {Entity} */ each) =>
    (!kind || each.kind === kind) &&
    (searches || !wanted || [each.name, ...each.aliases].some((name) => name.toLowerCase().includes(wanted))));
  return { of, found };
}

/** A name in a place that shows text alone, with what cannot be seen. @param {string} name @param {number} [most] */
function plain(name, most = Infinity) {
  const shown = partsOf(name).map((part) => (part.what === "secret" ? "••••••" : part.text)).join("");
  return shown.length > most ? `${shown.slice(0, most - 1)}…` : shown;
}

/** @param {{params: Record<string, string>}} props */
export function Names({ params }) {
  const entity = Number(params.entity) || 0;
  const [typed, write] = useSearch(params.q ?? "");
  const search = useRef(/** @type {HTMLInputElement | null} */ (null));
  const { of, found } = useNames(params.q ?? "", params.kind);
  const [place, setPlace] = useState(-1);
  const kinds = [...new Set((of.answer?.entities ?? []).map((/** @type {Entity} */ each) => each.kind))].sort();
  useLayoutEffect(() => setPlace(found.findIndex((each) => each.number === entity)), [entity, of.answer, params.kind]);
  /** @param {number} step */
  const move = (step) => setPlace(Math.max(0, Math.min(found.length - 1, place + step)));
  /** @param {Entity | undefined} each */
  const open = (each) => each && set({ entity: each.number });
  useKeys({
    j: { does: "Next name", run: () => move(1) },
    k: { does: "Name before", run: () => move(-1) },
    Enter: { does: "Open the name", run: () => open(found[place]) },
    f: { does: "Search the names", run: () => search.current?.focus() },
  });
  return html`<div class=${entity ? "names one" : "names"}>
    <div class="stack names-list">
      <h1>Names</h1>
      <div class="row">
        <input ref=${search} class="grow" type="search" aria-label="Search the names" placeholder="Search the names" value=${typed}
          onInput=${(/** @type {any} */ event) => write(event.currentTarget.value)} autocomplete="off" />
        ${kinds.length > 1 && html`<select aria-label="Kind" value=${params.kind ?? ""} onChange=${(/** @type {any} */ event) => set({ kind: event.currentTarget.value || null }, true)}>
          <option value="">all kinds</option>${kinds.map((kind) => html`<option value=${kind} selected=${kind === params.kind}>${kind}</option>`)}</select>`}
      </div>
      <${Loaded} of=${of}>${() => found.length === 0
        ? html`<${Empty} title=${params.q || params.kind ? "No name is like this." : "No names yet."}>
            Names come from memories: people, places, organisations and things that they mention.</${Empty}>`
        : html`<${Fragment}>
          <p class="quiet small">${found.length.toLocaleString()} ${found.length === 1 ? "name" : "names"}, the most mentioned first${
            of.answer.entities.length === MOST ? "; search to find others" : ""}</p>
          <${VirtualList} count=${found.length} height=${ROW} selected=${place} label="Names" row=${(/** @type {number} */ at) => {
            const each = found[at];
            return html`<div role="listitem" key=${each.number} class=${at === place ? "name-row selected" : "name-row"} style=${{ height: `${ROW}px` }}>
              <a href=${address("names", { ...params, entity: each.number })} aria-current=${each.number === entity ? "true" : undefined}>
                <span class="name"><${Text} value=${each.name} short=${true} inert=${true} /></span>
                <span class="number quiet" title="memories that mention it">${each.mentions}</span>
                <span class="quiet small more">${each.kind}${each.qualifier && html`, <${Text} value=${each.qualifier} short=${true} inert=${true} />`}${
                  each.aliases.length > 0 && html` · also <${Text} value=${each.aliases.join(", ")} short=${true} inert=${true} />`}</span>
              </a></div>`;
          }} />
        </${Fragment}>`}</${Loaded}>
    </div>
    <div class="names-one">${entity
      ? html`<${One} key=${entity} number=${entity} params=${params} listed=${of.answer?.entities.find((/** @type {Entity} */ each) => each.number === entity)} />`
      : html`<${Empty} title="Choose a name.">You see what is remembered of it, and what is mentioned beside it.</${Empty}>`}</div>
  </div>`;
}

/** @param {{number: number, params: Record<string, string>, listed: Entity | undefined}} props */
function One({ number, params, listed }) {
  const whole = offers("get_entity");
  const asOf = params.as_of ?? undefined;
  const found = useAnswer(whole ? "get_entity" : listed ? "recall" : null,
    whole ? { entity: number, as_of: asOf, most: 50 } : { query: listed?.name, entity_hints: listed ? [listed.name] : undefined, as_of: asOf, limit: 20 });
  const span = useSpan();
  const gone = found.problem?.status === 404;
  const entity = found.answer?.entity ?? listed;
  return html`<div class="stack">
    <a class="back" href=${address("names", { ...params, entity: null })}>All names</a>
    ${entity && html`<${Head} entity=${entity} />`}
    <div class="panel"><${Moment} label="As of" value=${params.as_of ?? null} span=${span} hint="what was true and known then (as_of)"
      choose=${(/** @type {string | null} */ value) => set({ as_of: value }, true)} /></div>
    ${gone ? html`<${Empty} title=${asOf ? "Nothing mentioned it at this moment." : "There is no such name, or you may not read what mentions it."} />`
    : !whole && !listed ? html`<${Empty} title="This name is not in the list." />`
    : html`<${Loaded} of=${found}>${(/** @type {any} */ answer) => whole
        ? html`<${Details} answer=${answer} params=${params} />`
        : answer.hits.length === 0 ? html`<${Empty} title="Nothing mentioned it at this moment." />`
        : html`<section><h2>Memories</h2><${MemoryTable} memories=${answer.hits.map((/** @type {any} */ hit) => hit.memory)} /></section>`}</${Loaded}>`}
  </div>`;
}

/** The name, its other names, and what can be done with it. @param {{entity: Entity}} props */
function Head({ entity }) {
  const [merging, merge] = useState(false);
  const [adding, add] = useState(false);
  const [alias, setAlias] = useState("");
  const bank = route.value.bank;
  const name = plain(entity.name, 60);
  /** @param {Event} event */
  const save = async (event) => {
    event.preventDefault();
    const value = alias.trim();
    const saved = await change(() => call("add_alias", bank, { entity: entity.number, name: value }), `“${plain(value, 60)}” now means ${name}.`,
      offers("remove_alias") ? () => call("remove_alias", bank, { entity: entity.number, alias: value }) : null);
    if (!saved) return;
    add(false);
    setAlias("");
  };
  /** @param {string} value */
  const remove = (value) => change(() => call("remove_alias", bank, { entity: entity.number, alias: value }), `“${plain(value, 60)}” does not mean ${name} any more.`,
    () => call("add_alias", bank, { entity: entity.number, name: value }));
  return html`<header class="stack name-head">
    <div><h2><${Text} value=${entity.name} short=${true} /></h2>
      <span class="row"><span class="mark">${entity.kind}</span>
        ${entity.qualifier && html`<span class="quiet"><${Text} value=${entity.qualifier} short=${true} /></span>`}
        <span class="quiet">${entity.mentions} ${entity.mentions === 1 ? "memory mentions" : "memories mention"} it</span></span></div>
    <div class="row">
      <span class="quiet">Also called</span>
      ${entity.aliases.length === 0 && html`<span class="quiet">nothing else</span>`}
      ${entity.aliases.map((each) => html`<span class="alias" key=${each}><${Text} value=${each} short=${true} />${
        offers("remove_alias") && html`<button class="quiet" aria-label=${`Remove the name ${plain(each)}`} title="Remove this name" onClick=${() => remove(each)}>✕</button>`}</span>`)}
      ${offers("add_alias") && !adding && html`<button class="quiet" onClick=${() => add(true)}>Add a name</button>`}
      ${offers("merge_entities") && html`<button class="quiet" onClick=${() => merge(true)}>Merge into another…</button>`}
    </div>
    ${adding && html`<form class="row" onSubmit=${save}>
      <input aria-label="Another name" placeholder="Another name, such as a nickname" value=${alias} required maxlength="256" autocomplete="off" ref=${focusOnce}
        onInput=${(/** @type {any} */ event) => setAlias(event.currentTarget.value)} onKeyDown=${(/** @type {any} */ event) => event.key === "Escape" && (event.stopPropagation(), add(false))} />
      <button class="main">Add</button><button type="button" onClick=${() => add(false)}>Cancel</button></form>`}
    ${merging && html`<${Merge} entity=${entity} close=${() => merge(false)} />`}
  </header>`;
}

/** @param {HTMLElement | null} element */
function focusOnce(element) {
  if (element && !element.dataset.focused) {
    element.dataset.focused = "yes";
    element.focus();
  }
}

/** @param {{entity: Entity, close: () => void}} props */
function Merge({ entity, close }) {
  const [text, setText] = useState("");
  const [into, choose] = useState(/** @type {Entity | null} */ (null));
  const { of, found } = useNames(text);
  const others = found.filter((each) => each.number !== entity.number).slice(0, 8);
  const bank = route.value.bank, name = plain(entity.name, 60), other = plain(into?.name ?? "", 60);
  const merge = async () => {
    const target = /** @type {Entity} */ (into);
    close();
    const done = await change(() => call("merge_entities", bank, { entity: entity.number, into: target.number }), `${name} now counts as ${other}.`,
      offers("undo_merge") ? (answer) => call("undo_merge", bank, { merge: answer.merge }) : null);
    if (done) set({ entity: target.number });
  };
  return html`<${Dialog} title=${`Merge ${name} into another name`} close=${close}>
    <div class="stack">
      <label class="field">Which name is the same?
        <input type="search" value=${text} autocomplete="off" autofocus onInput=${(/** @type {any} */ event) => { setText(event.currentTarget.value); choose(null); }} /></label>
      <${Loaded} of=${of}>${() => others.length === 0 ? html`<p class="quiet">No other name is like this.</p>` : html`<fieldset class="others"><legend class="quiet">Choose one</legend>
        ${others.map((each) => html`<label key=${each.number}><input type="radio" name="into" checked=${into?.number === each.number} onChange=${() => choose(each)} />
          <${Text} value=${each.name} short=${true} inert=${true} /> <span class="quiet">${each.kind}, ${each.mentions}</span></label>`)}</fieldset>`}</${Loaded}>
      ${into && html`<div class="what-happens"><strong>What will happen</strong>
        <p>${name} counts as ${other} from then on: what ${entity.mentions} ${entity.mentions === 1 ? "memory says" : "memories say"} of ${name} is found
          under ${other}, which keeps its name. A question with either name finds both. No memory changes, and the merge can be undone at any time.</p>
        ${into.kind !== entity.kind && html`<p>They are of different kinds: ${entity.kind} and ${into.kind}. Are they the same?</p>`}</div>`}
      <div class="row"><button class="main" disabled=${!into} onClick=${merge}>${into ? `Merge into ${other}` : "Merge"}</button><button onClick=${close}>Cancel</button></div>
    </div>
  </${Dialog}>`;
}

/** @param {{answer: any, params: Record<string, string>}} props */
function Details({ answer, params }) {
  const bank = route.value.bank;
  /** @param {any} each */
  const undo = (each) => change(() => call("undo_merge", bank, { merge: each.merge }), `${plain(each.name, 60)} stands for itself again.`,
    offers("merge_entities") ? () => call("merge_entities", bank, { entity: each.entity, into: answer.entity.number }) : null);
  return html`<div class="stack">
    ${answer.merges.length > 0 && html`<section><h2>Merged into it</h2><div class="scroll"><table>
      <thead><tr><th>Name</th><th>Merged on</th><th><span class="unseen">Undo</span></th></tr></thead>
      <tbody>${answer.merges.map((/** @type {any} */ each) => html`<tr key=${each.merge}>
        <td><${Text} value=${each.name} short=${true} /></td><td><${Time} value=${each.at} /></td>
        <td class="number">${offers("undo_merge") && html`<button onClick=${() => undo(each)}>Undo</button>`}</td></tr>`)}</tbody></table></div></section>`}
    ${answer.neighbours.length > 0 && html`<section><h2>Mentioned beside it</h2>
      <div class="neighbours"><${Picture} entity=${answer.entity} neighbours=${answer.neighbours} params=${params} />
        <${Neighbours} neighbours=${answer.neighbours} params=${params} /></div></section>`}
    <section><h2>Memories <span class="quiet">${answer.total > answer.memories.length ? `the newest ${answer.memories.length} of ${answer.total}` : answer.total}</span></h2>
      ${answer.memories.length ? html`<${MemoryTable} memories=${answer.memories} />` : html`<${Empty} title="None that hold at this moment." />`}</section>
  </div>`;
}

/** @param {{neighbours: any[], params: Record<string, string>}} props */
function Neighbours({ neighbours, params }) {
  const most = Math.max(...neighbours.map((each) => each.together));
  return html`<div class="scroll" tabindex="0"><table>
    <thead><tr><th>Name</th><th>How they relate</th><th class="number">Memories with both</th></tr></thead>
    <tbody>${neighbours.map((each) => html`<tr key=${each.entity.number}>
      <td><a href=${address("names", { ...params, entity: each.entity.number })}><${Text} value=${each.entity.name} short=${true} inert=${true} /></a>
        <span class="quiet small"> ${each.entity.kind}</span></td>
      <td>${each.relations.length ? html`<${Text} value=${each.relations.join(", ")} short=${true} />` : html`<span class="quiet">—</span>`}</td>
      <td class="number"><meter min="0" max=${most} value=${each.together} aria-hidden="true"></meter> ${each.together}</td></tr>`)}</tbody>
  </table></div>`;
}

/**
 * The name in the middle and its neighbours around it: the bigger and nearer to twelve o'clock, the more often beside it.
 * @param {{entity: Entity, neighbours: any[], params: Record<string, string>}} props
 */
function Picture({ entity, neighbours, params }) {
  const around = neighbours.slice(0, AROUND);
  const most = Math.max(...around.map((each) => each.together));
  const name = plain(entity.name, 24), width = 28 + 9 * name.length;
  const places = around.map((each, place) => {
    const angle = (place / around.length) * 2 * Math.PI - Math.PI / 2;
    return { each, x: 300 + 145 * Math.cos(angle), y: 170 + 118 * Math.sin(angle), share: each.together / most, right: Math.cos(angle) > 0.2, left: Math.cos(angle) < -0.2, above: Math.sin(angle) < 0 };
  });
  return html`<svg class="around" viewBox="0 0 600 340" role="group" aria-label=${`Names mentioned beside ${plain(entity.name)}; the table holds the same`}>
    ${places.map(({ each, x, y, share }) => html`<line key=${each.entity.number} x1="300" y1="170" x2=${x} y2=${y} stroke-width=${1 + 5 * share} />`)}
    ${places.map(({ each, x, y, share, right, left, above }) => {
      const radius = 12 + 8 * Math.sqrt(share);
      return html`<a key=${each.entity.number} href=${address("names", { ...params, entity: each.entity.number })}>
        <circle cx=${x} cy=${y} r=${radius} />
        <text x=${right ? x + radius + 6 : left ? x - radius - 6 : x} y=${right || left ? y + 5 : above ? y - radius - 7 : y + radius + 18}
          text-anchor=${right ? "start" : left ? "end" : "middle"}>${plain(each.entity.name, 20)}</text>
        <text class="count" x=${x} y=${y + 5} text-anchor="middle">${each.together}</text></a>`;
    })}
    <rect class="middle" x=${300 - width / 2} y="152" width=${width} height="36" rx="18" />
    <text class="middle" x="300" y="175" text-anchor="middle">${name}</text>
  </svg>`;
}

