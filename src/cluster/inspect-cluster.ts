import type { MirrorPlace } from '../store/mirror.ts';
import { readHead } from './cluster-schema.ts';
import { type SharedFile, standingOf } from './cluster-secret.ts';
import { isPrimary, timelineOf } from './find-primary.ts';
import { engineUrl, REPLICA_SEEN_MS, type StoreLogin } from './join-cluster.ts';
import { LEAD } from './leadership.ts';
import { findMismatch } from './log-after.ts';
import { openEngine } from './postgres-engine.ts';
import { PostgresSession, type Transaction } from './postgres-session.ts';
import type { StoreUrl } from './store-url.ts';

/** A server as the database knows it. */
export interface SeenReplica {
  readonly name: string;
  readonly version: string;
  /** The number of writes that its copy lacked when the server was last seen, or that came since. */
  readonly behind: number;
  /** The age of the oldest of these writes, ms. */
  readonly lagMs: number;
  readonly isReady: boolean;
  readonly sinceSeenMs: number;
  readonly isSeen: boolean;
}

/** A host of the URL that is a primary beside the one that the servers use. */
export interface OtherPrimary {
  readonly host: string;
  readonly timeline: number;
}

/** What the database of a cluster says about the cluster and about files of this server. */
export type ClusterReport = Awaited<ReturnType<typeof inspectCluster>>;

/** The files of a server that all servers share. Undefined is one that the server lacks. */
export type OwnFiles = Partial<Readonly<Record<SharedFile, Uint8Array | undefined>>>;

/**
 * Asks the database of a cluster, and changes nothing. `copy` is the place of the copy in the data folder. Rejects with `OperatorError`, also if
 * the copy is of after a promotion, and only the primary of before is there.
 */
export async function inspectCluster(login: StoreLogin, files: OwnFiles, copy: MirrorPlace | undefined) {
  const url = engineUrl(login);
  const engine = openEngine(url, { replica: 'check' });
  try {
    // Opens the connection, whose time is not a difference of clocks.
    const head = await engine.transaction(readHead, { readOnly: true });
    const mismatch =
      copy && (await engine.transaction((sql, timeline) => findMismatch(sql, copy, timeline), { readOnly: true }));
    if (mismatch?.kind === 'replaced') engine.outdate(mismatch.by);
    const report = await engine.transaction(
      async (sql) => {
        const askedMs = Date.now();
        const [{ now_ms, started }] = await sql`
          select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms, pg_postmaster_start_time()::text as started`;
        const clockMs = (askedMs + Date.now()) / 2 - now_ms;
        const rows: ReplicaRow[] = await sql`
          select name, version, ready, (extract(epoch from clock_timestamp() - seen) * 1000)::float8 as since_seen_ms,
            (select count(*) from zomma.appends where place > replicas.place)::float8 as behind,
            coalesce((select extract(epoch from clock_timestamp() - min(at)) * 1000 from zomma.appends where place > replicas.place), 0)::float8 as lag_ms
          from zomma.replicas order by name`;
        const [lease] = await sql`
          select split_part(holder, ' ', 1) as name from zomma.leases where name = ${LEAD} and until > clock_timestamp()`;
        const standings: Partial<Record<SharedFile, Awaited<ReturnType<typeof standingOf>>>> = {};
        for (const [file, content] of Object.entries(files) as [SharedFile, Uint8Array | undefined][])
          standings[file] = await standingOf(sql, file, content);
        return {
          head,
          host: engine.state.host ?? '',
          timeline: engine.state.timeline ?? 0,
          started: started as string,
          clockMs,
          replicas: rows.map(replicaOf),
          leader: lease?.name as string | undefined,
          awaitedStandby: await findAwaitedStandby(sql),
          standings,
        };
      },
      { readOnly: true },
    );
    return { ...report, otherPrimaries: await findOtherPrimaries(url, report) };
  } finally {
    await engine.close();
  }
}

/** A standby that is attached confirms a commit sooner, even over a slow network, ms. */
const COMMIT_MS_MAX = 2_000;

/**
 * Returns the names of the synchronous standbys if every commit waits for one that is away, or undefined. Everybody may see how many standbys
 * are attached, and each role may see for what its own sessions wait.
 */
async function findAwaitedStandby(sql: Transaction): Promise<string | undefined> {
  const [{ names, is_waiting }] = await sql`
    select current_setting('synchronous_standby_names') as names,
      exists (
        select from pg_stat_activity
        where wait_event = 'SyncRep' and query_start < clock_timestamp() - ${COMMIT_MS_MAX}::float8 * interval '1 millisecond'
      ) or (
        current_setting('synchronous_commit') not in ('off', 'local') and not exists (select from pg_stat_replication)
      ) as is_waiting`;
  return names !== '' && is_waiting ? names : undefined;
}

const SESSION = { application: 'zomma/check', connectMs: 2_000, leastVersion: 0 };

/** Asks the other hosts whether they are primaries, too. An old primary that was started again after a promotion is one. */
async function findOtherPrimaries(
  url: StoreUrl,
  { host, started }: { readonly host: string; readonly started: string },
): Promise<OtherPrimary[]> {
  const asked = url.hosts
    .filter(({ text }) => text !== host)
    .map(async (each) => {
      const session = await PostgresSession.open(url, each, SESSION).catch(() => undefined);
      if (session === undefined) return [];
      try {
        if (!isPrimary(session)) return [];
        const other = await session.transaction(
          async (sql) => (await sql`select pg_postmaster_start_time()::text as started`)[0].started as string,
          { deadlineMs: SESSION.connectMs, readOnly: true },
        );
        // Two names can be of one server.
        return other === started ? [] : [{ host: each.text, timeline: timelineOf(session) }];
      } catch {
        // It has ended meanwhile.
        return [];
      } finally {
        session.close();
      }
    });
  return (await Promise.all(asked)).flat();
}

interface ReplicaRow {
  readonly name: string;
  readonly version: string;
  readonly ready: boolean;
  readonly since_seen_ms: number;
  readonly behind: number;
  readonly lag_ms: number;
}

function replicaOf({ name, version, ready, since_seen_ms, behind, lag_ms }: ReplicaRow): SeenReplica {
  const isSeen = since_seen_ms <= REPLICA_SEEN_MS;
  return { name, version, behind, lagMs: lag_ms, isReady: ready, sinceSeenMs: since_seen_ms, isSeen };
}
