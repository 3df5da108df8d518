import type { AppliedRow, ChangeSet, MirrorPlace } from '../store/mirror.ts';
import { rowKeyOf, type TableChanges } from '../store/mirrored-tables.ts';
import { EVERYTHING, type LogStep, readLog, sequencesIn, TIMELINE_PLACES } from './change-log.ts';
import { CLUSTER_ID } from './cluster-schema.ts';
import type { KnownTimeline } from './find-primary.ts';
import type { Transaction } from './postgres-session.ts';
import { clusterTables } from './row-statements.ts';

/** What the log has after a place. */
export type ReadAfter =
  | { readonly kind: 'read'; readonly step: LogStep | undefined }
  /** The log is another one: somebody has restored a backup of the database, or made it anew. */
  | { readonly kind: 'foreign' }
  /** The log is of before a promotion, and lacks the place, which is of after it. */
  | { readonly kind: 'replaced'; readonly timeline: number; readonly by: KnownTimeline }
  /** The log no longer has all changes since the place. */
  | { readonly kind: 'gone' }
  /** The log never had the place: a fail-over has lost it. */
  | { readonly kind: 'lost' };

/** Reads what the log has after the place of a mirror. */
export async function readAfter(sql: Transaction, at: MirrorPlace, timeline: number): Promise<ReadAfter> {
  return (await findMismatch(sql, at, timeline)) ?? { kind: 'read', step: await readLog(sql, at.place) };
}

/** Returns why a mirror cannot go on from its place, or undefined. */
export async function findMismatch(
  sql: Transaction,
  { cluster, place }: MirrorPlace,
  timeline: number,
): Promise<Exclude<ReadAfter, { kind: 'read' }> | undefined> {
  const [{ id, is_there, kept_from }] = await sql.unsafe(
    `select ${CLUSTER_ID} as id, exists (select 1 from zomma.appends where place = $1) as is_there, kept_from::float8 as kept_from
       from zomma.cluster`,
    [place],
  );
  if (cluster !== id) return { kind: 'foreign' };
  if (place < kept_from) return { kind: 'gone' };
  if (place > 0 && !is_there) {
    const by = { system: cluster.split('/')[1]!, timeline: Math.floor(place / TIMELINE_PLACES) };
    return timeline < by.timeline ? { kind: 'replaced', timeline, by } : { kind: 'lost' };
  }
  return undefined;
}

const PLACES_AT_ONCE = 1_024;

/** Returns the newest of some places, the newest first, that the log has. */
export async function lastKnownPlace(sql: Transaction, places: readonly number[]): Promise<number | undefined> {
  for (let i = 0; i < places.length; i += PLACES_AT_ONCE) {
    const part = places.slice(i, i + PLACES_AT_ONCE);
    const list = part.map((_, n) => `$${n + 1}`).join(', ');
    const text = `select max(place)::float8 as place from zomma.appends where place in (${list})`;
    const [{ place }] = await sql.unsafe(text, part);
    if (place !== null) return place;
  }
  return undefined;
}

/** Reads rows by their keys, with the keys that no longer have a row. */
export async function rowsAgain(sql: Transaction, wanted: readonly AppliedRow[]): Promise<ChangeSet> {
  const tables: TableChanges[] = [];
  for (const rowsOf of clusterTables()) {
    const { table } = rowsOf;
    const keys = wanted.filter((each) => each.table.name === table.name).map(({ key }) => key);
    if (keys.length === 0) continue;
    const rows = await rowsOf.at(sql, keys);
    const found = new Set(rows.map((row) => JSON.stringify(rowKeyOf(table, row))));
    tables.push({ table, rows, removed: keys.filter((key) => !found.has(JSON.stringify(key))) });
  }
  return { tables, sequences: await sequencesIn(sql), written: EVERYTHING };
}
