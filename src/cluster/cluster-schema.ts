import { OperatorError } from '../core/errors.ts';
import { shellLine } from '../core/shell-line.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { Transaction } from './postgres-session.ts';
import { clusterTables } from './row-statements.ts';

/** The row that says what the database of a cluster is. */
export interface ClusterHead {
  /** The identity of the log. A mirror of another one is of no use. */
  readonly id: string;
  readonly schema: number;
  /** The oldest schema whose programs may use the database. */
  readonly leastReader: number;
  /** From where a migration fills the database that is not complete. Null if there is none. */
  readonly migrating: string | null;
}

/**
 * The identity of the log, as an expression on `zomma.cluster`. A standby has the same one. A database that is restored from a dump has another one,
 * because it gives the places again that it has lost: it has another system, another database, or at least another table.
 */
export const CLUSTER_ID = `id::text || '/' || (select system_identifier from pg_control_system())::text
  || '/' || (select oid from pg_database where datname = current_database())::text || '/' || 'zomma.cluster'::regclass::oid::text`;

/** The lock that orders the writes, and the creation and upgrade of the tables. */
export const APPEND_LOCK = "select pg_advisory_xact_lock(hashtext('zomma'), 1)";

/** A step that upgrades the tables of a cluster from the schema before `to`. A step adds; it does not take away while `leastReader` is lower. */
export interface ClusterStep {
  readonly to: number;
  readonly leastReader: number;
  readonly sql: readonly string[];
}

/** Names the log of levels. The name is there before the first change, so it is in the first copy of each mirror. */
const NAME_LEVEL_LOG =
  "insert into zomma.level_log values (1, substr(replace(gen_random_uuid()::text, '-', ''), 1, 12), 0)";

/** The steps since the first schema that a cluster could have. */
export const CLUSTER_STEPS: readonly ClusterStep[] = [
  {
    to: 21,
    leastReader: 20,
    sql: [
      `create table zomma."level_log" ("only" bigint, "name" text collate "C", log_place bigint not null, primary key ("only"))`,
      'create index on zomma."level_log" (log_place)',
      NAME_LEVEL_LOG,
    ],
  },
];

const OWN_TABLES = [
  `create table zomma.cluster (one int primary key check (one = 1), id uuid not null, schema int not null, least_reader int not null,
    kept_from bigint not null default 0, created_at timestamptz not null default clock_timestamp())`,
  // The digests of the files that all servers must share. A replaced secret is accepted until a moment.
  'create table zomma.shared_files (file text, digest text, until timestamptz, primary key (file, digest))',
  'create table zomma.leases (name text primary key, holder text not null, epoch bigint not null, until timestamptz not null)',
  `create table zomma.replicas (name text primary key, holder text not null, version text not null, schema int not null,
    place bigint not null, ready boolean not null, seen timestamptz not null)`,
  `create table zomma.appends (place bigint primary key, at timestamptz not null default clock_timestamp(), replica text not null,
    batch uuid not null unique, tables text[] not null, written text not null, bytes bigint not null)`,
  'create table zomma.removals (place bigint not null, tbl text not null, key text not null)',
  'create index on zomma.removals (place)',
  'create table zomma.sequences (name text primary key, last bigint not null, place bigint not null)',
  'create sequence zomma.places',
  // The migration that has filled the database, or fills it. Until it is complete, no server uses the database.
  `create table zomma.migration (one int primary key check (one = 1), name text not null, identity text not null, version text not null,
    mark text not null, begun_at timestamptz not null default clock_timestamp(), completed_at timestamptz)`,
];

/**
 * Creates the tables in an empty database, or upgrades them. Returns what the database is. Throws `OperatorError` if the database is of a newer
 * program that excludes this one.
 */
export async function openCluster(
  sql: Transaction,
  steps: readonly ClusterStep[] = CLUSTER_STEPS,
): Promise<ClusterHead> {
  await sql.unsafe(APPEND_LOCK);
  const [{ is_there }] = await sql`select to_regclass('zomma.cluster') is not null as is_there`;
  if (!is_there) await create(sql);
  let head = await readHead(sql);
  for (const { to, leastReader, sql: statements } of steps.filter((step) => step.to > head.schema)) {
    for (const statement of statements) await sql.unsafe(statement);
    await sql`update zomma.cluster set schema = ${to}, least_reader = ${leastReader}`;
    head = { ...head, schema: to, leastReader };
  }
  return head;
}

/** Reads what the database is. Throws `OperatorError` if it is not the database of a cluster, or needs a newer program. */
export async function readHead(sql: Transaction): Promise<ClusterHead> {
  const [{ is_there }] = await sql`select to_regclass('zomma.cluster') is not null as is_there`;
  if (!is_there)
    throw new OperatorError(
      'the database has no data of Zomma',
      'Name the right database with --store. A server creates the tables when it starts: `zomma serve --store ...`.',
    );
  const [row] = await sql.unsafe(
    `select ${CLUSTER_ID} as id, schema, least_reader, (select name from zomma.migration where completed_at is null) as migrating
       from zomma.cluster`,
  );
  const head = { id: row.id, schema: row.schema, leastReader: row.least_reader, migrating: row.migrating };
  requireKnown(head);
  return head;
}

/** Throws `OperatorError` if a migration into the database is not complete. */
export function requireFilled({ migrating }: ClusterHead): void {
  if (migrating === null) return;
  throw new OperatorError(
    `the database has a migration of ${migrating} that is not complete`,
    'Run the same `zomma migrate` again, which goes on with it, or remove what it has copied: drop schema zomma cascade.',
  );
}

function requireKnown({ schema, leastReader }: ClusterHead): void {
  if (leastReader <= SCHEMA) return;
  throw new OperatorError(
    `the database has schema ${schema}, which programs with a schema from ${leastReader} on can use, and this program has schema ${SCHEMA}`,
    'Run the newer version of the program.',
  );
}

/** Throws `OperatorError` if the database has tables, which are those of another program. Tables of extensions do not count. */
async function requireEmptyDatabase(sql: Transaction): Promise<void> {
  const tables = await sql`
    select 1 as one from pg_class where relkind in ('r', 'p') and relnamespace::regnamespace::text !~ '^(pg_|information_schema$)'
      and not exists (select 1 from pg_depend where objid = pg_class.oid and deptype = 'e') limit 1`;
  if (tables.length === 0) return;
  const [{ user }] = await sql`select current_user::text as user`;
  throw new OperatorError(
    'the database has tables of another program',
    `Name a database of its own for Zomma with --store: \`${shellLine('createdb', '-O', user, 'zomma')}\`.`,
  );
}

async function create(sql: Transaction): Promise<void> {
  await requireEmptyDatabase(sql);
  await sql.unsafe('create schema if not exists zomma');
  const tables = clusterTables().flatMap(({ createSql }) => createSql);
  for (const statement of [...OWN_TABLES, ...tables, NAME_LEVEL_LOG]) await sql.unsafe(statement);
  await sql`insert into zomma.cluster (one, id, schema, least_reader) values (1, ${crypto.randomUUID()}, ${SCHEMA}, ${SCHEMA})`;
}
