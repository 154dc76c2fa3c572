import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function TimeView({ params }) {
  return html`<${Empty} title=${"time " + JSON.stringify(params)} />`;
}
