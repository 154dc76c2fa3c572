// The page: its frame, the view that the address names, and the keys that work everywhere.

import { isExport, signIn, signOut } from "./lib/api.js";
import { keysNow, useKeys } from "./lib/keys.js";
import { address, can, changes, dismiss, failed, go, notices, route, session, start } from "./lib/state.js";
import { Busy, Dialog, Empty, Fragment, html, render, useState } from "./lib/ui.js";
import { Ask } from "./views/ask.js";
import { Health } from "./views/health.js";
import { Inbox } from "./views/inbox.js";
import { Live } from "./views/live.js";
import { Memories } from "./views/memories.js";
import { Memory } from "./views/memory.js";
import { Names } from "./views/names.js";
import { TimeView } from "./views/time.js";

/** @type {Record<string, {title: string, view: any, key?: string, needsServer?: boolean, listed?: boolean}>} */
const VIEWS = {
  ask: { title: "Ask", view: Ask },
  memories: { title: "Memories", view: Memories },
  memory: { title: "One memory", view: Memory, listed: false },
  live: { title: "Live", view: Live, needsServer: true },
  inbox: { title: "Inbox", view: Inbox, needsServer: true },
  time: { title: "Time", view: TimeView, needsServer: true },
  names: { title: "Names", view: Names, needsServer: true },
  health: { title: "Health", view: Health, needsServer: true },
};

function App() {
  const [help, showHelp] = useState(false);
  useKeys({
    "/": { does: "Ask a question", run: focusQuestion },
    "?": { does: "Show the keys", run: () => showHelp(true) },
  }, "page");
  void changes.value;
  const signedIn = session.value;
  if (signedIn === undefined) return html`<${Busy} />`;
  if (signedIn === null) return html`<${Fragment}><${SignIn} /><${Notices} /></${Fragment}>`;
  const { bank, view, params } = route.value;
  const shown = Object.hasOwn(VIEWS, view) ? VIEWS[view] : VIEWS.ask;
  document.title = `${shown.title} · ${bank || "no bank"} · simonides`;
  return html`<${Fragment}>
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href=${address("ask")}>simonides</a>
      <${Banks} />
      <nav aria-label="Views">${Object.entries(VIEWS).map(([name, each]) =>
        each.listed !== false && !(isExport && each.needsServer) &&
        html`<a href=${address(name)} aria-current=${name === view ? "page" : undefined}>${each.title}</a>`)}
      </nav>
      <span class="who">
        ${!can("write") && html`<span class="mark">read-only</span>`}
        <button class="quiet" onClick=${() => showHelp(true)}>Keys <kbd>?</kbd></button>
        ${!isExport && html`<button class="quiet" onClick=${leave}>Sign out</button>`}
      </span>
    </header>
    <main id="main" tabindex="-1">
      ${bank && signedIn.banks.includes(bank)
        ? html`<${shown.view} key=${`${bank}/${view}`} params=${params} />`
        : html`<${Empty} title=${bank ? `There is no bank “${bank}” here.` : "This store holds no bank yet."}>
            Store something first: <code>simonides retain "The flat is in Oslo."</code></${Empty}>`}
    </main>
    <${Notices} />
    ${help && html`<${Dialog} title="Keys" close=${() => showHelp(false)}>
      <dl class="keys">${Object.entries(keysNow()).map(([key, each]) =>
        html`<${Fragment}><dt><kbd>${key === " " ? "Space" : key}</kbd></dt><dd>${each.does}</dd></${Fragment}>`)}
      </dl></${Dialog}>`}
  </${Fragment}>`;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function focusQuestion() {
  const box = /** @type {HTMLElement | null} */ (document.querySelector("[data-question]"));
  if (box) box.focus();
  else go("ask");
}

async function leave() {
  try {
    await signOut();
    session.value = null;
  } catch (error) {
    failed(error);
  }
}

function Banks() {
  const { bank, view } = route.value;
  const banks = session.value?.banks ?? [];
  if (banks.length < 2) return html`<span class="bank">${bank}</span>`;
  return html`<select aria-label="Bank" value=${bank}
    onChange=${(/** @type {any} */ event) => go(view === "memory" ? "memories" : view, {}, { bank: event.currentTarget.value })}>
    ${banks.map((name) => html`<option value=${name} selected=${name === bank}>${name}</option>`)}
  </select>`;
}

function SignIn() {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const used = new URLSearchParams(location.search).get("link") === "used";
  /** @param {Event} event */
  const enter = async (event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(token);
      await start();
    } catch (error) {
      const problem = /** @type {any} */ (error);
      failed(problem.status === 401 ? { message: problem.message } : problem);
    }
    setBusy(false);
  };
  return html`<main class="sign-in" id="main">
    <h1>simonides</h1>
    ${used && html`<p role="alert">This link was used already, or is older than ten minutes. Run <code>simonides ui</code> again.</p>`}
    <p>Open the link that <code>simonides ui</code> prints, or sign in with a token of this server.</p>
    <form onSubmit=${enter}>
      <label>Token <input type="password" autocomplete="off" spellcheck=${false} value=${token} required
        onInput=${(/** @type {any} */ event) => setToken(event.currentTarget.value)} /></label>
      <button class="main" disabled=${busy}>Sign in</button>
    </form>
    <p class="quiet">Make a token with <code>simonides token create --bank default</code>. A token that allows only to
      read gives a page that only shows.</p>
  </main>`;
}

function Notices() {
  return html`<div class="notices" role="status" aria-live="polite">${notices.value.map((each) => html`
    <div key=${each.number} class=${each.wrong ? "notice wrong" : "notice"}>
      <span>${each.text}</span>
      ${each.undo && html`<button onClick=${() => { dismiss(each.number); void each.undo?.(); }}>Undo</button>`}
      <button class="quiet" aria-label="close this notice" onClick=${() => dismiss(each.number)}>✕</button>
    </div>`)}
  </div>`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
void start();
