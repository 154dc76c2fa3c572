// A listing that is read page by page while somebody scrolls. Ids of all rows stay; records of rows far from those
// in view are let go and read again when they come into view, so that a long listing stays light.

/**
 * @typedef {{records: any[], next: string | null, scores?: Map<string, number | null>}} Page
 */

const MOST_RECORDS = 10_000;

export class Listing {
  /**
   * @param {(cursor: string | null, signal: AbortSignal) => Promise<Page>} read
   * @param {() => void} changed called when there is something new to show
   */
  constructor(read, changed) {
    this.read = read;
    this.changed = changed;
    /** @type {{cursor: string | null, ids: string[]}[]} */
    this.pages = [];
    /** Place of the first row of each page. @type {number[]} */
    this.starts = [];
    this.count = 0;
    /** @type {Map<string, any>} */
    this.records = new Map();
    /** @type {Map<string, number | null>} */
    this.scores = new Map();
    /** @type {string | null | undefined} undefined = nothing was read yet */
    this.next = undefined;
    /** @type {any} */
    this.problem = null;
    this.busy = false;
    /** @type {Set<number>} pages that are being read again */
    this.asked = new Set();
    this.stopping = new AbortController();
  }

  /** Whether there is something to show: rows, or that there are none. */
  get begun() {
    return this.next !== undefined || this.problem !== null;
  }

  stop() {
    this.stopping.abort();
  }

  /** Read the next page, if there is one. */
  async more() {
    if (this.busy || this.next === null || this.problem) return;
    this.busy = true;
    const cursor = this.next ?? null;
    try {
      const page = await this.read(cursor, this.stopping.signal);
      this.keep(page.records, page.scores);
      this.pages.push({ cursor, ids: page.records.map((record) => record.id) });
      this.next = page.next;
      this.recount();
    } catch (error) {
      this.fail(error);
    }
    this.busy = false;
    this.changed();
  }

  again() {
    this.problem = null;
    void this.more();
  }

  /** @param {number} place @returns {[number, number]} page, and place in it */
  find(place) {
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return [low, place - this.starts[low]];
  }

  /** @param {number} place @returns {string | undefined} */
  id(place) {
    if (place < 0 || place >= this.count) return undefined;
    const [page, within] = this.find(place);
    return this.pages[page].ids[within];
  }

  /** @param {number} from @param {number} to the last one, too */
  ids(from = 0, to = this.count - 1) {
    const found = [];
    for (let place = from; place <= to; place++) found.push(/** @type {string} */ (this.id(place)));
    return found;
  }

  /** The record of a row; undefined while it is read again. @param {number} place */
  record(place) {
    const id = this.id(place);
    const record = id === undefined ? undefined : this.records.get(id);
    if (record === undefined && id !== undefined) void this.reread(this.find(place)[0]);
    return record;
  }

  /** A record changed. @param {any} record */
  patch(record) {
    if (!this.records.has(record.id)) return;
    this.records.set(record.id, record);
    this.changed();
  }

  /** Take rows out. @param {Set<string>} gone */
  drop(gone) {
    for (const page of this.pages) page.ids = page.ids.filter((id) => !gone.has(id));
    for (const id of gone) this.records.delete(id);
    this.recount();
    // A cursor names the last row before it, which may be gone now.
    this.pages.forEach((page, place) => {
      if (page.cursor && gone.has(page.cursor)) page.cursor = this.id(this.starts[place] - 1) ?? null;
    });
    if (this.next && gone.has(this.next)) this.next = this.id(this.count - 1) ?? undefined;
    this.changed();
  }

  /** @param {any} error */
  fail(error) {
    if (error?.name !== "AbortError") this.problem = error;
  }

  recount() {
    this.starts = [];
    this.count = 0;
    for (const page of this.pages) {
      this.starts.push(this.count);
      this.count += page.ids.length;
    }
  }

  /** @param {any[]} records @param {Page["scores"]} scores */
  keep(records, scores) {
    for (const record of records) this.records.set(record.id, record);
    for (const [id, score] of scores ?? []) this.scores.set(id, score);
    if (this.records.size <= MOST_RECORDS) return;
    const near = new Set(records.map((record) => record.id));
    let over = this.records.size - MOST_RECORDS / 2;
    for (const id of this.records.keys()) {
      if (over-- <= 0) break;
      if (!near.has(id)) this.records.delete(id);
    }
  }

  /** @param {number} place of a page */
  async reread(place) {
    if (this.asked.has(place) || this.problem) return;
    this.asked.add(place);
    const page = this.pages[place];
    try {
      const { records, scores } = await this.read(page.cursor, this.stopping.signal);
      const wanted = new Set(page.ids);
      this.keep(records.filter((record) => wanted.has(record.id)), scores);
      // What is not there any more, or stands on another page now.
      for (const id of page.ids) if (!this.records.has(id)) this.records.set(id, null);
    } catch (error) {
      this.fail(error);
    }
    this.asked.delete(place);
    this.changed();
  }
}
