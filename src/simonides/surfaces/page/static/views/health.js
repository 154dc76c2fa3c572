import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Health({ params }) {
  return html`<${Empty} title=${"health " + JSON.stringify(params)} />`;
}
