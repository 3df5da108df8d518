import { afterEach, expect, test } from 'bun:test';
import type { Account } from '../../src/access/access.ts';
import type { StreamEnd } from '../../src/core/events.ts';
import {
  createStreamRegistry,
  type RegisteredStream,
  STREAM_LIMITS,
  type StreamLimits,
} from '../../src/sse/stream-registry.ts';

/** The watches of the current test. Each is closed after the test. */
const watches: { close(): void }[] = [];
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close();
});

function watchOf(limits: Partial<StreamLimits>) {
  const watch = createStreamRegistry({ ...STREAM_LIMITS, sweepEveryMs: 1, ...limits });
  watches.push(watch);
  return watch;
}

function accountOf(id: string, isAdmitted = () => true): Account {
  return { id, tier: 'member', expiresAt: null, isAdmitted };
}

function streamOf(account: Account, overrides: Partial<RegisteredStream> = {}) {
  const ended = Promise.withResolvers<StreamEnd>();
  const pinged = Promise.withResolvers<void>();
  const stream: RegisteredStream = {
    account,
    queue: { behindSince: undefined, unreadBytes: 0 },
    ping: () => pinged.resolve(),
    end: ended.resolve,
    ...overrides,
  };
  return { stream, ended: ended.promise, pinged: pinged.promise };
}

type Opened = ReturnType<typeof streamOf>;

test.each<[StreamEnd, Partial<StreamLimits>, Partial<RegisteredStream>, () => boolean]>([
  ['access', {}, {}, () => false],
  ['behind', { behindMs: 5 }, { queue: { behindSince: 0, unreadBytes: 0 } }, () => true],
  [
    'behind',
    { accountUnreadBytesMax: 10 },
    { queue: { behindSince: Number.MAX_SAFE_INTEGER, unreadBytes: 11 } },
    () => true,
  ],
  ['silent', {}, { isSilent: () => true }, () => true],
  ['age', { ageMs: 5 }, {}, () => true],
])('ends a stream for the reason %s and leaves other streams open', async (reason, limits, overrides, isAdmitted) => {
  const watch = watchOf(limits);
  const other = streamOf(accountOf('b'));
  if (reason !== 'age') watch.add(other.stream);
  const { stream, ended } = streamOf(accountOf('a', isAdmitted), overrides);
  watch.add(stream);
  expect(await ended).toBe(reason);
  expect(watch.size).toBe(reason === 'age' ? 0 : 1);
  expect(watch.remove(stream)).toBe(false);
});

test('limits the unread bytes per account, and ends the slow streams beyond the limit', async () => {
  const watch = watchOf({ accountUnreadBytesMax: 100 });
  const behind = { queue: { behindSince: Number.MAX_SAFE_INTEGER, unreadBytes: 60 } };
  const [first, second, third] = [
    streamOf(accountOf('a'), behind),
    streamOf(accountOf('a'), behind),
    streamOf(accountOf('b'), behind),
  ];
  for (const { stream } of [first, second, third]) watch.add(stream);
  expect(await second.ended).toBe('behind');
  expect([watch.remove(first.stream), watch.remove(third.stream)]).toEqual([true, true]);
});

test('a failing store ends no stream, and pings continue', async () => {
  const watch = watchOf({ pingMs: 1 });
  const { stream, pinged } = streamOf(
    accountOf('a', () => {
      throw new Error('busy');
    }),
  );
  watch.add(stream);
  await pinged;
  expect(watch.size).toBe(1);
});

test('limits the streams per account and in total, and a removed stream frees its place', () => {
  const watch = watchOf({ accountStreamsMax: 2, streamsMax: 3 });
  const [a, b] = [accountOf('a'), accountOf('b')];
  const [first, second] = [streamOf(a).stream, streamOf(a).stream];
  watch.add(first);
  watch.add(second);
  expect(() => watch.assertCapacity(a)).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  watch.assertCapacity(b);
  watch.add(streamOf(b).stream);
  expect(() => watch.assertCapacity(b)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  expect(watch.remove(first)).toBe(true);
  watch.assertCapacity(a);
  watch.assertCapacity(b);
});

/** Opens a stream of an account, which may end a stream of another account. */
function openIn(watch: ReturnType<typeof watchOf>, id: string) {
  const account = accountOf(id);
  watch.assertCapacity(account);
  const opened = streamOf(account);
  watch.add(opened.stream);
  return opened.ended;
}

test('a few accounts that hold all places give their oldest streams to every further account', async () => {
  const watch = watchOf({ accountStreamsMax: 500, streamsMax: 2_464 });
  const holders = ['a', 'b', 'c', 'd', 'e'];
  const held = Array.from({ length: 2_464 }, (_, i) => openIn(watch, holders[i % 5]!));
  // With six accounts, an account may have 2,464 / 7 streams.
  for (let i = 0; i < 352; i++) void openIn(watch, 'f');
  expect(await Promise.all(held.slice(0, 345))).toEqual(Array.from({ length: 345 }, () => 'share'));
  for (const id of ['a', 'f']) {
    expect(() => openIn(watch, id)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  }
  // Each further account gets a share too.
  for (let more = 1; more <= 50; more++) {
    const share = Math.floor(2_464 / (6 + more + 1));
    for (let i = 0; i < share; i++) void openIn(watch, `more ${more}`);
    expect(watch.streamsOf(`more ${more}`)).toBe(share);
  }
  expect(watch.size).toBe(2_464);
});

test('with as many accounts as places, each has one, and no place goes back and forth', () => {
  const watch = watchOf({ accountStreamsMax: 8, streamsMax: 8 });
  for (let i = 0; i < 8; i++) void openIn(watch, 'a');
  const more = ['b', 'c', 'd', 'e', 'f', 'g', 'h'];
  for (const id of more) void openIn(watch, id);
  for (const id of ['a', ...more]) expect([id, watch.streamsOf(id)]).toEqual([id, 1]);
  for (const id of ['a', ...more, 'i']) {
    expect(() => openIn(watch, id)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  }
});

test.each([2, 3, 4, 5])('%i accounts that ask for ever come to rest', (accounts) => {
  const watch = watchOf({ accountStreamsMax: 8, streamsMax: 8 });
  const ids = Array.from({ length: accounts }, (_, i) => `account ${i}`);
  let opened = 0;
  for (let round = 0; round < 100; round++) {
    for (const id of ids) {
      try {
        void openIn(watch, id);
        opened++;
      } catch {}
    }
  }
  expect(opened).toBeLessThanOrEqual(16);
  expect(watch.size).toBe(8);
});

test('limits the unread bytes of all accounts together', async () => {
  const watch = watchOf({ accountUnreadBytesMax: 100, allUnreadBytesMax: 150 });
  const behind = { queue: { behindSince: Number.MAX_SAFE_INTEGER, unreadBytes: 60 } };
  const [first, second, third] = ['a', 'b', 'c'].map((id) => streamOf(accountOf(id), behind)) as [
    Opened,
    Opened,
    Opened,
  ];
  for (const { stream } of [first, second, third]) watch.add(stream);
  expect(await third.ended).toBe('behind');
  expect([watch.remove(first.stream), watch.remove(second.stream)]).toEqual([true, true]);
});

test('close() ends all streams and rejects new ones', async () => {
  const watch = watchOf({});
  const { stream, ended } = streamOf(accountOf('a'));
  watch.add(stream);
  watch.close();
  expect(await ended).toBe('shutdown');
  expect(() => watch.assertCapacity(accountOf('b'))).toThrow(expect.objectContaining({ code: 'unavailable' }));
});
