import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Observe } from '../../core/events.ts';
import { type ConnectionLimits, connectionsToClose, isCrowded, type KnownConnection } from './connections-to-close.ts';
import { descriptorsMax, type OwnConnection, openDescriptors, openOwnSockets, peerName } from './own-sockets.ts';

/** The fields and methods of a server that the connection monitor uses. */
export interface ConnectionServer {
  readonly port?: number | undefined;
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
  closeIdleConnections(): number;
}

export interface ConnectionMonitorDeps {
  /** Returns the client's address and port for each connection with an open stream, in the form of `peerOf`. */
  readonly streamPeers: () => Iterable<string>;
  /** Whether all connections come from a proxy. Behind a proxy, addresses and idle times belong to the proxy and not to clients. */
  readonly behindProxy: boolean;
  readonly observe: Observe;
}

/**
 * Keeps file descriptors free for new clients, files and providers, because anyone can open connections, and a server without a free
 * descriptor accepts none. Below `monitorFrom` connections, only counts them. Above, inspects them through their descriptors, because the
 * runtime does not list connections. If there may be too many, records the requests and the account of each connection, and closes those
 * that exceed the limits.
 */
export type ConnectionMonitor = ReturnType<typeof createConnectionMonitor>;

const RESERVE_MAX = 256;
/** Number of descriptors that the process itself has open, for the database, the feeds and the runtime. */
const OWN_DESCRIPTORS = 32;
const ADDRESS_MAX = 100;
const KEYLESS_MAX = 1_000;
const MONITOR_FROM = 100;
const MCP_STREAMS_MAX = 40_000;
const LIVE_STREAMS_MAX = 4_000;
/** Below this limit on descriptors, the log states at the start how many connections and streams are possible. */
const FEW_DESCRIPTORS = 8_192;

/** Computes the limits on connections and streams from the limit on open descriptors. An unknown limit counts as infinite. */
export function descriptorPlan(descriptors = descriptorsMax()) {
  const reserve = Math.min(RESERVE_MAX, Math.floor(descriptors / 4));
  const connections = Math.max(0, descriptors - reserve - OWN_DESCRIPTORS);
  return {
    descriptors,
    /** Number of descriptors that must stay free. */
    reserve,
    connections,
    /** Minimum number of connections for an inspection. */
    monitorFrom: Math.min(MONITOR_FROM, Math.floor(connections / 8)),
    /** Maximum numbers of connections without a key: from one address, and from all addresses together. */
    addressMax: Math.min(ADDRESS_MAX, Math.floor(connections / 4)),
    keylessMax: Math.min(KEYLESS_MAX, Math.floor(connections / 2)),
    /** Maximum numbers of open MCP streams and level streams, for all accounts. They leave connections free for requests. */
    mcpStreamsMax: Math.min(MCP_STREAMS_MAX, Math.floor((3 / 4) * connections)),
    liveStreamsMax: Math.min(LIVE_STREAMS_MAX, Math.floor(connections / 8)),
    /** Time between two counts of open descriptors, ms. It is shorter for a low limit, which a flood of connections reaches sooner. */
    checkEveryMs: Math.min(250, Math.max(20, descriptors / 40)),
  };
}

/** Time between two inspections of the connections if there may be too many connections, ms. */
const SCAN_MS = 1_000;
/** Time between two inspections of the connections if there are not too many connections, ms. */
const CALM_SCAN_MS = 5_000;
/** Minimum pause after an inspection, as a multiple of the inspection's duration. So inspections take at most 1 % of the time. */
const SCAN_SHARE = 100;
const IDLE_MS = 30_000;
const GRACE_MS = 2_000;
/**
 * Time for which a connection belongs to a member after its last request with a valid key, ms. The rate limit bounds how many connections
 * can belong to one account, because each connection needs a request.
 */
const MEMBER_MS = 60_000;
/** Maximum number of connections that one step closes. To close so many connections takes about 5 ms. */
const CLOSED_PER_STEP = 500;
/** Minimum time between two reports of closed connections, ms. */
const REPORT_EVERY_MS = 10_000;

/** The monitor's record of a connection. Times are in ms of `performance.now()`. */
interface ConnectionRecord {
  readonly sinceMs: number;
  lastRequestMs?: number;
  admittedMs?: number;
  account?: string;
}

export function createConnectionMonitor({ streamPeers, behindProxy, observe }: ConnectionMonitorDeps) {
  const plan = descriptorPlan();
  const limits: ConnectionLimits = {
    addressMax: behindProxy ? Number.POSITIVE_INFINITY : plan.addressMax,
    keylessMax: plan.keylessMax,
    idleMs: behindProxy ? Number.POSITIVE_INFINITY : IDLE_MS,
    graceMs: GRACE_MS,
  };
  const sockets = openOwnSockets();
  const records = new Map<string, ConnectionRecord>();
  let server: ConnectionServer | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let ownDescriptors = 0;
  /** The time at which the recording of requests began. Undefined if requests are not recorded. To record a request takes 1 or 2 µs. */
  let recordingSinceMs: number | undefined;
  let crowdedMs = Number.NEGATIVE_INFINITY;
  let isScanning = false;
  let scanDueMs = 0;
  /** The time of the last count of descriptors, with which requests are recorded, because the limits need no exact times. */
  let checkedMs = 0;
  let unreported = { count: 0, sinceMs: Number.NEGATIVE_INFINITY };

  const peerOf = (request: Request): string | undefined => {
    const end = server?.requestIP(request);
    return end ? peerName(end.address, end.port) : undefined;
  };

  const recordOf = (peer: string, nowMs: number): ConnectionRecord => {
    const known = records.get(peer);
    if (known) return known;
    const record = { sinceMs: nowMs };
    records.set(peer, record);
    return record;
  };

  const reportClosed = (count: number, nowMs: number): void => {
    unreported.count += count;
    if (unreported.count === 0 || nowMs - unreported.sinceMs < REPORT_EVERY_MS) return;
    observe({ kind: 'connections_ended', connections: unreported.count, open: openDescriptors() - ownDescriptors });
    unreported = { count: 0, sinceMs: nowMs };
  };

  const check = (): void => {
    const open = openDescriptors();
    const nowMs = performance.now();
    checkedMs = nowMs;
    const toFree = plan.reserve - (plan.descriptors - open);
    const isDue = toFree > 0 || nowMs >= scanDueMs;
    reportClosed(0, nowMs);
    if (open - ownDescriptors < plan.monitorFrom) {
      recordingSinceMs = undefined;
      records.clear();
    } else if (sockets) {
      if (isDue && !isScanning) void scan(sockets);
    } else if (toFree > 0 && isDue) {
      // If the connections cannot be inspected, the monitor only closes idle connections.
      scanDueMs = nowMs + SCAN_MS;
      reportClosed(server!.closeIdleConnections(), nowMs);
    }
  };

  const scan = async (own: NonNullable<typeof sockets>): Promise<void> => {
    isScanning = true;
    let workedMs = 0;
    const step = <Result>(work: () => Result): Result => {
      announceStep('connections');
      const startedAt = performance.now();
      const result = work();
      workedMs += performance.now() - startedAt;
      return result;
    };
    try {
      const port = server!.port!;
      // Connections with an open stream are exempt from the limits on connections, because streams have their own limits.
      const streams = new Set(streamPeers());
      const found: OwnConnection[] = [];
      let inspected = 0;
      const pieces = own.accepted(port);
      for (let next = step(() => pieces.next()); !next.done; next = step(() => pieces.next())) {
        found.push(...next.value.filter(({ peer }) => !streams.has(peer)));
        inspected += next.value.length;
        if (inspected >= CLOSED_PER_STEP) await new Promise(setImmediate);
      }
      const toClose = step(() => {
        const toFree = plan.reserve - (plan.descriptors - openDescriptors());
        const connections = known(found);
        const nowMs = performance.now();
        if (toFree > 0 || isCrowded(connections, limits)) crowdedMs = nowMs;
        // The recording of requests ends MEMBER_MS after the last time with too many connections. If there are too many connections again
        // soon, the monitor still knows which connections belong to members.
        if (nowMs - crowdedMs >= MEMBER_MS) {
          recordingSinceMs = undefined;
          return [];
        }
        recordingSinceMs ??= nowMs;
        return [...connectionsToClose(connections, limits, nowMs, toFree)];
      });
      for (let from = 0; from < toClose.length; from += CLOSED_PER_STEP) {
        if (from > 0) await new Promise(setImmediate);
        step(() => {
          for (const { connection } of toClose.slice(from, from + CLOSED_PER_STEP)) own.end(connection, port);
        });
      }
      reportClosed(toClose.length, performance.now());
    } finally {
      isScanning = false;
      const pauseMs = recordingSinceMs === undefined ? CALM_SCAN_MS : SCAN_MS;
      scanDueMs = performance.now() + Math.max(pauseMs, SCAN_SHARE * workedMs);
    }
  };

  /** Returns each connection together with its recorded data, and deletes the records of closed connections. */
  const known = (found: readonly OwnConnection[]): (KnownConnection & { connection: OwnConnection })[] => {
    const nowMs = performance.now();
    const closedPeers = new Set(records.keys());
    const all = found.map((connection) => {
      const { peer, address } = connection;
      closedPeers.delete(peer);
      const { sinceMs, lastRequestMs, admittedMs = Number.NEGATIVE_INFINITY, account } = recordOf(peer, nowMs);
      const isMember = nowMs - admittedMs < MEMBER_MS;
      return {
        ...{ connection, address, sinceMs, lastRequestMs },
        recordedSinceMs: Math.max(sinceMs, recordingSinceMs ?? nowMs),
        account: isMember ? account : undefined,
      };
    });
    for (const peer of closedPeers) records.delete(peer);
    return all;
  };

  return {
    /** Records an admitted request: a request to a public path, or a request of an account within its rate limit. */
    onRequest(request: Request, account?: string) {
      if (recordingSinceMs === undefined) return;
      const peer = peerOf(request);
      if (peer === undefined) return;
      const record = recordOf(peer, checkedMs);
      record.lastRequestMs = checkedMs;
      if (account === undefined) return;
      record.account = account;
      record.admittedMs = checkedMs;
    },
    /** Returns the address and port of a request's client, for a stream that is being opened. Undefined if the address is not known. */
    peerOf,
    start(listening: ConnectionServer) {
      server = listening;
      ownDescriptors = openDescriptors();
      const { descriptors, connections, mcpStreamsMax } = plan;
      if (descriptors < FEW_DESCRIPTORS) {
        observe({ kind: 'few_descriptors', descriptors, connections, streams: mcpStreamsMax });
      }
      if (!sockets) observe({ kind: 'connections_unwatched', platform: process.platform });
      if (Number.isNaN(ownDescriptors)) return;
      timer = setInterval(check, plan.checkEveryMs);
    },
    stop() {
      clearInterval(timer);
      recordingSinceMs = undefined;
    },
  };
}
