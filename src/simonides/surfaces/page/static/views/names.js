import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Names({ params }) {
  return html`<${Empty} title=${"names " + JSON.stringify(params)} />`;
}
