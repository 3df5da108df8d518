import { Database, SQLiteError } from 'bun:sqlite';
import { join } from 'node:path';
import { decodeChain } from '../../src/store/chain-codec.ts';

interface Contents {
  /** Of each snapshot, by underlying and time, its columns as text; not from which of two equal files it came. */
  readonly snapshots: readonly Readonly<Record<string, string>>[];
  /** Every print that stands, by id, its columns as text. */
  readonly prints: readonly string[];
}

/** All market data in a data folder, in an order of its own. */
export function contentsOf(dataDir: string): Contents {
  return withDatabase(dataDir, read);
}

/** How many snapshots are stored; 0 where there is no database yet, or its maker still holds it. */
export function snapshotsIn(dataDir: string): number {
  try {
    return withDatabase(
      dataDir,
      (db) => db.query<{ count: number }, []>('SELECT count(*) AS count FROM snapshots').get()!.count,
    );
  } catch (error) {
    if (error instanceof SQLiteError) return 0;
    throw error;
  }
}

function withDatabase<T>(dataDir: string, work: (db: Database) => T): T {
  const db = new Database(join(dataDir, 'zomma.sqlite'), { readonly: true });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

function read(db: Database): Contents {
  const rows = db
    .query<{ underlying: string; as_of: number; spot: number; columns: Uint8Array }, []>(
      'SELECT underlying, as_of, spot, columns FROM snapshots ORDER BY underlying, as_of',
    )
    .all();
  const snapshots = rows.map(({ columns, ...head }) => {
    const chain = Object.entries({ ...head, ...decodeChain(columns, head.underlying) });
    return Object.fromEntries(
      chain.map(([name, value]) => [name, ArrayBuffer.isView(value) ? String(value) : JSON.stringify(value)]),
    );
  });
  const prints = db.query('SELECT * FROM prints WHERE canceled = 0 ORDER BY id').values();
  return { snapshots, prints: prints.map(String) };
}
