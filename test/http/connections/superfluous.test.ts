import { expect, test } from 'bun:test';
import {
  type ConnectionLimits,
  isCrowded,
  type KnownConnection,
  superfluous,
} from '../../../src/http/connections/superfluous.ts';

const NOW = 1_000_000;
const LIMITS: ConnectionLimits = { addressMax: 3, strangersMax: 8, idleMs: 30_000, graceMs: 2_000 };

/** Connections of one client that came a minute ago and asked just now, each a millisecond after the one before. */
function of(address: string, count: number, over: Partial<KnownConnection> = {}) {
  return Array.from({ length: count }, (_, at) => ({
    ...{ name: `${address}.${at}`, address, sinceMs: NOW - 60_000 + at, heardMs: NOW - 100 },
    ...{ account: undefined, ...over },
    notedMs: over.notedMs ?? over.sinceMs ?? NOW - 60_000,
  }));
}

type Connections = ReturnType<typeof of>;
const CASES: readonly [what: string, connections: Connections, toFree: number, ended: readonly string[]][] = [
  ['nothing, of few', [...of('a', 3), ...of('b', 3)], 0, []],
  ['those of one address beyond its limit, the last to come', of('a', 5), 0, ['a.3', 'a.4']],
  [
    'those that never asked before those that did',
    [...of('a', 2, { heardMs: undefined, sinceMs: NOW - 9_000 }), ...of('a', 2)],
    0,
    ['a.1'],
  ],
  [
    'strangers beyond all, of the addresses with the most',
    [...of('a', 3), ...of('b', 3), ...of('c', 3), ...of('d', 1)],
    0,
    ['a.2', 'b.2'],
  ],
  [
    'who has asked nothing for half a minute',
    [...of('a', 1, { heardMs: NOW - 30_000 }), ...of('b', 1, { heardMs: undefined })],
    0,
    ['a.0', 'b.0'],
  ],
  ['nobody who came half a minute ago', of('a', 1, { heardMs: undefined, sinceMs: NOW - 29_999 }), 0, []],
  ['no members, however many of one address', of('a', 50, { account: 'm', heardMs: undefined }), 0, []],
  ['nobody who has just come and may have a key', of('a', 9, { sinceMs: NOW - 1_999 }), 0, []],
  ['who has just come, where descriptors run out', of('a', 4, { sinceMs: NOW }), 1, ['a.3']],
  ['no more than must be free', [...of('a', 3), ...of('b', 2)], 2, ['a.2', 'a.1']],
  [
    'of the largest first, an account as an address',
    [...of('a', 2), ...of('b', 6, { account: 'm' })],
    3,
    ['b.3', 'b.4', 'b.5'],
  ],
  ['of many accounts alike', [...of('a', 4, { account: 'm' }), ...of('a', 4, { account: 'n' })], 2, ['a.3', 'a.3']],
];

test.each(CASES)('ends %s', (_, connections, toFree, ended) => {
  const found = [...superfluous(connections, LIMITS, NOW, toFree)].map(({ name }) => name);
  expect(found.toSorted()).toEqual(ended.toSorted());
});

test('connections count from when their requests are noted, however long they have been there', () => {
  const connections = of('a', 9, { heardMs: undefined, notedMs: NOW - 1_999 });
  expect(superfluous(connections, LIMITS, NOW, 0).size).toBe(0);
  expect(superfluous(of('a', 9, { heardMs: undefined, notedMs: NOW - 2_000 }), LIMITS, NOW, 0).size).toBe(6);
  expect(superfluous(of('a', 1, { heardMs: undefined, notedMs: NOW - 29_999 }), LIMITS, NOW, 0).size).toBe(0);
});

test.each([
  ['few of each address', [...of('a', 3), ...of('b', 3)], false],
  ['many of one', of('a', 4), true],
  ['many in all', [...of('a', 3), ...of('b', 3), ...of('c', 3)], true],
  ["many of one, a member's perhaps", of('a', 4, { account: 'm' }), true],
] as const)('whether it matters whose they are: %s', (_, connections, expected) => {
  expect(isCrowded(connections, LIMITS)).toBe(expected);
});

test('behind a proxy all connections may be of one address, and idle', () => {
  const limits = { ...LIMITS, addressMax: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY };
  expect(superfluous(of('proxy', 8, { heardMs: undefined }), limits, NOW, 0).size).toBe(0);
  expect(superfluous(of('proxy', 9, { heardMs: undefined }), limits, NOW, 0).size).toBe(1);
});
