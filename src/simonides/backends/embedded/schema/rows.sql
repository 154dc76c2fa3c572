
-- Every digest is made by a trigger (see ``seals``), but for that of memories. It is as long as its default,
-- so the trigger writes into the row where it lies.
-- One row: what identifies the bank and where its counters stand.
CREATE TABLE meta(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  bank TEXT NOT NULL,
  epoch TEXT NOT NULL,              -- renewed by whatever replaces rows wholesale
  sequence INTEGER NOT NULL,        -- of the last change
  log_hash BLOB NOT NULL,           -- running hash of the change log
  generation INTEGER NOT NULL,      -- of the index files; 0 = none
  next_ordinal INTEGER NOT NULL,    -- ordinals are never reused
  last_ingested INTEGER NOT NULL,
  embedder INTEGER REFERENCES embedders(number),
  analyser TEXT NOT NULL,           -- fingerprint of what made memories.terms
  numbers TEXT NOT NULL DEFAULT '', -- the last row number that each table has given
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

CREATE TABLE embedders(
  number INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

-- Raw sources, verbatim. Author and trust are stamped by the store, never by the caller.
CREATE TABLE episodes(
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  source TEXT NOT NULL,
  document TEXT NOT NULL,           -- the caller's id of the document it belongs to; empty = none
  session TEXT NOT NULL,            -- the conversation it belongs to; empty = none
  speaker TEXT NOT NULL,
  author TEXT NOT NULL,             -- principal who retained it; empty = the owner
  trust REAL NOT NULL,
  recorded_at INTEGER NOT NULL,
  text_digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE INDEX episodes_by_document ON episodes(document) WHERE document <> '';
CREATE INDEX episodes_by_session ON episodes(session) WHERE session <> '';

-- Spans of an episode (characters, half-open).
CREATE TABLE chunks(
  number INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL REFERENCES episodes(number) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  stop INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE INDEX chunks_by_episode ON chunks(episode);

-- Names behind the codes in columns; 0 is the empty name and the empty set.
CREATE TABLE labels(
  number INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE TABLE label_sets(
  number INTEGER PRIMARY KEY,
  names TEXT NOT NULL UNIQUE,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

-- Append-only versions. Times are microseconds since 1970 UTC; open ends are the int64 limits.
CREATE TABLE memories(
  ordinal INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  root INTEGER NOT NULL,            -- ordinal of the memory's first version
  chunk INTEGER NOT NULL REFERENCES chunks(number),
  kind TEXT NOT NULL,
  layer TEXT NOT NULL,
  text TEXT NOT NULL,
  context TEXT NOT NULL,
  relation TEXT NOT NULL,
  expansion TEXT NOT NULL,          -- questions that the memory answers
  path INTEGER NOT NULL REFERENCES labels(number),
  project INTEGER NOT NULL REFERENCES labels(number),
  tags INTEGER NOT NULL REFERENCES label_sets(number),
  acl INTEGER NOT NULL REFERENCES label_sets(number),
  valid_from INTEGER NOT NULL,
  valid_from_precision TEXT NOT NULL,
  valid_to INTEGER NOT NULL,
  valid_to_precision TEXT NOT NULL,
  ingested_at INTEGER NOT NULL,
  expired_at INTEGER NOT NULL,
  occurred_from INTEGER,
  occurred_to INTEGER,
  occurred_precision TEXT,
  salience REAL NOT NULL,
  confidence REAL NOT NULL,
  proof_count INTEGER NOT NULL,
  access_count INTEGER NOT NULL,
  last_access INTEGER,
  source TEXT NOT NULL,
  metadata TEXT NOT NULL,
  superseded_by TEXT NOT NULL,      -- id of the memory that closed this one; empty = none
  state INTEGER NOT NULL,           -- records.state: pinned, archived, consolidated
  signature BLOB NOT NULL,          -- MinHash of the text
  terms BLOB NOT NULL,              -- analysed terms: a rebuild decodes, it never tokenises again
  content_key BLOB NOT NULL,        -- equal for items that say the same in every respect
  digest BLOB NOT NULL,             -- of everything in the row but expired_at, and of its vector
  end_digest BLOB NOT NULL DEFAULT (x'0000000000000000'), -- of expired_at
  UNIQUE(id, version)
) STRICT;
CREATE INDEX memories_by_content ON memories(content_key);
CREATE INDEX memories_by_chunk ON memories(chunk);
CREATE INDEX memories_by_occurrence ON memories(occurred_from) WHERE occurred_from IS NOT NULL;

CREATE TABLE vectors(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders(number),
  scale REAL NOT NULL,
  codes BLOB NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(ordinal, embedder)
) STRICT, WITHOUT ROWID;

-- The embedder that the bank is going over to; no row = it stays with the one it has.
CREATE TABLE reembedding(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  embedder INTEGER NOT NULL REFERENCES embedders(number),
  begun_at INTEGER NOT NULL,
  linked INTEGER NOT NULL,          -- rows below it have their links by the vectors of that embedder
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

-- Token vectors of a text, for late interaction: a bit per dimension, token after token.
CREATE TABLE token_codes(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders(number),
  codes BLOB NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(ordinal, embedder)
) STRICT, WITHOUT ROWID;

-- What makes the learned sparse terms of this bank; no row before the first.
CREATE TABLE sparse_encoder(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  fingerprint TEXT NOT NULL,
  name TEXT NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE TABLE sparse_terms(
  ordinal INTEGER PRIMARY KEY REFERENCES memories(ordinal) ON DELETE CASCADE,
  terms BLOB NOT NULL,              -- scale float32, ids uint16, codes uint8
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

-- Who and what is spoken of. Scope = readers (a label set) that may know of it; the qualifier tells two
-- bearers of one name apart.
CREATE TABLE entities(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  kind TEXT NOT NULL,
  scope INTEGER NOT NULL REFERENCES label_sets(number),
  qualifier TEXT NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  UNIQUE(folded, scope, qualifier)
) STRICT;
CREATE TABLE aliases(
  folded TEXT NOT NULL,
  name TEXT NOT NULL,
  entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  added_at INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(folded, entity)
) STRICT, WITHOUT ROWID;
-- One entity counts as another from merged_at until undone_at.
CREATE TABLE merges(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  into_entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  merged_at INTEGER NOT NULL,
  undone_at INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

CREATE TABLE mentions(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  entity INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  UNIQUE(ordinal, entity)
) STRICT;
CREATE INDEX mentions_by_entity ON mentions(entity);

-- Relations that a memory states surely.
CREATE TABLE relations(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  name TEXT NOT NULL,
  subject INTEGER NOT NULL REFERENCES entities(number) ON DELETE CASCADE,
  object TEXT NOT NULL,             -- folded
  single_valued INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(ordinal, name, subject, object)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_by_subject ON relations(subject, name);

-- Numbers of mentions and links are never reused: readers go on from the last one they saw.
-- Between memories, by the ordinals of their first versions; the source is the later one.
CREATE TABLE links(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  source INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('semantic', 'causal', 'temporal', 'session')),
  weight REAL NOT NULL,
  embedder INTEGER NOT NULL DEFAULT 0,  -- whose vectors found it; 0 = it needs none
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  UNIQUE(source, target, kind, embedder)
) STRICT;
CREATE INDEX links_by_target ON links(target);

-- A retain that was acknowledged under a key is answered again, not done again.
CREATE TABLE idempotency(
  key TEXT PRIMARY KEY,
  body BLOB NOT NULL,
  ids TEXT NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT, WITHOUT ROWID;

-- Work that follows a write: linking after a bulk import, enrichment by a language model.
CREATE TABLE jobs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  task TEXT NOT NULL,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  tries INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  problem TEXT NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  UNIQUE(task, ordinal)
) STRICT;
CREATE INDEX jobs_by_ordinal ON jobs(ordinal);

-- Memories that a language model has been asked about, by the ordinals of their first versions.
CREATE TABLE enrichments(
  ordinal INTEGER PRIMARY KEY REFERENCES memories(ordinal) ON DELETE CASCADE,
  base INTEGER NOT NULL,            -- the last version that has nothing of a model's
  model TEXT NOT NULL,              -- the one that was asked last
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;

-- That a memory was of use, by the ordinal of its first version. Numbers are never reused.
CREATE TABLE accesses(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  accessed_at INTEGER NOT NULL,     -- when it was recorded
  principal INTEGER NOT NULL REFERENCES labels(number),
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE INDEX accesses_by_ordinal ON accesses(ordinal);
-- What maintenance or its owner did to a memory, by the ordinal of its first version; undone_at = forever
-- while it stands. Values are layers, states and names that the memory itself holds.
CREATE TABLE moves(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  action TEXT NOT NULL CHECK (action IN ('promote', 'archive', 'return', 'stale')),
  was TEXT NOT NULL,
  became TEXT NOT NULL,
  reason TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  undone_at INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE INDEX moves_by_ordinal ON moves(ordinal);
-- What an observation rests on, and what speaks against it, by the ordinals of first versions.
CREATE TABLE evidence(
  observation INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  source INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  stance TEXT NOT NULL CHECK (stance IN ('for', 'against')),
  known_from INTEGER NOT NULL,
  known_to INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(observation, source, known_from)
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_by_source ON evidence(source);
-- Recalls without their words, and what they returned.
CREATE TABLE impressions(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  recall TEXT NOT NULL UNIQUE,
  principal INTEGER NOT NULL REFERENCES labels(number),
  made_at INTEGER NOT NULL,
  embedder TEXT NOT NULL,           -- fingerprint of what made the codes; empty = none
  scale REAL NOT NULL,
  codes BLOB NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
CREATE TABLE shown(
  impression INTEGER NOT NULL REFERENCES impressions(number) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  features BLOB NOT NULL,
  accessed INTEGER NOT NULL,
  used INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(impression, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_by_ordinal ON shown(ordinal);

-- What happened, in order; ids only, so that forgetting a text leaves nothing of it here.
CREATE TABLE changes(
  sequence INTEGER PRIMARY KEY,
  operation TEXT NOT NULL CHECK (operation IN ('add', 'expire', 'erase', 'link', 'name', 'use')),
  ordinal INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  log_hash BLOB NOT NULL
) STRICT;

-- Who changed what: one row a transaction, ids and hashes only, each sealed over the one before it.
CREATE TABLE audit(
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,              -- keyed hash of the principal; empty = the owner
  verb TEXT NOT NULL,
  first INTEGER NOT NULL,           -- changes of this transaction: first to last; first > last = none
  last INTEGER NOT NULL,
  log_hash BLOB NOT NULL,           -- of the change log after the last one
  seal BLOB NOT NULL                -- HMAC-SHA256 over the row and the seal before it
) STRICT;

CREATE INDEX changes_of_names ON changes(sequence) WHERE operation IN ('name', 'erase');
