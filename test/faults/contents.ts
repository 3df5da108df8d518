import { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeChain } from '../../src/store/chain-codec.ts';

interface Contents {
  /** Of each snapshot, by underlying and time, its columns as text; not from which of two equal files it came. */
  readonly snapshots: readonly Readonly<Record<string, string>>[];
  /** Every print that stands, by id, its columns as text. */
  readonly prints: readonly string[];
}

/** All market data in a data folder, in an order of its own; undefined where there is none yet. */
export function contentsOf(dataDir: string): Contents | undefined {
  const path = join(dataDir, 'zomma.sqlite');
  if (!existsSync(path)) return undefined;
  const db = new Database(path, { readonly: true });
  try {
    const isMade = db.query("SELECT 1 FROM sqlite_master WHERE name = 'feed_marks'").get() !== null;
    return isMade ? read(db) : undefined;
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
