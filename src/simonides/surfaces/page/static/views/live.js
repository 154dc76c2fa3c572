import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Live({ params }) {
  return html`<${Empty} title=${"live " + JSON.stringify(params)} />`;
}
