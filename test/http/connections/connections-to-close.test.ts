import { expect, test } from 'bun:test';
import {
  type ConnectionLimits,
  connectionsToClose,
  isCrowded,
  type KnownConnection,
} from '../../../src/http/connections/connections-to-close.ts';

const NOW = 1_000_000;
const LIMITS: ConnectionLimits = { addressMax: 3, keylessMax: 8, idleMs: 30_000, graceMs: 2_000 };

/** Connections of one client that opened one minute ago and sent a request 100 ms ago. Each opened 1 ms after the one before. */
function of(address: string, count: number, overrides: Partial<KnownConnection> = {}) {
  return Array.from({ length: count }, (_, i) => ({
    ...{ name: `${address}.${i}`, address, sinceMs: NOW - 60_000 + i, lastRequestMs: NOW - 100 },
    ...{ account: undefined, ...overrides },
    recordedSinceMs: overrides.recordedSinceMs ?? overrides.sinceMs ?? NOW - 60_000,
  }));
}

type Connections = ReturnType<typeof of>;
const CASES: readonly [what: string, connections: Connections, toFree: number, ended: readonly string[]][] = [
  ['nothing if there are few connections', [...of('a', 3), ...of('b', 3)], 0, []],
  ['the newest connections of an address beyond its limit', of('a', 5), 0, ['a.3', 'a.4']],
  [
    'connections without a request before connections with one',
    [...of('a', 2, { lastRequestMs: undefined, sinceMs: NOW - 9_000 }), ...of('a', 2)],
    0,
    ['a.1'],
  ],
  [
    'connections without an account beyond the total limit, from the addresses with the most',
    [...of('a', 3), ...of('b', 3), ...of('c', 3), ...of('d', 1)],
    0,
    ['a.2', 'b.2'],
  ],
  [
    'connections without a request for 30 s',
    [...of('a', 1, { lastRequestMs: NOW - 30_000 }), ...of('b', 1, { lastRequestMs: undefined })],
    0,
    ['a.0', 'b.0'],
  ],
  [
    'no connection that opened less than 30 s ago',
    of('a', 1, { lastRequestMs: undefined, sinceMs: NOW - 29_999 }),
    0,
    [],
  ],
  [
    'no connection of a member, however many come from one address',
    of('a', 50, { account: 'm', lastRequestMs: undefined }),
    0,
    [],
  ],
  ['no connection that just opened and may still send a key', of('a', 9, { sinceMs: NOW - 1_999 }), 0, []],
  ['a connection that just opened if descriptors run out', of('a', 4, { sinceMs: NOW }), 1, ['a.3']],
  ['only as many connections as must be freed', [...of('a', 3), ...of('b', 2)], 2, ['a.2', 'a.1']],
  [
    'connections of the largest holder first; an account counts like an address',
    [...of('a', 2), ...of('b', 6, { account: 'm' })],
    3,
    ['b.3', 'b.4', 'b.5'],
  ],
  [
    'connections of several accounts evenly',
    [...of('a', 4, { account: 'm' }), ...of('a', 4, { account: 'n' })],
    2,
    ['a.3', 'a.3'],
  ],
];

test.each(CASES)('ends %s', (_, connections, toFree, ended) => {
  const found = [...connectionsToClose(connections, LIMITS, NOW, toFree)].map(({ name }) => name);
  expect(found.toSorted()).toEqual(ended.toSorted());
});

test('the age of a connection starts when its requests are first noted, not when it opens', () => {
  const ended = (count: number, recordedSinceMs: number) =>
    connectionsToClose(of('a', count, { lastRequestMs: undefined, recordedSinceMs }), LIMITS, NOW, 0).size;
  expect([ended(9, NOW - 1_999), ended(9, NOW - 2_000), ended(1, NOW - 29_999)]).toEqual([0, 6, 0]);
});

test.each([
  ['few of each address', [...of('a', 3), ...of('b', 3)], false],
  ['many of one address', of('a', 4), true],
  ['many in total', [...of('a', 3), ...of('b', 3), ...of('c', 3)], true],
  ['many of one address, perhaps of a member', of('a', 4, { account: 'm' }), true],
] as const)('whether the owners of the connections matter: %s', (_, connections, expected) => {
  expect(isCrowded(connections, LIMITS)).toBe(expected);
});

test('behind a proxy all connections may come from one address and be idle', () => {
  const limits = { ...LIMITS, addressMax: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY };
  expect(connectionsToClose(of('proxy', 8, { lastRequestMs: undefined }), limits, NOW, 0).size).toBe(0);
  expect(connectionsToClose(of('proxy', 9, { lastRequestMs: undefined }), limits, NOW, 0).size).toBe(1);
});
