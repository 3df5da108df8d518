/** A connection without an open stream, and what the monitor knows about its client. Times are in ms of `performance.now()`. */
export interface KnownConnection {
  readonly address: string;
  /** The time at which the connection was first seen. */
  readonly sinceMs: number;
  /** The time at which the recording of the connection's requests began. */
  readonly recordedSinceMs: number;
  /** The time of the last request, with or without a key. Undefined if no request was recorded. */
  readonly lastRequestMs: number | undefined;
  /** The account of a recent request with a valid key. Undefined if no recent request had a valid key. */
  readonly account: string | undefined;
}

export interface ConnectionLimits {
  /** Maximum number of connections without a key from one address. */
  readonly addressMax: number;
  /** Maximum number of connections without a key from all addresses together. */
  readonly keylessMax: number;
  /** Time without a request after which a connection without a key is closed, ms. */
  readonly idleMs: number;
  /** A new connection counts after this time, ms, so that the client can send a key, or at once if too few descriptors are free. */
  readonly graceMs: number;
}

/**
 * Returns the connections to close: first all connections without a key that are idle or exceed the limits, then, until `toFree` are found,
 * one by one from the account with the most remaining connections. Connections without a key are grouped by address.
 */
export function connectionsToClose<Connection extends KnownConnection>(
  connections: readonly Connection[],
  { addressMax, keylessMax, idleMs, graceMs }: ConnectionLimits,
  nowMs: number,
  toFree: number,
): Set<Connection> {
  const toClose = new Set<Connection>();
  const keyless = connections.filter(({ account }) => account === undefined);
  for (const each of keyless) {
    if (nowMs - Math.max(each.recordedSinceMs, each.lastRequestMs ?? 0) >= idleMs) toClose.add(each);
  }
  const counted = keyless.filter(
    (each) => !toClose.has(each) && (toFree > 0 || nowMs - each.recordedSinceMs >= graceMs),
  );
  const byAddress = groupedByPriority(counted, ({ address }) => address);
  for (const group of byAddress) for (const each of group.splice(addressMax)) toClose.add(each);
  const left = byAddress.reduce((sum, { length }) => sum + length, 0);
  for (const each of takeFromLargest(byAddress, left - keylessMax)) toClose.add(each);

  const others = connections.filter((each) => !toClose.has(each));
  const byOwner = groupedByPriority(others, ({ account, address }) =>
    account === undefined ? address : `account ${account}`,
  );
  for (const each of takeFromLargest(byOwner, toFree - toClose.size)) toClose.add(each);
  return toClose;
}

/** Returns whether the connections would exceed the limits without members. If not, their accounts need not be identified. */
export function isCrowded(
  connections: readonly Pick<KnownConnection, 'address'>[],
  { addressMax, keylessMax }: ConnectionLimits,
): boolean {
  const byAddress = Map.groupBy(connections, ({ address }) => address);
  return connections.length > keylessMax || byAddress.values().some(({ length }) => length > addressMax);
}

/** Groups connections by a key: those with a request first, the oldest first. Connections are closed from the end of a group. */
function groupedByPriority<Connection extends KnownConnection>(
  connections: readonly Connection[],
  keyOf: (connection: Connection) => string,
): Connection[][] {
  const byPriority = (a: Connection, b: Connection) =>
    Number(a.lastRequestMs === undefined) - Number(b.lastRequestMs === undefined) || a.sinceMs - b.sinceMs;
  return [...Map.groupBy(connections, keyOf).values()].map((group) => group.sort(byPriority));
}

/** Takes `count` connections one by one, and returns them. Each connection comes from the group with the most remaining connections. */
function takeFromLargest<Connection>(groups: readonly Connection[][], count: number): Connection[] {
  if (count <= 0) return [];
  const sizes = groups.map(({ length }) => length).sort((a, b) => b - a);
  // Each group longer than `level` is shortened to `level` connections. Together, the groups lose `count` connections or a few more.
  let [level, above, freed] = [sizes[0] ?? 0, 0, 0];
  while (level > 0 && freed < count) {
    while ((sizes[above] ?? 0) >= level) above++;
    freed += above;
    level--;
  }
  return groups.flatMap((group) => group.slice(level)).slice(0, count);
}
