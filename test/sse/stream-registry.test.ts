import { afterEach, expect, test } from 'bun:test';
import type { Account } from '../../src/access/access.ts';
import {
  createStreamRegistry,
  type RegisteredStream,
  STREAM_LIMITS,
  type StreamEnd,
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

test('if all places are taken, only an account with more than a quarter of them loses streams', async () => {
  const watch = watchOf({ accountStreamsMax: 8, streamsMax: 8 });
  const [a, b, c] = [accountOf('a'), accountOf('b'), accountOf('c')];
  const open = (account: Account) => {
    watch.assertCapacity(account);
    const opened = streamOf(account);
    watch.add(opened.stream);
    return opened.ended;
  };
  // An account may have more than a quarter while places are free.
  const ofA = Array.from({ length: 8 }, () => open(a));
  expect(() => open(a)).toThrow(expect.objectContaining({ code: 'too_many_streams' }));
  for (const account of [b, b, c, c]) void open(account);
  expect(await Promise.all(ofA.slice(0, 4))).toEqual(['share', 'share', 'share', 'share']);
  // An account that has a quarter takes no further places from others.
  for (const account of [a, b, c]) {
    expect(() => open(account)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  }
  for (const account of [accountOf('d'), accountOf('d')]) void open(account);
  expect(() => open(accountOf('e'))).toThrow(expect.objectContaining({ code: 'unavailable' }));
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
