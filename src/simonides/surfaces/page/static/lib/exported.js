// The bank inside a page that was written to disk: what answers in place of a server.

/**
 * @typedef {{session: import("./api.js").Session, memories: any[], histories: Record<string, any[]>,
 *   entities: any[], stats: any}} Exported
 */

/** @type {Exported | null | undefined} */
let exported;

/** @returns {Exported | null} the bank inside the page, if it was written to disk */
export function exportedBank() {
  if (exported === undefined) {
    const held = document.getElementById("exported-bank");
    exported = held ? JSON.parse(held.textContent || "") : null;
  }
  return /** @type {Exported | null} */ (exported);
}

/**
 * The answer of one reading operation; a question is answered by the words that a memory holds.
 * @param {string} name
 * @param {Record<string, any>} values
 * @returns {Promise<any>}
 */
export async function answerFromExport(name, values) {
  const bank = /** @type {Exported} */ (exportedBank());
  switch (name) {
    case "list_memories":
      return { memories: bank.memories, omitted: 0, next: null };
    case "get_memory":
      return { memory: bank.memories.find((each) => each.id === values.memory) ?? null, omitted: 0 };
    case "history":
      return { id: values.memory, versions: bank.histories[values.memory] ?? [], omitted: 0 };
    case "entities":
      return { entities: bank.entities };
    case "stats":
      return bank.stats;
    case "recall":
      return wordsFound(bank.memories, String(values.query));
    default:
      throw new Error("This page was written to disk: it shows memories and changes none.");
  }
}

/**
 * @param {any[]} memories
 * @param {string} query
 */
function wordsFound(memories, query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const counted = memories
    .map((memory) => {
      const text = memory.text.toLowerCase();
      return { memory, count: words.filter((word) => text.includes(word)).length };
    })
    .filter((each) => each.count > 0)
    .sort((one, other) => other.count - one.count || (one.memory.id < other.memory.id ? -1 : 1))
    .slice(0, 10);
  const hits = counted.map(({ memory, count }, place) => ({
    rank: place + 1, id: memory.id, text: memory.text, kind: memory.kind, relevance: null, earlier: false,
    score: count / words.length, scored_by: "words", tokens: 0, ranks: {}, channel_scores: {}, signals: {}, memory,
  }));
  return {
    id: "", hits, context: hits.map((hit) => hit.text).join("\n"), omitted: [], no_match: hits.length === 0,
    no_match_reasons: [], confidence: null, band: hits.length ? "match" : "none", precision: "wide",
    told: hits.length,
  };
}
