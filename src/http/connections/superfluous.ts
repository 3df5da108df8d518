/** A connection without an open stream, and what is known about its client. Times are in ms of `performance.now()`. */
export interface KnownConnection {
  readonly address: string;
  /** When the connection was first seen. */
  readonly sinceMs: number;
  /** The time since which requests of the connection have been recorded. */
  readonly notedMs: number;
  /** The last request, with or without a key. Undefined if none was recorded. */
  readonly heardMs: number | undefined;
  /** The account of a recent request with a valid key. Undefined for a stranger: a connection without such a request. */
  readonly account: string | undefined;
}

export interface ConnectionLimits {
  /** Limit of connections without a key, per address. */
  readonly addressMax: number;
  /** Limit of connections without a key, over all addresses. */
  readonly strangersMax: number;
  /** A connection without a key is closed if it makes no request for this long. */
  readonly idleMs: number;
  /** A connection has this long to send a key before it counts in the limits. It has no such time while descriptors run out. */
  readonly graceMs: number;
}

/**
 * Returns the connections to close. First, these are connections without a key that are idle or exceed the limits. Then, until there are at
 * least `toFree`, these are connections of the address (without a key) or the account that has the most of them.
 */
export function superfluous<Connection extends KnownConnection>(
  connections: readonly Connection[],
  { addressMax, strangersMax, idleMs, graceMs }: ConnectionLimits,
  nowMs: number,
  toFree: number,
): Set<Connection> {
  const ended = new Set<Connection>();
  const strangers = connections.filter(({ account }) => account === undefined);
  for (const stranger of strangers) {
    if (nowMs - Math.max(stranger.notedMs, stranger.heardMs ?? 0) >= idleMs) ended.add(stranger);
  }
  const counted = strangers.filter((each) => !ended.has(each) && (toFree > 0 || nowMs - each.notedMs >= graceMs));
  const byAddress = groups(counted, ({ address }) => address);
  for (const group of byAddress) for (const each of group.splice(addressMax)) ended.add(each);
  const left = byAddress.reduce((sum, { length }) => sum + length, 0);
  for (const each of fromTheLargest(byAddress, left - strangersMax)) ended.add(each);

  const others = connections.filter((each) => !ended.has(each));
  const byOwner = groups(others, ({ account, address }) => (account === undefined ? address : `account ${account}`));
  for (const each of fromTheLargest(byOwner, toFree - ended.size)) ended.add(each);
  return ended;
}

/** Whether the connections would exceed the limits if none belonged to a member. Only then does it matter to whom they belong. */
export function isCrowded(
  connections: readonly Pick<KnownConnection, 'address'>[],
  { addressMax, strangersMax }: ConnectionLimits,
): boolean {
  const byAddress = Map.groupBy(connections, ({ address }) => address);
  return connections.length > strangersMax || byAddress.values().some(({ length }) => length > addressMax);
}

/**
 * Groups connections by a key. In each group, connections that have made a request come first, and then the older ones. The first ones stay
 * open longest.
 */
function groups<Connection extends KnownConnection>(
  connections: readonly Connection[],
  keyOf: (connection: Connection) => string,
): Connection[][] {
  const staying = (a: Connection, b: Connection) =>
    Number(a.heardMs === undefined) - Number(b.heardMs === undefined) || a.sinceMs - b.sinceMs;
  return [...Map.groupBy(connections, keyOf).values()].map((group) => group.sort(staying));
}

/** Returns `count` connections, each taken from the group that is the largest at that point. */
function fromTheLargest<Connection>(given: readonly Connection[][], count: number): Connection[] {
  if (count <= 0) return [];
  const sizes = given.map(({ length }) => length).sort((a, b) => b - a);
  // The length to which larger groups are cut, so that the connections beyond it are `count` or a few more.
  let [level, above, taken] = [sizes[0] ?? 0, 0, 0];
  while (level > 0 && taken < count) {
    while ((sizes[above] ?? 0) >= level) above++;
    taken += above;
    level--;
  }
  return given.flatMap((group) => group.slice(level)).slice(0, count);
}
