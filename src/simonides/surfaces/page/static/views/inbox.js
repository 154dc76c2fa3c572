import { Empty, html } from "../lib/ui.js";

/** @param {{params: Record<string, string>}} props */
export function Inbox({ params }) {
  return html`<${Empty} title=${"inbox " + JSON.stringify(params)} />`;
}
