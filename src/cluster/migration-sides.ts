import { OperatorError } from '../core/errors.ts';
import { type CopyMark, type CopyOrigin, type CopyTarget, firstMark } from '../store/copy-rows.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import type { MirroredTable } from '../store/mirrored-tables.ts';
import type { TableRows } from '../store/table-rows.ts';
import { appendChanges, EVERYTHING, headPlace, sequencesIn } from './change-log.ts';
import { APPEND_LOCK, type ClusterHead, openCluster, readHead, requireFilled } from './cluster-schema.ts';
import { acceptFile, hasAccepted, standingOf } from './cluster-secret.ts';
import { REPLICA_SEEN_MS } from './join-cluster.ts';
import type { Engine } from './postgres-engine.ts';
import type { Transaction, TransactionOptions } from './postgres-session.ts';
import { type ClusterTable, clusterTables } from './row-statements.ts';

/** The deadline of a transaction of some megabytes on a slow disk, ms. */
const DEADLINE_MS = 120_000;
const READ: TransactionOptions = { readOnly: true, isolation: 'repeatable read', deadlineMs: DEADLINE_MS };

/** A database of a cluster that a migration reads. */
export interface ClusterOrigin extends TableRows {
  readonly origin: CopyOrigin;
  /** An estimate of the size of all rows. */
  readonly bytes: number;
  /** Throws `OperatorError` if the database has been changed since it was opened, or if a server uses it. */
  requireUnchanged(): Promise<void>;
}

/** A database of a cluster that a migration fills, or has filled. */
export interface ClusterTarget extends CopyTarget {
  /** When an earlier run has completed the migration, ISO 8601. */
  readonly completedAt: string | undefined;
  /** Lets servers use the database. */
  complete(): Promise<void>;
}

/** Opens the database of a cluster to read all its rows. Throws `OperatorError` if it cannot be migrated, or if the secret is another one. */
export async function openClusterOrigin(
  engine: Engine,
  name: string,
  secret: Uint8Array | undefined,
): Promise<ClusterOrigin> {
  const look = () =>
    engine.transaction(async (sql) => {
      const head = await readHead(sql);
      requireFilled(head);
      requireSchema(head);
      await requireIdle(sql);
      if (secret)
        await requireSecret(
          sql,
          secret,
          'the folder of --to',
          'Name a new folder with --to, and copy the file "secret" of a server into it (mode 600).',
        );
      return { name, identity: head.id, version: `schema ${SCHEMA}, place ${await headPlace(sql)}` };
    }, READ);
  const origin = await look();
  const [{ bytes }] = await engine.transaction(
    (sql) => sql`select sum(pg_table_size(oid))::float8 as bytes from pg_class
      where relnamespace = 'zomma'::regnamespace and relkind = 'r'`,
    READ,
  );
  return {
    ...clusterRows(engine),
    origin,
    bytes,
    async requireUnchanged() {
      if ((await look()).version === origin.version) return;
      throw new OperatorError(
        'the database was changed during the migration',
        'Stop all servers and commands that use the database, and run the command again: it begins again.',
      );
    },
  };
}

/**
 * Opens the database of a cluster to fill it, and creates its tables. A migration of an earlier state of the origin begins again. Throws
 * `OperatorError` if the database has other data, if a server uses it, or if the secret is another one. Nothing is changed then.
 */
export async function openClusterTarget(
  engine: Engine,
  origin: CopyOrigin,
  secret: Uint8Array | undefined,
): Promise<ClusterTarget> {
  const open = async (sql: Transaction) => {
    const head = await openCluster(sql);
    requireSchema(head);
    const [known] = await sql`select name, identity, version, mark, completed_at from zomma.migration`;
    if (known && known.identity === origin.identity && known.completed_at !== null) {
      requireSameVersion(known.version, origin, known.completed_at);
      return { ...known, left: undefined };
    }
    if (known && known.completed_at === null && known.identity !== origin.identity) requireFilled(head);
    await requireIdle(sql);
    const isNew = !known || known.completed_at !== null;
    // Before the secret: with other data in the database, the right secret does not help.
    if (isNew) await requireEmpty(sql);
    if (secret) {
      await requireSecret(sql, secret, origin.name, OTHER_DATABASE);
      await acceptFile(sql, 'secret', secret);
    } else if (await hasAccepted(sql, 'secret')) throw withoutSecret(origin);
    if (isNew) {
      // The log of levels keeps its name, so streams resume.
      await sql`delete from zomma.level_log`;
      await sql`delete from zomma.migration`;
      await sql`insert into zomma.migration (one, name, identity, version, mark)
        values (1, ${origin.name}, ${origin.identity}, ${origin.version}, ${JSON.stringify(firstMark())})`;
    } else if (known.version !== origin.version) await clear(sql, origin);
    const [opened] = await sql`select mark, completed_at from zomma.migration`;
    const isPart = known?.completed_at === null;
    return { ...opened, left: isPart ? (known.version === origin.version ? 'part' : 'outdated') : undefined };
  };
  const { mark, completed_at, left } = await engine.transaction(open, { deadlineMs: DEADLINE_MS });
  let present: string = mark;
  const move = async (sql: Transaction, next: CopyMark): Promise<string> => {
    const text = JSON.stringify(next);
    const moved =
      await sql`update zomma.migration set mark = ${text} where mark = ${present} and completed_at is null returning 1 as one`;
    if (moved.length > 0) return text;
    throw new OperatorError(
      'the database has another mark than this run has set: another process migrates into it, or a fail-over has lost the last rows',
      'Run the command again when no other process migrates: it goes on.',
    );
  };
  const byName = tablesByName();
  return {
    ...clusterRows(engine),
    mark: JSON.parse(mark) as CopyMark,
    left,
    completedAt: completed_at === null ? undefined : (completed_at as Date).toISOString(),
    async put(table, rows, next) {
      const work = async (sql: Transaction) => {
        // A crash of the engine loses the rows and the mark together. The last transaction makes all of them durable.
        await sql.unsafe('set local synchronous_commit = off');
        await byName.get(table.name)!.put(sql, rows, PLACE_OF_ROWS);
        return await move(sql, next);
      };
      present = await engine.transaction(work, { deadlineMs: DEADLINE_MS });
    },
    async end(sequences, next) {
      const work = async (sql: Transaction) => {
        await sql.unsafe(APPEND_LOCK);
        const by = { timeline: engine.state.timeline ?? 0, replica: 'migration', batch: crypto.randomUUID() };
        const place = await appendChanges(sql, { tables: [], sequences, written: EVERYTHING }, by);
        // A mirror of the empty database is filled again, because the log does not have the rows.
        await sql`update zomma.cluster set kept_from = ${place}`;
        return await move(sql, next);
      };
      present = await engine.transaction(work, { deadlineMs: DEADLINE_MS });
    },
    beginAgain: () => engine.transaction((sql) => clear(sql, origin), { deadlineMs: DEADLINE_MS }),
    complete: () =>
      engine.transaction(async (sql) => void (await sql`update zomma.migration set completed_at = clock_timestamp()`), {
        deadlineMs: DEADLINE_MS,
      }),
  };
}

/** The place of migrated rows, which is before the first one of the log. */
const PLACE_OF_ROWS = 0;

function tablesByName(): Map<string, ClusterTable> {
  return new Map(clusterTables().map((each) => [each.table.name, each]));
}

function clusterRows(engine: Engine): TableRows {
  const byName = tablesByName();
  return {
    page: ({ name }: MirroredTable, after, limit) =>
      engine.transaction((sql) => byName.get(name)!.page(sql, after, limit), READ),
    sequences: () => engine.transaction(sequencesIn, READ),
  };
}

async function clear(sql: Transaction, { name, version }: CopyOrigin): Promise<void> {
  const all = [...clusterTables().map(({ table }) => table.name), 'appends', 'removals', 'sequences'];
  await sql.unsafe(`truncate ${all.map((each) => `zomma."${each}"`).join(', ')}`);
  await sql`update zomma.cluster set kept_from = 0`;
  await sql`update zomma.migration set name = ${name}, version = ${version}, mark = ${JSON.stringify(firstMark())}`;
}

function requireSchema({ schema }: ClusterHead): void {
  if (schema === SCHEMA) return;
  throw new OperatorError(
    `the database has schema ${schema}, and this program needs schema ${SCHEMA}`,
    schema < SCHEMA
      ? 'Start a server of this version with the database once, which upgrades it.'
      : 'Use the version of the program that the servers have.',
  );
}

/** Throws `OperatorError` if a server uses the database. */
async function requireIdle(sql: Transaction): Promise<void> {
  const [seen] = await sql.unsafe(
    `select name from zomma.replicas where seen > clock_timestamp() - interval '${REPLICA_SEEN_MS} milliseconds' order by seen desc limit 1`,
  );
  const [held] = await sql`select holder from zomma.leases where until > clock_timestamp()`;
  if (!seen && !held) return;
  throw new OperatorError(
    seen
      ? `the server ${seen.name} uses the database`
      : `the server ${held.holder.split(' ')[0]} leads in the database`,
    'Stop all servers of the database. A server that was killed counts for ten more seconds.',
  );
}

async function requireEmpty(sql: Transaction): Promise<void> {
  const filled = clusterTables().filter(({ table }) => table.name !== 'level_log');
  const names = [...filled.map(({ table }) => table.name), 'appends'];
  const [{ full }] = await sql.unsafe(
    `select coalesce(${names.map((name) => `(select '${name}' from zomma."${name}" limit 1)`).join(', ')}) as full`,
  );
  if (full === null) return;
  throw new OperatorError(
    `the database has data of Zomma already, in its table ${full}`,
    'A migration needs an empty database. Create one, or remove the data of this one: drop schema zomma cascade.',
  );
}

function requireSameVersion(version: string, origin: CopyOrigin, completedAt: Date): void {
  if (version === origin.version) return;
  throw new OperatorError(
    `${origin.name} has changed since its migration into the database was complete, at ${completedAt.toISOString()}`,
    'The servers of the database have the data of then. To migrate anew, create another database.',
  );
}

/** The keys of the members fit the secret of their folder only, so no hint replaces it. */
const OTHER_DATABASE =
  'Leave the secret of the folder as it is, and name an empty database with --to, on which no server has run.';

/** Throws `OperatorError` if the database has another secret than the folder. */
async function requireSecret(sql: Transaction, secret: Uint8Array, folder: string, hint: string): Promise<void> {
  const standing = await standingOf(sql, 'secret', secret);
  if (standing === undefined || standing.isValid) return;
  throw new OperatorError(`${folder} has another secret than the servers of the database`, hint);
}

function withoutSecret({ name }: CopyOrigin): OperatorError {
  return new OperatorError(
    `${name} has no secret, and the servers of the database have one`,
    'Put the secret of the folder back into it, or name an empty database with --to, on which no server has run.',
  );
}
