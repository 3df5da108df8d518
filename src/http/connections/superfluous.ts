/** A connection without an open stream, and what is known of its client. Times are of `performance.now()`, ms. */
export interface KnownConnection {
  readonly address: string;
  /** Seen first. */
  readonly sinceMs: number;
  /** From when on its requests are noted. */
  readonly notedMs: number;
  /** Its last request, whoever it was of; undefined if it has made none. */
  readonly heardMs: number | undefined;
  /** Who has made a request with a good key not long ago; undefined for a stranger. */
  readonly account: string | undefined;
}

export interface ConnectionLimits {
  /** Connections without a key, of one address. */
  readonly addressMax: number;
  /** Connections without a key, of all addresses. */
  readonly strangersMax: number;
  /** A connection without a key that makes no request for so long is ended. */
  readonly idleMs: number;
  /** A connection has so long to show a key before it counts as one without; not while descriptors run out. */
  readonly graceMs: number;
}

/**
 * Which connections are to be ended: those without a key beyond the limits, and, until so many are free as must be, those of whoever has
 * the most of them, an address without a key or an account.
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

/** Whether there are more than the limits allow if none of them is a member's: only then does it matter whose they are. */
export function isCrowded(
  connections: readonly Pick<KnownConnection, 'address'>[],
  { addressMax, strangersMax }: ConnectionLimits,
): boolean {
  const byAddress = Map.groupBy(connections, ({ address }) => address);
  return connections.length > strangersMax || byAddress.values().some(({ length }) => length > addressMax);
}

/** Connections by what they have in common; of each group those that shall stay come first: who has made a request, and who came earlier. */
function groups<Connection extends KnownConnection>(
  connections: readonly Connection[],
  keyOf: (connection: Connection) => string,
): Connection[][] {
  const staying = (a: Connection, b: Connection) =>
    Number(a.heardMs === undefined) - Number(b.heardMs === undefined) || a.sinceMs - b.sinceMs;
  return [...Map.groupBy(connections, keyOf).values()].map((group) => group.sort(staying));
}

/** So many, taken from whichever group is the largest then. */
function fromTheLargest<Connection>(given: readonly Connection[][], count: number): Connection[] {
  if (count <= 0) return [];
  const sizes = given.map(({ length }) => length).sort((a, b) => b - a);
  // The level to which the largest groups are cut: so that it comes to the count, or a little more.
  let [level, above, taken] = [sizes[0] ?? 0, 0, 0];
  while (level > 0 && taken < count) {
    while ((sizes[above] ?? 0) >= level) above++;
    taken += above;
    level--;
  }
  return given.flatMap((group) => group.slice(level)).slice(0, count);
}
