import { EngineAway } from '../../src/cluster/engine-errors.ts';
import { type Engine, type EngineOptions, openEngine } from '../../src/cluster/postgres-engine.ts';
import type { Transaction } from '../../src/cluster/postgres-session.ts';
import { parseStoreUrl, type StoreUrl } from '../../src/cluster/store-url.ts';
import { PASSWORD, type PostgresServer, USER } from './postgres.ts';

/** A table that the tests of transactions write: a whole number and a note in each row. */
export async function createRows(server: PostgresServer): Promise<void> {
  await server.query('create table rows (n int primary key, note text)', USER);
  await server.query(`grant all on rows to ${USER}`, USER);
}

export const insertRow = (n: number) => (sql: Transaction) => sql`insert into rows values (${n})`;

export const rowsOf = async (server: PostgresServer) =>
  (await server.query('select n from rows order by n', USER)).map(({ n }) => n);

/** The URL of the database of these servers, for its user. */
export function urlTextOf(...servers: readonly { readonly address: string }[]): string {
  const hosts = servers.map(({ address }) => address).join(',');
  return `postgres://${USER}@${hosts}/${USER}`;
}

export function urlOf(...servers: readonly { readonly address: string }[]): StoreUrl {
  return parseStoreUrl(urlTextOf(...servers), { PGPASSWORD: PASSWORD });
}

export function engineAt(host: { readonly address: string }, options: Partial<EngineOptions> = {}): Engine {
  return openEngine(urlOf(host), { replica: 'r1', ...options });
}

/** Runs work again and again until it succeeds, as a follower does. Any error but `EngineAway` ends it. */
export async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof EngineAway)) throw error;
    }
  }
}
