import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Memory({ params }) {
  return html`<${Empty} title=${"memory " + JSON.stringify(params)} />`;
}
