
-- Subject and attribute of what a text states, folded; the text says the value. Of the last version alone.
CREATE TABLE statements(
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  attribute TEXT NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000'),
  PRIMARY KEY(ordinal, subject, attribute)
) STRICT, WITHOUT ROWID;
-- Each goes on by ordinal, so that the newest rows are read without a sort.
CREATE INDEX statements_by_attribute ON statements(subject, attribute);
CREATE INDEX statements_by_subject ON statements(subject);

CREATE TABLE moves_of_more(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  ordinal INTEGER NOT NULL REFERENCES memories(ordinal) ON DELETE CASCADE,
  action TEXT NOT NULL CHECK (action IN ('promote', 'archive', 'return', 'stale', 'close', 'continue')),
  was TEXT NOT NULL,
  became TEXT NOT NULL,
  reason TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  undone_at INTEGER NOT NULL,
  digest BLOB NOT NULL DEFAULT (x'0000000000000000')
) STRICT;
INSERT INTO moves_of_more SELECT * FROM moves;
-- Numbers are never given twice, not even after the last move went with its memory.
DELETE FROM sqlite_sequence WHERE name='moves_of_more';
INSERT INTO sqlite_sequence(name, seq) SELECT 'moves_of_more', seq FROM sqlite_sequence WHERE name='moves';
DROP TABLE moves;
ALTER TABLE moves_of_more RENAME TO moves;
CREATE INDEX moves_by_ordinal ON moves(ordinal);
