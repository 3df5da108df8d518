import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { APPEND_LOCK } from '../../../src/cluster/cluster-schema.ts';
import { openEngine } from '../../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../../src/cluster/postgres-session.ts';
import { clusterTables, lastKeyOf } from '../../../src/cluster/row-statements.ts';
import { parseStoreUrl } from '../../../src/cluster/store-url.ts';
import { MIRROR } from '../../../src/store/mirror-file.ts';
import { rowsIn } from '../../store/every-write.ts';
import { PASSWORD, USER } from '../../support/postgres.ts';
import type { Written } from './trial-feed.ts';
import type { Answer, LiveEvent, Stream } from './trial-load.ts';
import type { TrialServers } from './trial-servers.ts';
import type { Accepted } from './trial-witness.ts';

/** Time after which a server that nothing disturbs has what the database has, ms. */
const FRESH_MS = 3_000;
/** Time that mirrors have after a fault, ms. */
const EQUAL_MS = 5_000;

/** Returns the answers and events that are of no state that existed. */
export function invented({ spots }: Written, all: readonly (Answer | LiveEvent)[]): string[] {
  return all
    .filter(({ ticker, asOf, spot }) => spots.get(`${ticker} ${asOf}`) !== spot)
    .map(({ ticker, asOf, spot }) => `${ticker} of ${asOf} never had the price ${spot}`);
}

/** Returns the answers that are older than what their server had to have. `soundFrom` is when a disturbed server was sound again. */
export function outdated(
  answers: readonly Answer[],
  accepted: readonly Accepted[],
  isSound: (server: string, fromMs: number, toMs: number) => boolean,
): string[] {
  return answers.flatMap(({ server, ticker, asOf, askedMs, endedMs }) => {
    if (!isSound(server, askedMs - FRESH_MS, endedMs)) return [];
    const newest = Math.max(
      ...accepted.filter((each) => each.ticker === ticker && each.seenMs < askedMs - FRESH_MS).map((each) => each.asOf),
    );
    return asOf >= newest
      ? []
      : [
          `${server} answers ${ticker} of ${asOf}, ${newest - asOf} ms older than what was stored ${FRESH_MS} ms before`,
        ];
  });
}

/**
 * Returns what is wrong with a stream: its order, and what it lacks of the snapshots that were the newest when they were stored. Events may come
 * again only if a fail-over has lost them.
 */
export function streamFaults({ events }: Stream, accepted: readonly Accepted[], mayRepeat: boolean): string[] {
  const faults: string[] = [];
  const newest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { ticker, asOf, id } of events) {
    const isAgain = seen.has(`${ticker} ${asOf}`);
    if (isAgain && !mayRepeat) faults.push(`${ticker} of ${asOf} (${id}) came twice`);
    if (!isAgain && asOf < (newest.get(ticker) ?? 0))
      faults.push(`${ticker} of ${asOf} (${id}) came after a newer one`);
    newest.set(ticker, Math.max(asOf, newest.get(ticker) ?? 0));
    seen.add(`${ticker} ${asOf}`);
  }
  const firsts = Map.groupBy(events, ({ ticker }) => ticker);
  const advanced = new Map<string, number>();
  for (const { ticker, asOf } of accepted) {
    const isNewest = asOf > (advanced.get(ticker) ?? 0);
    if (isNewest) advanced.set(ticker, asOf);
    const first = firsts.get(ticker)?.[0];
    if (isNewest && first && asOf >= first.asOf && !seen.has(`${ticker} ${asOf}`))
      faults.push(`${ticker} of ${asOf} never came`);
  }
  return faults;
}

/** Returns the ids that were given to two events. */
export function idsGivenTwice(streams: readonly Stream[]): string[] {
  const known = new Map<string, string>();
  return streams.flatMap(({ events }) =>
    events.flatMap(({ id, ticker, asOf }) => {
      const what = `${ticker} ${asOf}`;
      const before = known.get(id) ?? what;
      known.set(id, what);
      return before === what ? [] : [`event ${id} is ${before} and ${what}`];
    }),
  );
}

/** Returns the files' snapshots and prints that the database lacks or has twice. */
export async function lacking({ primary }: TrialServers, { spots, prints }: Written): Promise<string[]> {
  const snapshots = await primary.query(
    `select underlying || ' ' || as_of as what, count(*)::int as times from zomma.snapshots group by 1`,
    USER,
  );
  const stored = await primary.query(`select id as what, count(*)::int as times from zomma.prints group by 1`, USER);
  return [
    ...difference('snapshot', [...spots.keys()], snapshots as never),
    ...difference('print', [...prints], stored as never),
  ];
}

function difference(
  kind: string,
  wanted: readonly string[],
  rows: readonly { what: string; times: number }[],
): string[] {
  const times = new Map(rows.map((each) => [each.what, each.times]));
  return wanted
    .filter((what) => times.get(what) !== 1)
    .map((what) => `the ${kind} ${what} is stored ${times.get(what) ?? 0} times`);
}

/** Compares all rows of the mirrors with those of the primary, as soon as all have the place of the log. Returns what differs. */
export async function mirrorFaults({ primary, replicas }: TrialServers, sinceMs: number): Promise<string[]> {
  const url = `postgres://${USER}@${primary.address}/${USER}?sslmode=disable`;
  const engine = openEngine(parseStoreUrl(url, { PGPASSWORD: PASSWORD }), { replica: 'model' });
  const mirrors = replicas.map(({ name, folder }) => ({ name, path: join(folder, MIRROR) }));
  const compare = async (sql: Transaction): Promise<string[] | undefined> => {
    // Nothing is written while the mirrors are compared. A server that waits to write does not read either, so nothing waits here.
    await sql.unsafe(APPEND_LOCK);
    const [{ place }] = await sql`select max(place)::float8 as place from zomma.appends`;
    const late = mirrors.filter(({ path }) => placeOf(path) !== place);
    if (late.length > 0 && performance.now() < sinceMs + EQUAL_MS) return undefined;
    if (late.length > 0)
      return late.map(({ name, path }) => `${name} has not got ${place} after ${EQUAL_MS} ms, but ${placeOf(path)}`);
    const expected = await rowsOfPrimary(sql);
    return mirrors.flatMap(({ name, path }) =>
      tablesThatDiffer(expected, rowsIn(path)).map((table) => `${name} has another ${table}`),
    );
  };
  try {
    for (;;) {
      const found = await engine.transaction(compare, { deadlineMs: 20_000 });
      if (found) return found;
      await Bun.sleep(20);
    }
  } finally {
    await engine.close();
  }
}

function placeOf(path: string): number | undefined {
  const db = new Database(path, { readonly: true });
  try {
    return (db.query('SELECT place FROM mirror_place').get() as { place: number } | null)?.place;
  } finally {
    db.close();
  }
}

async function rowsOfPrimary(sql: Transaction): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const each of clusterTables()) {
    const rows: (readonly unknown[])[] = [];
    for (
      let page = await each.page(sql, undefined);
      page.length > 0;
      page = await each.page(sql, lastKeyOf(each, page))
    )
      rows.push(...page);
    found[each.table.name] = rows as unknown[];
  }
  return found;
}

function tablesThatDiffer(expected: Record<string, unknown[]>, actual: Record<string, unknown[]>): string[] {
  const text = (rows: unknown) =>
    JSON.stringify(rows, (_, value) =>
      value instanceof Uint8Array || value?.type === 'Buffer'
        ? Bun.hash(value.data ? Uint8Array.from(value.data) : value).toString()
        : value,
    );
  return Object.keys(expected)
    .filter((name) => text(expected[name]) !== text(actual[name]))
    .map((name) => {
      const [a, b] = [expected[name]!, actual[name]!].map((rows) => new Set(rows.map((row) => text(row))));
      const only = (one: Set<string>, other: Set<string>) =>
        [...one]
          .filter((row) => !other.has(row))
          .slice(0, 3)
          .join(' ')
          .slice(0, 300);
      return `${name}: lacks ${only(a!, b!)}, has ${only(b!, a!)}`;
    });
}
