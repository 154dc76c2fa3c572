import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Memories({ params }) {
  return html`<${Empty} title=${"memories " + JSON.stringify(params)} />`;
}
