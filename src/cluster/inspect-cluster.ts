import { readHead } from './cluster-schema.ts';
import { type SharedFile, standingOf } from './cluster-secret.ts';
import { engineUrl, REPLICA_SEEN_MS, type StoreLogin } from './join-cluster.ts';
import { LEAD } from './leadership.ts';
import { openEngine } from './postgres-engine.ts';

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

/** What the database of a cluster says about the cluster and about files of this server. */
export type ClusterReport = Awaited<ReturnType<typeof inspectCluster>>;

/** The files of a server that all servers share. Undefined is one that the server lacks. */
export type OwnFiles = Partial<Readonly<Record<SharedFile, Uint8Array | undefined>>>;

/** Asks the database of a cluster, and changes nothing. Rejects with `OperatorError`. */
export async function inspectCluster(login: StoreLogin, files: OwnFiles) {
  const engine = openEngine(engineUrl(login), { replica: 'check' });
  try {
    // Opens the connection, whose time is not a difference of clocks.
    const head = await engine.transaction(readHead, { readOnly: true });
    return await engine.transaction(
      async (sql) => {
        const askedMs = Date.now();
        const [{ now_ms }] = await sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`;
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
          clockMs,
          replicas: rows.map(replicaOf),
          leader: lease?.name as string | undefined,
          standings,
        };
      },
      { readOnly: true },
    );
  } finally {
    await engine.close();
  }
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
