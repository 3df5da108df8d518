import { began } from '../../event-loop-watchdog.ts';
import type { Observe } from '../../events.ts';
import { descriptorsMax, type OwnConnection, openDescriptors, openOwnSockets, peerName } from './own-sockets.ts';
import { type ConnectionLimits, isCrowded, type KnownConnection, superfluous } from './superfluous.ts';

/** The part of a server that the connection watch uses. */
export interface ConnectionServer {
  readonly port?: number | undefined;
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  closeIdleConnections(): number;
}

export interface ConnectionWatchDeps {
  /** Other ends of connections with an open stream, in the form of `peerOf`. */
  readonly streamPeers: () => Iterable<string>;
  /** Whether all connections come from a proxy. If so, an address or an idle connection says nothing about a client. */
  readonly behindProxy: boolean;
  readonly observe: Observe;
}

/**
 * Ensures that descriptors stay free for new clients, files and providers. Anyone can open connections, and a server without a free
 * descriptor accepts none.
 *
 * While there are few connections, the watch only counts them. From `watchFrom` connections on, it inspects them. If there may be too many,
 * it records which connections make requests and for which account, and closes the superfluous ones. It inspects descriptors, because the
 * runtime does not list connections. HTTP/1.1 and HTTP/2 make no difference to it.
 */
export interface ConnectionWatch {
  /** Records a request that is admitted: a request to a public path, or one of an account within its rate limit. */
  onRequest(request: Request, account?: string): void;
  /** Returns the other end of a request's connection, for a stream that is being opened. Undefined if it is not known. */
  peerOf(request: Request): string | undefined;
  /** Starts to watch the connections of a listening server. */
  start(server: ConnectionServer): void;
  stop(): void;
}

/** How many descriptors connections may take, and from how many connections on they are watched. */
export interface DescriptorPlan {
  /** Soft limit of open descriptors of the process. */
  readonly descriptors: number;
  /** Descriptors that must stay free. */
  readonly reserve: number;
  readonly connections: number;
  readonly watchFrom: number;
  readonly addressMax: number;
  readonly strangersMax: number;
  /** Limits of open streams over all accounts, for MCP and for live levels. They leave some of the connections to requests. */
  readonly mcpStreamsMax: number;
  readonly liveStreamsMax: number;
  /** Time between two counts of open descriptors, ms. With few descriptors it is shorter, because a flood takes them sooner. */
  readonly lookMs: number;
}

const RESERVE_MAX = 256;
/** Descriptors that the process itself has open: for the database, the feeds and the runtime. */
const OWN_DESCRIPTORS = 32;
const ADDRESS_MAX = 100;
const STRANGERS_MAX = 1_000;
const WATCH_FROM = 100;
const MCP_STREAMS_MAX = 40_000;
const LIVE_STREAMS_MAX = 4_000;
/** Below this limit, the log says at the start how many connections and streams the descriptors allow. */
const FEW_DESCRIPTORS = 8_192;

/** Returns the plan for a limit of open descriptors. An unknown limit is infinite. */
export function descriptorPlan(descriptors = descriptorsMax()): DescriptorPlan {
  const reserve = Math.min(RESERVE_MAX, Math.floor(descriptors / 4));
  const connections = Math.max(0, descriptors - reserve - OWN_DESCRIPTORS);
  return {
    descriptors,
    reserve,
    connections,
    watchFrom: Math.min(WATCH_FROM, Math.floor(connections / 8)),
    addressMax: Math.min(ADDRESS_MAX, Math.floor(connections / 4)),
    strangersMax: Math.min(STRANGERS_MAX, Math.floor(connections / 2)),
    mcpStreamsMax: Math.min(MCP_STREAMS_MAX, Math.floor((3 / 4) * connections)),
    liveStreamsMax: Math.min(LIVE_STREAMS_MAX, Math.floor(connections / 8)),
    lookMs: Math.min(250, Math.max(20, descriptors / 40)),
  };
}

/**
 * Time between two inspections of the connections: while there may be too many, and otherwise. If an inspection takes long, the next one is
 * later, so that inspections take at most one hundredth of the time.
 */
const SCAN_MS = 1_000;
const CALM_SCAN_MS = 5_000;
const SCAN_SHARE = 100;
const IDLE_MS = 30_000;
const GRACE_MS = 2_000;
/**
 * A connection belongs to a member for this long after its last request with a valid key. The rate limit bounds how many connections an
 * account can have in this way.
 */
const MEMBER_MS = 60_000;
/** Connections closed in one step, which takes some 5 ms. */
const STEP_ENDED = 500;
/** Least time between two reports of closed connections. */
const TELL_MS = 10_000;

/** The record of a connection. Times are in ms of `performance.now()`. */
interface Note {
  readonly sinceMs: number;
  heardMs?: number;
  admittedMs?: number;
  account?: string;
}

export function createConnectionWatch({ streamPeers, behindProxy, observe }: ConnectionWatchDeps): ConnectionWatch {
  const plan = descriptorPlan();
  const limits: ConnectionLimits = {
    addressMax: behindProxy ? Number.POSITIVE_INFINITY : plan.addressMax,
    strangersMax: plan.strangersMax,
    idleMs: behindProxy ? Number.POSITIVE_INFINITY : IDLE_MS,
    graceMs: GRACE_MS,
  };
  const sockets = openOwnSockets();
  const notes = new Map<string, Note>();
  let server: ConnectionServer | undefined;
  let looking: ReturnType<typeof setInterval> | undefined;
  let ownDescriptors = 0;
  /** The time since which requests are recorded. Undefined while they are not: recording takes one or two microseconds per request. */
  let notingSinceMs: number | undefined;
  let crowdedMs = Number.NEGATIVE_INFINITY;
  let isScanning = false;
  let scanDueMs = 0;
  /** When descriptors were last counted. Serves as the time of requests, which is precise enough. */
  let lookedMs = 0;
  let untold = { count: 0, sinceMs: Number.NEGATIVE_INFINITY };

  const peerOf = (request: Request): string | undefined => {
    const end = server?.requestIP(request);
    return end ? peerName(end.address, end.port) : undefined;
  };

  const noteOf = (peer: string, nowMs: number): Note => {
    const known = notes.get(peer);
    if (known) return known;
    const note = { sinceMs: nowMs };
    notes.set(peer, note);
    return note;
  };

  const tell = (count: number, nowMs: number): void => {
    untold.count += count;
    if (untold.count === 0 || nowMs - untold.sinceMs < TELL_MS) return;
    observe({ kind: 'connections_ended', connections: untold.count, open: openDescriptors() - ownDescriptors });
    untold = { count: 0, sinceMs: nowMs };
  };

  const look = (): void => {
    const open = openDescriptors();
    const nowMs = performance.now();
    lookedMs = nowMs;
    const toFree = plan.reserve - (plan.descriptors - open);
    const isDue = toFree > 0 || nowMs >= scanDueMs;
    tell(0, nowMs);
    if (open - ownDescriptors < plan.watchFrom) {
      notingSinceMs = undefined;
      notes.clear();
    } else if (sockets) {
      if (isDue && !isScanning) void scan(sockets);
    } else if (toFree > 0 && isDue) {
      // The connections cannot be inspected, so all that can be done is to close idle ones.
      scanDueMs = nowMs + SCAN_MS;
      tell(server!.closeIdleConnections(), nowMs);
    }
  };

  /** Inspects all connections in steps, and closes the superfluous ones. */
  const scan = async (own: NonNullable<typeof sockets>): Promise<void> => {
    isScanning = true;
    let workedMs = 0;
    const step = <Result>(work: () => Result): Result => {
      began('connections');
      const startedAt = performance.now();
      const result = work();
      workedMs += performance.now() - startedAt;
      return result;
    };
    try {
      const port = server!.port!;
      // Connections with an open stream are exempt, because streams have limits of their own.
      const streams = new Set(streamPeers());
      const found: OwnConnection[] = [];
      let looked = 0;
      const pieces = own.accepted(port);
      for (let next = step(() => pieces.next()); !next.done; next = step(() => pieces.next())) {
        found.push(...next.value.filter(({ peer }) => !streams.has(peer)));
        looked += next.value.length;
        if (looked >= STEP_ENDED) await new Promise(setImmediate);
      }
      const ended = step(() => {
        const toFree = plan.reserve - (plan.descriptors - openDescriptors());
        const connections = known(found);
        const nowMs = performance.now();
        if (toFree > 0 || isCrowded(connections, limits)) crowdedMs = nowMs;
        // Requests are recorded for MEMBER_MS longer, so that members are known if the connections become too many again.
        if (nowMs - crowdedMs >= MEMBER_MS) {
          notingSinceMs = undefined;
          return [];
        }
        notingSinceMs ??= nowMs;
        return [...superfluous(connections, limits, nowMs, toFree)];
      });
      for (let from = 0; from < ended.length; from += STEP_ENDED) {
        if (from > 0) await new Promise(setImmediate);
        step(() => {
          for (const { connection } of ended.slice(from, from + STEP_ENDED)) own.end(connection, port);
        });
      }
      tell(ended.length, performance.now());
    } finally {
      isScanning = false;
      const pauseMs = notingSinceMs === undefined ? CALM_SCAN_MS : SCAN_MS;
      scanDueMs = performance.now() + Math.max(pauseMs, SCAN_SHARE * workedMs);
    }
  };

  /** Returns what is known about the connections, and deletes the records of closed connections. */
  const known = (found: readonly OwnConnection[]): (KnownConnection & { connection: OwnConnection })[] => {
    const nowMs = performance.now();
    const gone = new Set(notes.keys());
    const all = found.map((connection) => {
      const { peer, address } = connection;
      gone.delete(peer);
      const { sinceMs, heardMs, admittedMs = Number.NEGATIVE_INFINITY, account } = noteOf(peer, nowMs);
      const isMember = nowMs - admittedMs < MEMBER_MS;
      return {
        ...{ connection, address, sinceMs, heardMs },
        notedMs: Math.max(sinceMs, notingSinceMs ?? nowMs),
        account: isMember ? account : undefined,
      };
    });
    for (const peer of gone) notes.delete(peer);
    return all;
  };

  return {
    onRequest(request, account) {
      if (notingSinceMs === undefined) return;
      const peer = peerOf(request);
      if (peer === undefined) return;
      const note = noteOf(peer, lookedMs);
      note.heardMs = lookedMs;
      if (account === undefined) return;
      note.account = account;
      note.admittedMs = lookedMs;
    },
    peerOf,
    start(listening) {
      server = listening;
      ownDescriptors = openDescriptors();
      const { descriptors, connections, mcpStreamsMax } = plan;
      if (descriptors < FEW_DESCRIPTORS) {
        observe({ kind: 'few_descriptors', descriptors, connections, streams: mcpStreamsMax });
      }
      if (!sockets) observe({ kind: 'connections_unwatched', platform: process.platform });
      if (Number.isNaN(ownDescriptors)) return;
      looking = setInterval(look, plan.lookMs);
    },
    stop() {
      clearInterval(looking);
      notingSinceMs = undefined;
    },
  };
}
