import { Database, SQLiteError } from 'bun:sqlite';
import { OperatorError } from '../core/errors.ts';
import { openToRead } from './read-only.ts';

/** The number of the first schema. Version 0.2.0 had this schema. */
export const FIRST_SCHEMA = 13;

/** Returns the number of the schema after the last of these migrations. */
export function newestSchema(migrations: readonly string[]): number {
  return FIRST_SCHEMA + migrations.length - 1;
}

/**
 * Migrates the database to the newest schema, in one transaction; a second process waits, and then has nothing to do. Throws
 * `OperatorError` if a migration fails or the schema is unknown. The database is then unchanged.
 */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  const newest = newestSchema(migrations);
  const migrateOnce = db.transaction((): void => {
    const schema = schemaOf(db);
    requireKnown(schema, newest);
    for (const [i, migration] of migrations.entries()) {
      const number = FIRST_SCHEMA + i;
      if (number > schema) run(db, migration, number);
    }
    db.run(`PRAGMA user_version = ${newest}`);
  });
  // A database usually has the newest schema already. A database with the newest schema is opened without the write lock.
  if (schemaOf(db) !== newest) migrateOnce.immediate();
}

/** Throws `OperatorError` if the number of a schema is too high or too low for this program. */
export function requireKnown(schema: number, newest = newestSchema(MIGRATIONS)): void {
  refuseOld(schema);
  if (schema <= newest) return;
  throw new OperatorError(
    `the database has schema ${schema}, but this program supports schemas up to ${newest}`,
    'Run the newer version of the program, or go back with its command `zomma upgrade --back`.',
  );
}

/** Throws `OperatorError` if a schema is older than the first schema. An empty database has the schema 0. */
export function refuseOld(schema: number): void {
  if (schema === 0 || schema >= FIRST_SCHEMA) return;
  throw new OperatorError(
    `the database has schema ${schema}, but this program reads databases from version 0.2.0 (schema ${FIRST_SCHEMA}) on`,
    'Run `zomma upgrade` of version 0.2.0 first. If the database is in a backup, restore the backup with version 0.2.0 before.',
  );
}

/** Opens a database with any known schema. Throws `OperatorError` if its schema is older than the first schema. */
export function openAnySchema(path: string, mode: 'read' | 'write' = 'write'): Database {
  const db = mode === 'read' ? openToRead(path) : new Database(path, { readwrite: true, strict: true });
  try {
    refuseOld(schemaOf(db));
    return db;
  } catch (error) {
    db.close(true);
    throw error;
  }
}

/** Runs a migration. Throws `OperatorError` if the SQL of the migration does not fit the database. */
function run(db: Database, migration: string, number: number): void {
  try {
    db.run(migration);
  } catch (error) {
    if (!(error instanceof SQLiteError && error.code === 'SQLITE_ERROR')) throw error;
    throw new OperatorError(
      `migration ${number} of the database failed: ${error.message}`,
      'The database is unchanged. Use the earlier version of the program, and report this error.',
      { cause: error },
    );
  }
}

/** Returns the number of a database's schema. A new database has the number 0. */
export function schemaOf(db: Database): number {
  return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
}

/** SQL of a new name for the log of levels. */
export const LEVEL_LOG_NAME = 'lower(hex(randomblob(6)))';

/**
 * The migrations. The first creates the tables of `FIRST_SCHEMA`; each other leads to the next schema. A released migration never changes.
 */
export const MIGRATIONS: readonly string[] = [
  `
  -- With AUTOINCREMENT, the id of a deleted snapshot is never used again. So a result that was computed for an id stays valid.
  -- The blob is the last column, so that SQLite reads the other columns without the pages of the blob.
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

  -- Snapshots whose blob is damaged, moved out of the way of the snapshots before them.
  CREATE TABLE damaged_snapshots (
    id INTEGER PRIMARY KEY,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    day TEXT NOT NULL,
    spot REAL NOT NULL,
    source TEXT NOT NULL,
    columns BLOB NOT NULL
  ) STRICT;

  -- Levels have no reference to their snapshot, because they stay when the snapshot is removed. The table is also a log: with AUTOINCREMENT,
  -- a sequence number is never used again. So a subscriber has seen all records up to the sequence number of the last record that it has
  -- seen.
  -- advanced: whether the record was the newest of its underlying when it was stored. kept_at: when the record was stored, ms since the epoch.
  -- It shows how old the first record is that a subscriber has missed. It is null for records from before this column.
  CREATE TABLE levels (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    as_of INTEGER NOT NULL,
    source TEXT NOT NULL,
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
    kept_at INTEGER,
    UNIQUE (simulated, underlying, as_of)
  ) STRICT;
  CREATE INDEX levels_by_day ON levels (simulated, underlying, day, as_of);
  CREATE INDEX levels_advanced ON levels (simulated, seq) WHERE advanced = 1;
  -- The log of each ticker. With this index, the records of a ticker are read without the rows of other tickers.
  CREATE INDEX levels_of_ticker ON levels (simulated, underlying, seq) WHERE advanced = 1;

  -- Snapshots whose levels have not been recorded yet. If a snapshot is removed, its entry is removed too.
  CREATE TABLE levels_due (
    snapshot INTEGER PRIMARY KEY REFERENCES snapshots (id) ON DELETE CASCADE
  ) STRICT;

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
    bid REAL,
    ask REAL,
    sweep INTEGER NOT NULL DEFAULT 0 CHECK (sweep IN (0, 1)),
    block INTEGER NOT NULL DEFAULT 0 CHECK (block IN (0, 1)),
    premium REAL GENERATED ALWAYS AS (price * size * multiplier) VIRTUAL,
    UNIQUE (simulated, id)
  ) STRICT;
  -- Large prints are few. With the premium in the index, they are found and counted without reading the rows of prints.
  CREATE INDEX prints_by_time ON prints (simulated, underlying, at, canceled, premium);
  -- One or two of a hundred prints are large. With this index, large prints are read without the other prints. A query with a smaller
  -- minimum premium than that of the index reads all prints.
  CREATE INDEX prints_large ON prints (simulated, underlying, at) WHERE canceled = 0 AND premium >= 25000;
  -- Numbers of rows in prints by minute, so that a million rows are counted without reading their index. The minute of a time before 1970
  -- is rounded down too.
  CREATE TABLE print_counts (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    slot INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    canceled INTEGER NOT NULL,
    PRIMARY KEY (simulated, underlying, slot)
  ) STRICT, WITHOUT ROWID;

  -- Sums of the large prints of a New York day. The premium is a whole number of ten-thousandths of a dollar, so that the subtraction of a
  -- print leaves no rounding error.
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
  -- The minimum premium of the prints in print_sums. Without a row, print_sums has no sums.
  CREATE TABLE print_sums_from (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    premium REAL NOT NULL
  ) STRICT;
  -- The moment from which on all data of a kind is kept. Of an earlier day, only the last snapshot may remain ('intraday'), or no print
  -- ('prints').
  CREATE TABLE kept_from (
    what TEXT PRIMARY KEY CHECK (what IN ('chains', 'intraday', 'prints', 'levels')),
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Parts: packed stretches of the tape, stored as columns. Their order within a day is (from_at, to_at, place). An entry of a part never
  -- changes. If an entry becomes invalid after its part was written, it is listed in tape_retired, until the part is written again with
  -- another id.
  -- standing: the number of valid entries. large: copies of the prints with a premium of at least large_from, if it is not null.
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
    large_from REAL,
    large BLOB,
    columns BLOB NOT NULL,
    ids BLOB NOT NULL
  ) STRICT;
  CREATE INDEX tape_parts_by_time
    ON tape_parts (simulated, underlying, to_at, from_at, place, day, entries, standing, last_at);
  -- flag: 32 for a cancelled entry, 64 for a corrected entry.
  CREATE TABLE tape_retired (
    part INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    flag INTEGER NOT NULL,
    PRIMARY KEY (part, entry)
  ) STRICT, WITHOUT ROWID;
  -- Sums of parts that follow each other. They are valid as long as the parts from the first to the last have these counts.
  CREATE TABLE tape_sums (
    first INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    last INTEGER NOT NULL REFERENCES tape_parts (id) ON DELETE CASCADE,
    entries INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    sums BLOB NOT NULL,
    UNIQUE (first, last)
  ) STRICT;
  CREATE INDEX tape_sums_by_last ON tape_sums (last);
  -- Days whose parts have been joined and summed. A row is valid as long as its day has these counts.
  CREATE TABLE tape_days (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    day TEXT NOT NULL,
    entries INTEGER NOT NULL,
    standing INTEGER NOT NULL,
    PRIMARY KEY (simulated, underlying, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE closes (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    ticker TEXT NOT NULL,
    date TEXT NOT NULL,
    close REAL NOT NULL,
    volume REAL,
    PRIMARY KEY (simulated, ticker, date)
  ) STRICT, WITHOUT ROWID;

  -- Cash dividends. amount: dollars per share; 0 means that there is no dividend on that date.
  CREATE TABLE dividends (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    ticker TEXT NOT NULL,
    ex_date TEXT NOT NULL,
    amount REAL NOT NULL,
    status TEXT,
    PRIMARY KEY (simulated, ticker, ex_date)
  ) STRICT, WITHOUT ROWID;

  -- The state of the feeds, for operators. It is stored, so that every process reads the same state, also after a restart.
  -- past_total: the number of snapshots of the past of the simulated market. past_done: how many of them are complete. Both are null if a feed
  -- fills no past. active: whether the feed is one of the server that started last. The states of other feeds stay until the operator removes
  -- them.
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
    connection_reason TEXT,
    past_done INTEGER,
    past_total INTEGER,
    active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1))
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
  -- Gaps: times in which a stream was down. The prints of these times are missing.
  CREATE TABLE feed_gaps (
    feed TEXT NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER,
    reason TEXT NOT NULL,
    PRIMARY KEY (feed, from_at)
  ) STRICT, WITHOUT ROWID;
  -- Checkpoints: the texts that feeds need after a restart.
  CREATE TABLE feed_marks (
    feed TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (feed, key)
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

  -- The audit trail: changes to members and keys. No column has a UUID, a key or a Telegram handle. client: the address of the client, if a
  -- request made the change. account: the id of the account that was changed. logged: whether a server has written the entry to its log.
  CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    client TEXT,
    action TEXT NOT NULL,
    account TEXT,
    result TEXT NOT NULL,
    detail TEXT,
    logged INTEGER NOT NULL DEFAULT 0 CHECK (logged IN (0, 1))
  ) STRICT;
  CREATE INDEX audit_unlogged ON audit (id) WHERE logged = 0;
  `,
  `
  -- account: the id of the account, which never changes. generation: how often the key was replaced. previous_digest: the digest of the key
  -- from before the last rotation of the secret, which is valid until previous_until.
  ALTER TABLE members ADD COLUMN account TEXT NOT NULL DEFAULT '';
  UPDATE members SET account = substr(key_digest, 1, 16);
  ALTER TABLE members ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE members ADD COLUMN previous_digest TEXT;
  ALTER TABLE members ADD COLUMN previous_until INTEGER;
  CREATE UNIQUE INDEX members_by_previous ON members (previous_digest) WHERE previous_digest IS NOT NULL;
  `,
  `
  -- gaps: the times between the last fresh snapshots of a ticker, ms of trading hours, as a JSON array with the newest first.
  ALTER TABLE feed_tickers ADD COLUMN gaps TEXT NOT NULL DEFAULT '[]';
  -- clock_steps: when the clock of the machine was set while the service ran. at: by the new time. by_ms: negative if it was set back.
  CREATE TABLE clock_steps (at INTEGER NOT NULL, by_ms INTEGER NOT NULL) STRICT;
  `,
  `
  -- nearest_iv: the volatility of the expiry nearest to 30 days. expiring_gex: the gross gamma that settles within a day. Both are null for
  -- records from before these columns.
  ALTER TABLE levels ADD COLUMN nearest_iv REAL;
  ALTER TABLE levels ADD COLUMN expiring_gex REAL;
  -- The tickers of which the last levels of a day were removed, in the order of the last such removal. So a process that holds the newest
  -- levels of a ticker in memory notices removals by other processes.
  CREATE TABLE levels_removed (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    underlying TEXT NOT NULL,
    UNIQUE (simulated, underlying)
  ) STRICT;
  CREATE TRIGGER levels_removed_of_day AFTER DELETE ON levels
  WHEN NOT EXISTS (
    SELECT * FROM levels WHERE simulated = OLD.simulated AND underlying = OLD.underlying AND day = OLD.day AND as_of > OLD.as_of
  )
  BEGIN
    INSERT OR REPLACE INTO levels_removed (simulated, underlying) VALUES (OLD.simulated, OLD.underlying);
  END;
  `,
  `
  -- layer: prints of times that a part already covers become parts of a higher layer, until the tape is packed.
  ALTER TABLE tape_parts ADD COLUMN layer INTEGER NOT NULL DEFAULT 0;
  DROP INDEX tape_parts_by_time;
  CREATE INDEX tape_parts_by_time
    ON tape_parts (simulated, underlying, to_at, from_at, layer, place, day, entries, standing, last_at);
  `,
  `
  -- known_from: ms since the epoch. A dividend counts as known from this moment on, with this amount and status, until the next row of its
  -- ex-date. Of rows from before this column, nobody knows it, so they count from the upgrade on.
  CREATE TABLE known_dividends (
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    ticker TEXT NOT NULL,
    ex_date TEXT NOT NULL,
    known_from INTEGER NOT NULL,
    amount REAL NOT NULL,
    status TEXT,
    PRIMARY KEY (simulated, ticker, ex_date, known_from)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO known_dividends
    SELECT simulated, ticker, ex_date, CAST(1000 * unixepoch('subsec') AS INTEGER), amount, status FROM dividends;
  DROP TABLE dividends;
  ALTER TABLE known_dividends RENAME TO dividends;
    `,
  `
  -- sign_probability: the probability that the sign of net_gex is right. It is null for records from before this column.
  ALTER TABLE levels ADD COLUMN sign_probability REAL;
    `,
  `
  -- The levels of the options that settle by the end of the session, and of those that settle within 35 days. They are null together.
  ALTER TABLE levels ADD COLUMN net_gex_session REAL;
  ALTER TABLE levels ADD COLUMN gross_gex_session REAL;
  ALTER TABLE levels ADD COLUMN sign_probability_session REAL;
  ALTER TABLE levels ADD COLUMN gex_flip_session REAL;
  ALTER TABLE levels ADD COLUMN flip_resolved_session INTEGER CHECK (flip_resolved_session IN (0, 1));
  ALTER TABLE levels ADD COLUMN call_wall_session REAL;
  ALTER TABLE levels ADD COLUMN put_wall_session REAL;
  ALTER TABLE levels ADD COLUMN max_pain_session REAL;
  ALTER TABLE levels ADD COLUMN expiry_session TEXT;
  ALTER TABLE levels ADD COLUMN net_gex_35d REAL;
  ALTER TABLE levels ADD COLUMN gross_gex_35d REAL;
  ALTER TABLE levels ADD COLUMN sign_probability_35d REAL;
  ALTER TABLE levels ADD COLUMN gex_flip_35d REAL;
  ALTER TABLE levels ADD COLUMN flip_resolved_35d INTEGER CHECK (flip_resolved_35d IN (0, 1));
  ALTER TABLE levels ADD COLUMN call_wall_35d REAL;
  ALTER TABLE levels ADD COLUMN put_wall_35d REAL;
  ALTER TABLE levels ADD COLUMN max_pain_35d REAL;
  ALTER TABLE levels ADD COLUMN expiry_35d TEXT;
  -- Snapshots whose levels were stored before these columns. If a snapshot is removed, its entry is removed too.
  CREATE TABLE horizons_due (
    snapshot INTEGER PRIMARY KEY REFERENCES snapshots (id) ON DELETE CASCADE
  ) STRICT;
  INSERT INTO horizons_due SELECT id FROM snapshots JOIN levels USING (simulated, underlying, as_of);
  `,
  `
  -- name: the random name of the log of levels. The ids of live events have it, so a server knows whether an id is of its own log. A restored
  -- database gets another name, because it continues the log in another way than the database that was backed up.
  CREATE TABLE level_log (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    name TEXT NOT NULL
  ) STRICT;
  INSERT INTO level_log VALUES (1, ${LEVEL_LOG_NAME});
  `,
];
