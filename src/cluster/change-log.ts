import type { WrittenData } from '../store/data-versions.ts';
import type { ChangeSet } from '../store/mirror.ts';
import type { StoredCell, TableChanges } from '../store/mirrored-tables.ts';
import { APPEND_LOCK } from './cluster-schema.ts';
import type { Transaction } from './postgres-session.ts';
import { clusterTables } from './row-statements.ts';

/** Places of one timeline of Postgres lie within this range, so that no place is given again after a fail-over that lost the last places. */
export const TIMELINE_PLACES = 1_000_000_000_000;

/** The most bytes that one step of a follower reads, unless a single append has more. Requests wait while they are applied. */
const STEP_BYTES = 8 * 1024 * 1024;

/** A write after which the counts of every answer change. */
export const EVERYTHING: WrittenData = { keys: [], group: 'others' };

/** What a follower reads in one step. */
export interface LogStep {
  readonly changes: ChangeSet;
  readonly place: number;
  readonly hasMore: boolean;
}

/** Appends changes to the log, in the transaction that holds `APPEND_LOCK`. Returns their place. */
export async function appendChanges(
  sql: Transaction,
  { tables, sequences, written }: ChangeSet,
  { timeline, replica, batch }: { readonly timeline: number; readonly replica: string; readonly batch: string },
): Promise<number> {
  const [{ place }] = await sql`
    select greatest(${timeline} * ${TIMELINE_PLACES}::float8 + nextval('zomma.places'),
      (select coalesce(max(place), 0) + 1 from zomma.appends))::float8 as place`;
  const byName = new Map(clusterTables().map((each) => [each.table.name, each]));
  for (const { table, rows, removed } of tables) {
    const rowsOf = byName.get(table.name)!;
    if (removed.length > 0) await rowsOf.remove(sql, removed);
    if (rows.length > 0) await rowsOf.put(sql, rows, place);
  }
  const removals = tables.flatMap(({ table, removed }) => removed.map((key) => [table.name, JSON.stringify(key)]));
  for (let i = 0; i < removals.length; i += REMOVALS_AT_ONCE) {
    const part = removals.slice(i, i + REMOVALS_AT_ONCE);
    const values = part.map((_, row) => `($1, $${2 * row + 2}, $${2 * row + 3})`).join(', ');
    await sql.unsafe(`insert into zomma.removals (place, tbl, key) values ${values}`, [place, ...part.flat()]);
  }
  for (const [name, last] of sequences) {
    await sql`insert into zomma.sequences (name, last, place) values (${name}, ${last}, ${place})
      on conflict (name) do update set last = excluded.last, place = excluded.place`;
  }
  const names = tables.map(({ table }) => table.name);
  await sql`insert into zomma.appends (place, replica, batch, tables, written, bytes)
    values (${place}, ${replica}, ${batch}, string_to_array(${names.join(',')}, ','), ${JSON.stringify(written)}, ${bytesOf(tables)})`;
  await sql`select pg_notify('zomma', '')`;
  return place;
}

const REMOVALS_AT_ONCE = 1_024;

/** Reads what the log has after a place, in a transaction that sees one state of it. Returns undefined if it has nothing. */
export async function readLog(sql: Transaction, after: number): Promise<LogStep | undefined> {
  const appends: { place: number; tables: string[]; written: string; bytes: number }[] = await sql`
    select place::float8 as place, tables, written, bytes::float8 as bytes from zomma.appends where place > ${after} order by place limit 1000`;
  if (appends.length === 0) return undefined;
  let bytes = 0;
  const taken = appends.filter((each, i) => {
    bytes += each.bytes;
    return i === 0 || bytes <= STEP_BYTES;
  });
  const upTo = taken.at(-1)!.place;
  const names = new Set(taken.flatMap(({ tables }) => tables));
  const removals: { tbl: string; key: string }[] =
    await sql`select tbl, key from zomma.removals where place > ${after} and place <= ${upTo}`;
  const removedFrom = Map.groupBy(removals, ({ tbl }) => tbl);
  const tables: TableChanges[] = [];
  for (const rowsOf of clusterTables()) {
    const { table } = rowsOf;
    if (!names.has(table.name)) continue;
    const removed = (removedFrom.get(table.name) ?? []).map(({ key }) => JSON.parse(key) as StoredCell[]);
    tables.push({ table, removed, rows: await rowsOf.between(sql, after, upTo) });
  }
  const sequences: { name: string; last: number }[] =
    await sql`select name, last::float8 as last from zomma.sequences where place > ${after} and place <= ${upTo}`;
  return {
    changes: {
      tables,
      sequences: sequences.map(({ name, last }) => [name, last] as const),
      written: union(taken.map(({ written }) => JSON.parse(written) as WrittenData)),
    },
    place: upTo,
    hasMore: taken.length < appends.length || appends.length === 1_000,
  };
}

function union(all: readonly WrittenData[]): WrittenData {
  const groups = new Set(all.map(({ group }) => group));
  const group = groups.has('others') ? 'others' : groups.has('unlisted') ? 'unlisted' : 'uncounted';
  return { keys: [...new Set(all.flatMap(({ keys }) => keys))], group };
}

/** Returns the newest place of the log, or 0 if the log is empty. */
export async function headPlace(sql: Transaction): Promise<number> {
  const [{ place }] = await sql`select coalesce(max(place), 0)::float8 as place from zomma.appends`;
  return place;
}

/** Returns the last given ids of the tables that never give an id twice. */
export async function sequencesIn(sql: Transaction): Promise<ChangeSet['sequences']> {
  const rows: { name: string; last: number }[] = await sql`select name, last::float8 as last from zomma.sequences`;
  return rows.map(({ name, last }) => [name, last] as const);
}

/** Returns the place of a batch, or undefined if the log does not have it. */
export async function placeOf(sql: Transaction, batch: string): Promise<number | undefined> {
  const [row] = await sql`select place::float8 as place from zomma.appends where batch = ${batch}`;
  return row?.place;
}

function bytesOf(tables: readonly TableChanges[]): number {
  let bytes = 0;
  for (const { rows } of tables)
    for (const row of rows)
      for (const cell of row)
        bytes += cell instanceof Uint8Array ? cell.length : typeof cell === 'string' ? cell.length : 8;
  return bytes;
}

/**
 * Removes what the log says about changes before a moment. The newest change always stays. A mirror that has not taken the removed ones is
 * filled again.
 */
export async function pruneLog(sql: Transaction, olderThanMs: number): Promise<void> {
  await sql.unsafe(APPEND_LOCK);
  await sql`update zomma.cluster set kept_from = greatest(kept_from, (
    select coalesce(max(place), 0) from zomma.appends where at < clock_timestamp() - ${olderThanMs}::float8 * interval '1 millisecond'))`;
  await sql`delete from zomma.removals where place <= (select kept_from from zomma.cluster)`;
  await sql`delete from zomma.appends where place < (select kept_from from zomma.cluster)`;
}
