import { existsSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { version } from '../../package.json';
import type { SharedSecret } from '../access/access.ts';
import { errorCode, isAway } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { runEvery } from '../feeds/background.ts';
import type { SnapshotListing } from '../market/store.ts';
import type { ValuesIn } from '../settings/config.ts';
import { errorOfReading, isDamage } from '../store/damage.ts';
import { SCHEMA } from '../store/folder/upgrade.ts';
import { type Mirror, openMirror } from '../store/mirror.ts';
import { MIRROR } from '../store/mirror-file.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { pruneLog } from './change-log.ts';
import { openCluster } from './cluster-schema.ts';
import { acceptFile, hasAccepted, missing, type SharedFile, sharedSecret } from './cluster-secret.ts';
import { type Leadership, startLeadership } from './leadership.ts';
import type { HeldLease } from './lease.ts';
import { type Engine, openEngine } from './postgres-engine.ts';
import { openReplica, type Replica } from './replica.ts';
import { parseStoreUrl } from './store-url.ts';

export type ClusterSettings = Pick<ValuesIn<'data'>, 'dataDir' | 'store' | 'storePassword'> &
  Pick<ValuesIn<'server'>, 'replica' | 'synchronous'>;

/** The database of a cluster, and the password for it. */
export type StoreLogin = Pick<ClusterSettings, 'store'> & Partial<Pick<ClusterSettings, 'storePassword'>>;

export interface ClusterEvents {
  readonly observe: Observe;
  /** Called after the mirror has taken changes. */
  readonly onApplied: () => void;
  readonly onDamaged: (snapshot: SnapshotListing) => void;
}

/** Interval at which a replica says that it lives, ms. */
const BEAT_MS = 2_000;
/** Time for which the log has the changes of a mirror that is away, and interval at which older ones are removed, ms. */
const LOG_KEPT_MS = 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
/** The difference of the clocks of this machine and of the database above which this server is not ready, ms. */
export const CLOCK_MS_MAX = 2_000;
/** A server that was not seen for longer than this time does not run, ms. */
export const REPLICA_SEEN_MS = 10_000;

/** One of the servers that share a database. */
export interface Cluster {
  /** The name of the file in the data folder that has the copy of the data. */
  readonly file: string;
  readonly store: SharedStore;
  /** Begins to follow the log. Resolves when the mirror is complete for the first time. */
  start(): Promise<void>;
  /** Leads whenever no other server does. `work` starts the work of the leader on a store, and returns the function that ends it. */
  lead(
    work: (store: SharedStore, lease: HeldLease) => () => Promise<void>,
    obstacle: () => string | undefined,
  ): Leadership;
  /** Returns why this server should get no requests, one sentence, or undefined. */
  problem(): string | undefined;
  /** Returns the time since the last contact with the database, ms. */
  sinceContactMs(): number;
  readonly state: () => ClusterState;
  /** Throws `OperatorError` if the file at the path is missing, and another server has registered one. */
  requireFile(file: SharedFile, path: string): Promise<void>;
  /** Registers a file of this server, or checks that it is that of the other servers. */
  accept(file: SharedFile, content: Uint8Array): Promise<void>;
  readonly members: SharedMembers;
  close(): Promise<void>;
}

/** The members, and the secret that the servers share. Each write of the ledger knows the secret. */
export interface SharedMembers {
  readonly ledger: SharedStore;
  readonly secret: SharedSecret;
}

export interface ClusterState {
  readonly replica: string;
  readonly isLeading: boolean;
  readonly place: number;
  readonly sinceContactMs: number;
  /** Time since the mirror last had all of the log, ms. */
  readonly sinceFollowedMs: number;
  /** The number of servers that were seen lately. */
  readonly servers: number;
  readonly isComplete: boolean;
  /** How far the clock of this machine is ahead of that of the database, ms. */
  readonly clockMs: number;
}

/** Joins the cluster of a database. Throws `OperatorError` if the database cannot be used. */
export async function joinCluster(settings: ClusterSettings, events: ClusterEvents): Promise<Cluster> {
  const { observe, onApplied } = events;
  const name = settings.replica ?? hostname().slice(0, 50);
  const holder = `${name} ${crypto.randomUUID()}`;
  const engine = openEngine(engineUrl(settings), {
    replica: name,
    onState: ({ host, problem }) => {
      if (problem === shownProblem) return;
      shownProblem = problem;
      observe(problem === null ? { kind: 'engine_back', host: host ?? '' } : { kind: 'engine_away', reason: problem });
    },
  });
  let shownProblem: string | null = null;
  const openedMs = performance.now();
  let followProblem: string | undefined;
  /** Why the mirror takes no changes, or undefined. */
  let mirrorProblem: string | undefined;
  const complete = Promise.withResolvers<void>();
  const damaged = new Set<number>();
  const path = join(settings.dataDir, MIRROR);
  // A wrong address or a wrong database leaves no mirror behind.
  await engine.transaction((sql) => openCluster(sql)).catch(closing(engine));
  const mirror = openFitMirror(path, observe, (snapshot, id) => {
    const again = damaged.has(id);
    damaged.add(id);
    const mended = again ? replica.store.write((tx) => void tx.chain(id)) : replica.readAgain('snapshots', [id]);
    void mended.catch((error: unknown) => observe({ kind: 'mirror_failed', error }));
    if (again) events.onDamaged(snapshot);
  });
  let replica: Replica;
  try {
    replica = await openReplica({
      ...{ engine, mirror, name },
      isSynchronous: settings.synchronous === 'on',
      onApplied() {
        if (replica.isComplete()) complete.resolve();
        onApplied();
      },
      onRefill: (reason) => observe({ kind: 'mirror_refilled', reason }),
      onLost(rows) {
        const countOf = (name: string) => rows.filter(({ table }) => table.name === name).length;
        observe({ kind: 'writes_lost', members: countOf('members'), audit_rows: countOf('audit'), rows: rows.length });
      },
      onProblem(error) {
        if (error === undefined && replica.isComplete()) complete.resolve();
        const { message } = error ?? {};
        const isOfMirror = message !== undefined && errorCode(error) !== 'ENGINE_AWAY';
        if (isOfMirror && message !== followProblem) observe({ kind: 'mirror_failed', error });
        // The next start copies the data again.
        if (isOfMirror && isDamage(error)) removeMirror(path);
        followProblem = message;
        mirrorProblem = isOfMirror ? `The copy of the data takes no changes: ${message}.` : undefined;
      },
    });
  } catch (error) {
    mirror.close();
    await engine.close();
    throw error;
  }
  const secret = sharedSecret(settings.dataDir);
  let leadership: Leadership | undefined;
  let clockMs = 0;
  let servers = 1;
  const beat = async (): Promise<void> => {
    try {
      const askedMs = Date.now();
      const [beaten] = await engine.transaction(
        (sql) => sql`
          insert into zomma.replicas (name, holder, version, schema, place, ready, seen)
          values (${name}, ${holder}, ${version}, ${SCHEMA}, ${replica.place()}, ${replica.isComplete()}, clock_timestamp())
          on conflict (name) do update set holder = excluded.holder, version = excluded.version, schema = excluded.schema,
            place = excluded.place, ready = excluded.ready, seen = excluded.seen
          returning (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
            (select count(*) from zomma.replicas where name <> ${name} and seen > clock_timestamp() - ${REPLICA_SEEN_MS}::float8 * interval '1 millisecond')::int as others`,
        { deadlineMs: BEAT_MS, isLocal: true },
      );
      const { now, others } = beaten;
      servers = 1 + others;
      const middle = (askedMs + Date.now()) / 2;
      // The answer may have been on its way for long.
      clockMs = Math.sign(middle - now) * Math.max(0, Math.abs(middle - now) - (Date.now() - askedMs) / 2);
    } catch {
      // The follower reports that the database is away.
    }
  };
  let beating: ReturnType<typeof setInterval> | undefined;
  const sinceContactMs = () => performance.now() - (engine.state.lastContactMs ?? openedMs);
  const problem = () => {
    if (!replica.isComplete()) return 'The copy of the data is being filled.';
    if (Math.abs(clockMs) > CLOCK_MS_MAX) return 'The clock of this machine differs from that of the database.';
    return undefined;
  };
  return {
    file: MIRROR,
    store: replica.store,
    members: { ledger: replica.hooked(secret), secret },
    start() {
      replica.start();
      void beat();
      beating = setInterval(() => void beat(), BEAT_MS);
      return complete.promise;
    },
    lead(work, obstacle) {
      leadership = startLeadership({
        ...{ engine, holder, observe },
        obstacle: () => problem() ?? mirrorProblem ?? obstacle(),
        lead(lease) {
          const pruning = runEvery(() => engine.transaction((sql) => pruneLog(sql, LOG_KEPT_MS)), {
            everyMs: PRUNE_EVERY_MS,
            onError: (error) => isAway(error) || observe({ kind: 'lead_failed', error }),
          });
          const end = work(replica.under(lease), lease);
          return async () => {
            await Promise.all([end(), pruning.stop()]);
          };
        },
      });
      return leadership;
    },
    problem,
    sinceContactMs,
    state: () => ({
      replica: name,
      isLeading: leadership?.held() !== undefined,
      place: replica.place(),
      sinceContactMs: sinceContactMs(),
      sinceFollowedMs: replica.sinceFollowedMs() ?? performance.now() - openedMs,
      servers,
      isComplete: replica.isComplete(),
      clockMs,
    }),
    async requireFile(file, path) {
      if (existsSync(path) || !(await engine.transaction((sql) => hasAccepted(sql, file)))) return;
      throw missing(file, settings.dataDir);
    },
    accept: (file, content) => engine.transaction((sql) => acceptFile(sql, file, content)),
    async close() {
      clearInterval(beating);
      await leadership?.stop();
      await engine
        .transaction((sql) => sql`delete from zomma.replicas where name = ${name} and holder = ${holder}`, {
          deadlineMs: 500,
        })
        .catch(() => {});
      const closed = engine.close();
      await replica.close();
      await closed;
    },
  };
}

export function engineUrl({ store, storePassword }: StoreLogin) {
  return parseStoreUrl(
    store,
    storePassword === undefined ? process.env : { ...process.env, PGPASSWORD: storePassword },
  );
}

/** Opens the mirror. One that SQLite cannot read, or of another schema, is removed: the log has all its rows. */
function openFitMirror(path: string, observe: Observe, onDamaged: Parameters<typeof openMirror>[2]): Mirror {
  const open = () => openMirror(path, Date.now, onDamaged);
  let mirror: Mirror | undefined;
  try {
    mirror = open();
    const error = errorOfReading(path);
    if (isDamage(error)) throw error;
    return mirror;
  } catch (error) {
    if (!isDamage(error) && errorCode(error) !== 'MIRROR_SCHEMA') throw error;
    mirror?.close();
    observe({ kind: 'mirror_refilled', reason: (error as Error).message });
    removeMirror(path);
    return open();
  }
}

function removeMirror(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
}

function closing(engine: Engine): (error: unknown) => Promise<never> {
  return async (error) => {
    await engine.close();
    throw error;
  };
}
