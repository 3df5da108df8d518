import { began } from '../../event-loop-watchdog.ts';
import type { Observe } from '../../events.ts';
import { descriptorsMax, type OwnConnection, openDescriptors, openOwnSockets, peerName } from './own-sockets.ts';
import { type ConnectionLimits, isCrowded, type KnownConnection, superfluous } from './superfluous.ts';

/** What a server tells of its connections. */
export interface ConnectionServer {
  readonly port?: number | undefined;
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  closeIdleConnections(): number;
}

export interface ConnectionWatchParts {
  /** Other ends of connections with an open stream, as `peerOf` names them. */
  readonly streamPeers: () => Iterable<string>;
  /** All connections are a proxy's: an address, and an idle connection, say nothing of a client. */
  readonly behindProxy: boolean;
  readonly observe: Observe;
}

/**
 * Keeps descriptors free for new clients, files and providers: anybody can open connections, and a server without a descriptor accepts none.
 * While there are few, it counts them and no more. From some number on it looks at them, and if they may be too many of one client, it notes which make
 * requests, and of whom, and ends those that are superfluous. It reads descriptors because the runtime tells nothing of connections; HTTP/1.1 and HTTP/2 are alike to it.
 */
export interface ConnectionWatch {
  /** A request is answered: one that needs no key, or one of an account, within its rate. */
  heard(request: Request, account?: string): void;
  /** The other end of a request's connection, for a stream that is opened. */
  peerOf(request: Request): string | undefined;
  /** Watches the connections of a server that listens. */
  start(server: ConnectionServer): void;
  stop(): void;
}

/** How many descriptors connections may take, and from how many on they are watched. */
export interface DescriptorPlan {
  /** Soft limit of the process. */
  readonly descriptors: number;
  /** Kept free. */
  readonly reserve: number;
  readonly connections: number;
  readonly watchFrom: number;
  readonly addressMax: number;
  readonly strangersMax: number;
  /** Streams open at once, over MCP and of live levels, of all accounts: where few connections are allowed, some are for requests. */
  readonly mcpStreamsMax: number;
  readonly liveStreamsMax: number;
  /** How often open descriptors are counted, ms: more often where a flood takes them sooner. */
  readonly lookMs: number;
}

const RESERVE_MAX = 256;
/** What the process itself has open: database, feeds, the runtime's own. */
const OWN_DESCRIPTORS = 32;
const ADDRESS_MAX = 100;
const STRANGERS_MAX = 1_000;
const WATCH_FROM = 100;
const MCP_STREAMS_MAX = 40_000;
const LIVE_STREAMS_MAX = 4_000;
/** Below this many the log says at the start what they allow. */
const FEW_DESCRIPTORS = 8_192;

/** The plan for a limit; infinite if it is unknown. */
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

/** Connections are looked at so often, while they are too many and otherwise, and more seldom if that took long: a hundredth of the time at most. */
const SCAN_MS = 1_000;
const CALM_SCAN_MS = 5_000;
const SCAN_SHARE = 100;
const IDLE_MS = 30_000;
const GRACE_MS = 2_000;
/** A connection is a member's for so long after its last request with a good key. The rate limit bounds how many an account can have so. */
const MEMBER_MS = 60_000;
/** Ended in one step: some 5 ms. */
const STEP_ENDED = 500;
/** What was ended is told so often. */
const TELL_MS = 10_000;

/** What is noted of a connection while it is watched. */
interface Note {
  readonly sinceMs: number;
  heardMs?: number;
  admittedMs?: number;
  account?: string;
}

export function createConnectionWatch({ streamPeers, behindProxy, observe }: ConnectionWatchParts): ConnectionWatch {
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
  /** From when on requests are noted; undefined while they are not, since it takes a microsecond or two of each. */
  let notingSinceMs: number | undefined;
  let crowdedMs = Number.NEGATIVE_INFINITY;
  let isScanning = false;
  let scanDueMs = 0;
  /** When connections were looked at last: the time of a request, near enough. */
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
      // All that is left to do without knowing the connections.
      scanDueMs = nowMs + SCAN_MS;
      tell(server!.closeIdleConnections(), nowMs);
    }
  };

  /** Looks at all connections, some at a time, and ends the superfluous. */
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
      // Connections with an open stream are left alone: streams have limits of their own.
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
        // For some time longer: who is a member is then known still if more come.
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

  /** What is known of connections; of those that are gone, nothing any more. */
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
    heard(request, account) {
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
