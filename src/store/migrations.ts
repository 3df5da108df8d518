import type { Database } from 'bun:sqlite';
import { OperatorError } from '../errors.ts';

/**
 * Migrates the database to the newest version, in one transaction per step. `user_version` counts the completed steps. If two processes
 * migrate at once, one waits for the other and then finds the work done.
 *
 * @throws OperatorError if the database has a newer version. It is then left unchanged.
 */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  const step = db.transaction((): boolean => {
    const version = versionOf(db);
    if (version > migrations.length) {
      throw new OperatorError(
        `the database has version ${version}, but this program supports versions up to ${migrations.length}`,
        'Run the newer program, or restore a backup from before its upgrade.',
      );
    }
    const migration = migrations[version];
    if (migration === undefined) return false;
    db.run(migration);
    db.run(`PRAGMA user_version = ${version + 1}`);
    return true;
  });
  // An up-to-date database, the usual case, is opened without the write lock.
  while (versionOf(db) !== migrations.length && step.immediate());
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
}

/** The migrations in order. A released migration is never edited: every change is a new migration. */
export const MIGRATIONS: readonly string[] = [
  `
  -- AUTOINCREMENT: the id of a deleted snapshot is never given again, so what was computed for an id stays true.
  -- The blob comes last, so that reading the other columns does not page through it.
  CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    day TEXT NOT NULL,
    spot REAL NOT NULL,
    source TEXT NOT NULL,
    columns BLOB NOT NULL,
    UNIQUE (simulated, underlying, as_of)
  ) STRICT;
  CREATE INDEX snapshots_by_day ON snapshots (simulated, underlying, day, as_of, spot);

  CREATE TABLE prints (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    id TEXT NOT NULL,
    underlying TEXT NOT NULL,
    root TEXT NOT NULL,
    expiry TEXT NOT NULL,
    call_put INTEGER NOT NULL CHECK (call_put IN (1, -1)),
    strike REAL NOT NULL,
    price REAL NOT NULL,
    size REAL NOT NULL,
    multiplier REAL NOT NULL,
    at INTEGER NOT NULL,
    side TEXT CHECK (side IN ('ask', 'bid', 'mid')),
    delta REAL,
    multi_leg INTEGER NOT NULL CHECK (multi_leg IN (0, 1)),
    canceled INTEGER NOT NULL CHECK (canceled IN (0, 1)),
    UNIQUE (simulated, id)
  ) STRICT;
  CREATE INDEX prints_by_time ON prints (simulated, underlying, at);

  CREATE TABLE closes (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    ticker TEXT NOT NULL,
    date TEXT NOT NULL,
    close REAL NOT NULL,
    PRIMARY KEY (simulated, ticker, date)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE members (
    uuid TEXT PRIMARY KEY,
    tier TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'revoked')),
    expires_at INTEGER,
    key_digest TEXT NOT NULL UNIQUE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE telegram_links (
    uuid TEXT PRIMARY KEY REFERENCES members (uuid),
    telegram_id TEXT NOT NULL,
    routing_1dte INTEGER NOT NULL CHECK (routing_1dte IN (0, 1)),
    routing_radar INTEGER NOT NULL CHECK (routing_radar IN (0, 1)),
    last_ping_at INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE prints ADD COLUMN bid REAL;
  ALTER TABLE prints ADD COLUMN ask REAL;
  ALTER TABLE prints ADD COLUMN sweep INTEGER NOT NULL DEFAULT 0 CHECK (sweep IN (0, 1));
  ALTER TABLE prints ADD COLUMN block INTEGER NOT NULL DEFAULT 0 CHECK (block IN (0, 1));
  ALTER TABLE closes ADD COLUMN volume REAL;
  -- Large prints are few: the index tells them from the rest, and how many there are, without reading their rows.
  ALTER TABLE prints ADD COLUMN premium REAL GENERATED ALWAYS AS (price * size * multiplier) VIRTUAL;
  DROP INDEX prints_by_time;
  CREATE INDEX prints_by_time ON prints (simulated, underlying, at, canceled, premium);
  `,
  `
  -- Of no snapshot's row: levels outlive their chain.
  CREATE TABLE levels (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    day TEXT NOT NULL,
    spot REAL NOT NULL,
    net_gex REAL NOT NULL,
    gross_gex REAL NOT NULL,
    gex_flip REAL NOT NULL,
    flip_resolved INTEGER NOT NULL CHECK (flip_resolved IN (0, 1)),
    call_wall REAL NOT NULL,
    put_wall REAL NOT NULL,
    max_pain REAL NOT NULL,
    expiry TEXT NOT NULL,
    dex REAL NOT NULL,
    vex REAL NOT NULL,
    cex REAL NOT NULL,
    atm_iv_30d REAL,
    PRIMARY KEY (simulated, underlying, as_of)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX levels_by_day ON levels (simulated, underlying, day, as_of);

  -- Snapshots whose levels are yet to be kept. A snapshot that goes takes its entry with it.
  CREATE TABLE levels_due (
    snapshot INTEGER PRIMARY KEY REFERENCES snapshots (id) ON DELETE CASCADE
  ) STRICT;
  INSERT INTO levels_due SELECT id FROM snapshots;
  `,
  `
  -- What feeds did, for operators: a row says what was last seen, whoever asks and after any restart.
  CREATE TABLE feeds (
    feed TEXT PRIMARY KEY,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    polled_at INTEGER,
    completed_at INTEGER,
    next_at INTEGER,
    data_at INTEGER,
    error TEXT,
    connected INTEGER CHECK (connected IN (0, 1)),
    connection_at INTEGER,
    connection_reason TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE feed_tickers (
    feed TEXT NOT NULL,
    ticker TEXT NOT NULL,
    attempted_at INTEGER,
    fresh_at INTEGER,
    as_of INTEGER,
    expected INTEGER,
    received INTEGER,
    refused TEXT NOT NULL DEFAULT '{}',
    failures INTEGER NOT NULL DEFAULT 0,
    refusal TEXT,
    PRIMARY KEY (feed, ticker)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE feed_refusals (
    feed TEXT NOT NULL,
    origin TEXT NOT NULL,
    reason TEXT NOT NULL,
    ticker TEXT,
    at INTEGER NOT NULL,
    times INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (feed, origin)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feed_refusals_by_time ON feed_refusals (feed, at);
  -- Times in which a stream was down: its prints are missing.
  CREATE TABLE feed_gaps (
    feed TEXT NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER,
    reason TEXT NOT NULL,
    PRIMARY KEY (feed, from_at)
  ) STRICT, WITHOUT ROWID;
  -- What feeds remember across restarts.
  CREATE TABLE feed_marks (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (feed, key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The levels become a log too. AUTOINCREMENT: a place is never given again, so what a subscriber has seen it has seen.
  CREATE TABLE level_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    source TEXT NOT NULL,
    -- Not before what was known of its underlying when it was kept.
    advanced INTEGER NOT NULL CHECK (advanced IN (0, 1)),
    day TEXT NOT NULL,
    spot REAL NOT NULL,
    net_gex REAL NOT NULL,
    gross_gex REAL NOT NULL,
    gex_flip REAL NOT NULL,
    flip_resolved INTEGER NOT NULL CHECK (flip_resolved IN (0, 1)),
    call_wall REAL NOT NULL,
    put_wall REAL NOT NULL,
    max_pain REAL NOT NULL,
    expiry TEXT NOT NULL,
    dex REAL NOT NULL,
    vex REAL NOT NULL,
    cex REAL NOT NULL,
    atm_iv_30d REAL,
    UNIQUE (simulated, underlying, as_of)
  ) STRICT;
  -- Recorded snapshots are there as long as their levels; the simulated ones that are not had one source.
  INSERT INTO level_log (simulated, underlying, as_of, source, advanced, day, spot, net_gex, gross_gex, gex_flip,
      flip_resolved, call_wall, put_wall, max_pain, expiry, dex, vex, cex, atm_iv_30d)
    SELECT simulated, underlying, as_of, ifnull(snapshots.source, 'simulated'), 1, levels.day, levels.spot, net_gex, gross_gex,
      gex_flip, flip_resolved, call_wall, put_wall, max_pain, expiry, dex, vex, cex, atm_iv_30d
    FROM levels LEFT JOIN snapshots USING (simulated, underlying, as_of) ORDER BY as_of, underlying;
  DROP TABLE levels;
  ALTER TABLE level_log RENAME TO levels;
  CREATE INDEX levels_by_day ON levels (simulated, underlying, day, as_of);
  CREATE INDEX levels_advanced ON levels (simulated, seq) WHERE advanced = 1;
  `,
  `
  -- Large prints are one or two in a hundred: read without the rest. A least premium below this goes through all.
  CREATE INDEX prints_large ON prints (simulated, underlying, at) WHERE canceled = 0 AND premium >= 25000;

  -- Large prints of a New York day, added up: contracts are counted, premium in ten-thousandths of a dollar, which are whole, so
  -- that what is taken out again leaves no rounding behind.
  CREATE TABLE print_sums (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    day TEXT NOT NULL,
    root TEXT NOT NULL,
    expiry TEXT NOT NULL,
    call_put INTEGER NOT NULL CHECK (call_put IN (1, -1)),
    side TEXT NOT NULL CHECK (side IN ('ask', 'bid', 'mid', 'none')),
    multi_leg INTEGER NOT NULL CHECK (multi_leg IN (0, 1)),
    deep INTEGER NOT NULL CHECK (deep IN (0, 1)),
    prints INTEGER NOT NULL,
    contracts REAL NOT NULL,
    premium REAL NOT NULL,
    PRIMARY KEY (simulated, underlying, day, root, expiry, call_put, side, multi_leg, deep)
  ) STRICT, WITHOUT ROWID;
  -- The least premium of what is added up; without a row, nothing is.
  CREATE TABLE print_sums_from (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    premium REAL NOT NULL
  ) STRICT;
  -- From when on all is kept: of days before, of 'intraday' the last snapshot may be left, of 'prints' nothing.
  CREATE TABLE kept_from (
    what TEXT PRIMARY KEY CHECK (what IN ('intraday', 'prints')),
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Closed stretches of the tape as columns, in the order of (from_at, to_at, place) within a day. What an entry was, is never changed:
  -- what stands no more since its part was written is in tape_retired, until the part is written anew under another id.
  CREATE TABLE tape_parts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    day TEXT NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER NOT NULL,
    place INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    last_at INTEGER,
    -- Of prints of at least that premium there are copies, where there are columns of large ones.
    large_from REAL,
    large BLOB,
    columns BLOB NOT NULL,
    ids BLOB NOT NULL
  ) STRICT;
  CREATE INDEX tape_parts_by_time
    ON tape_parts (simulated, underlying, to_at, from_at, place, day, entries, standing, last_at);
  -- flag: 32 cancelled, 64 corrected.
  CREATE TABLE tape_retired (
    part INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    flag INTEGER NOT NULL,
    PRIMARY KEY (part, entry)
  ) STRICT, WITHOUT ROWID;
  -- Parts that follow each other, added up: good as long as those from the first to the last have these counts.
  CREATE TABLE tape_sums (
    first INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    last INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    entries INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    sums BLOB NOT NULL,
    UNIQUE (first, last)
  ) STRICT;
  CREATE INDEX tape_sums_by_last ON tape_sums (last);
  -- Days whose parts are joined and added up, as long as they have these counts.
  CREATE TABLE tape_days (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    day TEXT NOT NULL,
    entries INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    PRIMARY KEY (simulated, underlying, day)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- When levels were kept, ms: a follower's place in the log is as old as what it has missed. Null from before this version.
  ALTER TABLE levels ADD COLUMN kept_at INTEGER;
  -- The log of a ticker: one that hardly moves is read without the rows of the others.
  CREATE INDEX levels_of_ticker ON levels (simulated, underlying, seq) WHERE advanced = 1;
  `,
  `
  -- Rows of prints by minute: how many there are is known without reading the index of a million. Rounded down before 1970 too.
  CREATE TABLE print_counts (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    slot INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    canceled INTEGER NOT NULL,
    PRIMARY KEY (simulated, underlying, slot)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO print_counts
    SELECT simulated, underlying, (at - (at % 60000 + 60000) % 60000) / 60000, count(*), sum(canceled) FROM prints GROUP BY 1, 2, 3;
  `,
];
