// A picture of the stages of a recall: the time of each, and the rank of each memory from its channel to the end.

import { Text } from "../lib/text.js";
import { Loaded, html, useAnswer, useState } from "../lib/ui.js";

const WIDTH = 720, LEFT = 150, STEP = 26, RANKS = 10;

/** @param {{answer: any, values: Record<string, any>}} props */
export function Stages({ answer, values }) {
  const wide = useAnswer("recall", { ...values, precision: "wide", limit: RANKS });
  const most = Math.max(...answer.trace.stages.map((/** @type {any} */ stage) => stage.milliseconds), 0.001);
  return html`<div class="stack">
    <div class="scroll" tabindex="0" role="region" aria-label="Time of each stage"><table class="stages">
      <thead><tr><th>Stage</th><th></th><th>Time</th><th class="number">ms</th><th class="number">Memories after it</th></tr></thead>
      <tbody>${answer.trace.stages.map((/** @type {any} */ stage) => html`<tr>
        <td><code>${stage.name}</code></td><td class="quiet">${stage.shape}</td>
        <td><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width=${(100 * stage.milliseconds) / most} height="8" /></svg></td>
        <td class="number">${stage.milliseconds.toFixed(2)}</td><td class="number">${stage.count}${stage.reason && html` <span class="quiet">${stage.reason}</span>`}</td>
      </tr>`)}</tbody></table></div>
    <${Loaded} of=${wide}>${(/** @type {any} */ found) => html`<${Ranks} answer=${found} />`}</${Loaded}>
  </div>`;
}

/** Ranks of the ten best at each stage that ordered them. @param {{answer: any}} props */
function Ranks({ answer }) {
  const [chosen, choose] = useState("");
  const explanations = (answer.explanations ?? []).slice(0, RANKS);
  if (!explanations.length) return null;
  const stages = explanations[0].verdicts.map((/** @type {any} */ each) => each.stage);
  /** @param {number} place @param {number} rank */
  const at = (place, rank) => [LEFT + (place * (WIDTH - LEFT - 20)) / Math.max(1, stages.length - 1), 20 + (Math.min(rank, RANKS + 1) - 1) * STEP];
  const height = 20 + (RANKS + 1) * STEP + 90;
  return html`<figure class="ranks">
    <figcaption>Place of each memory, from where it was found to the end (precision wide). Choose a line to see its text.</figcaption>
    <div class="scroll" tabindex="0" role="region" aria-label="Places of the memories at each stage">
    <svg viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label=${`Places of ${explanations.length} memories over ${stages.length} stages; the table above and each memory's own list hold the same numbers`}>
      ${Array.from({ length: RANKS }, (_, n) => html`<text x=${LEFT - 12} y=${24 + n * STEP} text-anchor="end" class="tick">${n + 1}</text>`)}
      <text x=${LEFT - 12} y=${24 + RANKS * STEP} text-anchor="end" class="tick">lower</text>
      ${stages.map((/** @type {string} */ name, /** @type {number} */ place) => {
        const [x] = at(place, 1);
        return html`<text transform=${`translate(${x} ${30 + (RANKS + 1) * STEP}) rotate(40)`} class="tick">${name}</text>`;
      })}
      ${explanations.map((/** @type {any} */ each) => {
        const points = each.verdicts.flatMap((/** @type {any} */ verdict, /** @type {number} */ place) => (verdict.rank ? [at(place, verdict.rank)] : []));
        return html`<g class=${each.id === chosen ? "rank chosen" : "rank"} onClick=${() => choose(each.id)}>
          <polyline points=${points.map((/** @type {number[]} */ [x, y]) => `${x},${y}`).join(" ")} />
          ${points.map((/** @type {number[]} */ [x, y]) => html`<circle cx=${x} cy=${y} r="4" />`)}</g>`;
      })}
    </svg></div>
    <label>Memory <select value=${chosen} onChange=${(/** @type {any} */ event) => choose(event.currentTarget.value)}>
      <option value="">none</option>${explanations.map((/** @type {any} */ each, /** @type {number} */ place) => html`<option value=${each.id}>${place + 1}: ${each.id}</option>`)}
    </select></label>
    ${chosen && html`<p><${Text} value=${answer.hits.find((/** @type {any} */ hit) => hit.id === chosen)?.text ?? ""} /></p>`}
  </figure>`;
}
