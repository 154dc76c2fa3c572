import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Ask({ params }) {
  return html`<${Empty} title=${"ask " + JSON.stringify(params)} />`;
}
