import { Database, SQLiteError } from 'bun:sqlite';
import { join } from 'node:path';
import { openData } from '../../src/server/stored-data.ts';
import { decodeChain } from '../../src/store/chain-codec.ts';

interface Contents {
  /** The columns of each snapshot as text, by underlying and time, without the name of the file, because two files may be equal. */
  readonly snapshots: readonly Readonly<Record<string, string>>[];
  /** Every valid print, its columns as text. */
  readonly prints: readonly string[];
}

/** Returns all market data in a data folder, in a fixed order. */
export function contentsOf(dataDir: string): Contents {
  using db = openDatabase(dataDir);
  return { snapshots: snapshotsOf(db), prints: printsOf(dataDir) };
}

/** Returns the number of stored snapshots, or 0 if there is no database yet or its creator still locks it. */
export function snapshotsIn(dataDir: string): number {
  try {
    using db = openDatabase(dataDir);
    return db.query<{ count: number }, []>('SELECT count(*) AS count FROM snapshots').get()!.count;
  } catch (error) {
    if (error instanceof SQLiteError) return 0;
    throw error;
  }
}

const openDatabase = (dataDir: string) => new Database(join(dataDir, 'zomma.sqlite'), { readonly: true });

function snapshotsOf(db: Database): Contents['snapshots'] {
  const rows = db
    .query<{ underlying: string; as_of: number; spot: number; columns: Uint8Array }, []>(
      'SELECT underlying, as_of, spot, columns FROM snapshots ORDER BY underlying, as_of',
    )
    .all();
  return rows.map(({ columns, ...head }) => {
    const chain = Object.entries({ ...head, ...decodeChain(columns, head.underlying) });
    return Object.fromEntries(
      chain.map(([name, value]) => [name, ArrayBuffer.isView(value) ? String(value) : JSON.stringify(value)]),
    );
  });
}

/** Returns the prints without their ids, because packed prints have none. */
function printsOf(dataDir: string): string[] {
  using store = openData(dataDir);
  const prints = store.prints('TEST', 0, Number.MAX_SAFE_INTEGER, false, 0);
  return prints.map((print) => JSON.stringify(Object.entries({ ...print, id: '' }).sort())).sort();
}
