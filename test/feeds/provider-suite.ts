import { describe, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PROVIDER_BODY_BYTES_MAX } from '../../src/feeds/http/fetch-json.ts';
import type { ProviderOptions } from '../../src/feeds/http/provider-client.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { Feed } from '../../src/market/feed.ts';
import { rowsOf } from '../support/provider-answers.ts';
import { type Behaviour, sent } from '../support/provider-faults.ts';
import { startProviderServer } from '../support/provider-server.ts';
import { recordedMarket } from '../support/provider-server-run.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import {
  CHAINS,
  CREDENTIAL,
  chainsOf,
  NOON_MS,
  polled,
  providerForTests,
  reasonsOf,
  TICKERS,
  testClock,
} from './provider-market.ts';
import { describeShape, type Shape } from './shape-suite.ts';

/** What the shared cases need of a feed. */
export interface Subject extends Shape {
  readonly name: string;
  create(options: ProviderOptions & { readonly socketUrl: string }): Feed;
  /** The values that the provider does not give. */
  readonly absent?: readonly (keyof ReturnType<typeof rowsOf>[number])[];
  /** Whether chains come from this path, so that a test can damage all of its answers. */
  isChainPath(path: string): boolean;
}

/** The cases that every network feed must pass, with a local server that answers in the provider's format. */
export function describeProvider(subject: Subject): void {
  const { server, clock } = providerForTests();
  const ticker = 'CHPT';

  const create = (overrides: Partial<ProviderOptions> = {}) =>
    subject.create({ baseUrl: server.url, socketUrl: server.socketUrl, tickers: [ticker], clock, ...overrides });
  /** Damages the answers that chains come from: the first `times` of them, or all. */
  const damage = (behaviour: Behaviour, times = Number.POSITIVE_INFINITY) => {
    let left = times;
    server.behaviour = (path) => (subject.isChainPath(path) && left-- > 0 ? behaviour : undefined);
  };
  const chainRequests = () => server.asked.filter(subject.isChainPath).length;

  describe(`${subject.name}: a good answer`, () => {
    test('arrives complete, with every ticker and every value', async () => {
      const deliveries = chainsOf(await polled(create({ tickers: TICKERS })));
      expect(deliveries.map(({ chain, offered }) => [chain.underlying, offered])).toEqual(
        TICKERS.map((each) => [each, CHAINS.get(each)!.count]),
      );
      for (const { chain } of deliveries) {
        const { spot } = CHAINS.get(chain.underlying)!;
        expect(chain).toMatchObject({ spot, refused: {}, simulated: false });
        // The time of the quotes or, if the provider does not state it, the time of the request.
        expect(chain.asOf).toBeGreaterThanOrEqual(NOON_MS);
        expect(chain.asOf).toBeLessThanOrEqual(clock.now());
        expect(chain.source).toBe(`${subject.name}:${chain.underlying}`);
        const absent = Object.fromEntries((subject.absent ?? []).map((field) => [field, null]));
        expect(rowsOf(chain)).toEqual(rowsOf(CHAINS.get(chain.underlying)!).map((row) => ({ ...row, ...absent })));
      }
    });

    test('gives the same chain if it is compressed', async () => {
      damage({ kind: 'zipped' });
      const [delivery] = chainsOf(await polled(create()));
      expect(delivery?.offered).toBe(CHAINS.get(ticker)!.count);
    });

    test('respects the rate limit', async () => {
      await polled(create({ tickers: TICKERS, ratePerMinute: 6 }));
      expect(server.asked.length).toBeGreaterThanOrEqual(TICKERS.length);
      // Time only passes in pauses: ten seconds between two requests.
      expect(clock.paused).toEqual(Array(server.asked.length - 1).fill(10_000));
    });

    test('polls in market hours only', () => {
      expect(create().pace.hours).toBe('session');
      expect(create({ tickers: Array(59).fill(ticker), ratePerMinute: 1 }).pace.everyMs).toBeGreaterThanOrEqual(
        59 * 60_000,
      );
    });
  });

  describe(`${subject.name}: a temporary error`, () => {
    test.each<[string, Behaviour, number]>([
      ['500 twice', { kind: 'status', status: 500 }, 2],
      ['504', { kind: 'status', status: 504 }, 1],
      ['429 with seconds', { kind: 'status', status: 429, headers: { 'retry-after': '7' } }, 1],
      ['429 with a date', { kind: 'status', status: 429, headers: { 'retry-after': later(20_000 + 7_000) } }, 1],
      ['an answer cut before its stated length', { kind: 'cut', announced: true }, 1],
      ['an answer cut without a stated length', { kind: 'cut', announced: false }, 1],
      ['half of the text', { kind: 'half' }, 1],
    ])('%s: retries and delivers the chain', async (_what, behaviour, times) => {
      damage(behaviour, times);
      const before = clock.now();
      expect(chainsOf(await polled(create()))).toHaveLength(1);
      const asksToWait = behaviour.kind === 'status' && behaviour.status === 429;
      expect(clock.now() - before).toBeGreaterThanOrEqual(asksToWait ? 7_000 : 1_000);
    });
  });

  describe(`${subject.name}: a permanent error becomes a rejection with its reason`, () => {
    test.each<[string, Behaviour, RegExp, number]>([
      ['500', { kind: 'status', status: 500 }, /answered 500 in the last of 3 tries/, 3],
      [
        'an answer cut before its stated length',
        { kind: 'cut', announced: true },
        /connection failed \(ECONNRESET\) in the last of 3 tries/,
        3,
      ],
      ['half of the text', { kind: 'half' }, /the answer is incomplete/, 3],
      ['one byte now and then', { kind: 'drip' }, /no complete answer within 0.2 s in the last of 3 tries/, 3],
      ['no answer', { kind: 'hang' }, /no complete answer within 0.2 s in the last of 3 tries/, 3],
      ['401', { kind: 'status', status: 401 }, /answered 401/, 1],
      ['403', { kind: 'status', status: 403 }, /answered 403/, 1],
      ['404', { kind: 'status', status: 404 }, /answered 404/, 1],
      ['501', { kind: 'status', status: 501 }, /answered 501/, 1],
      ['a Retry-After of one hour', { kind: 'status', status: 429, headers: { 'retry-after': '3600' } }, /429/, 1],
      ['200 MB with a stated length', { kind: 'huge', announced: true }, /more than 41943040 bytes/, 1],
      ['200 MB that were compressed', { kind: 'bomb' }, /more than 41943040 bytes/, 1],
      ['an error page with 200', { kind: 'page' }, /a web page in place of/, 1],
      ['a JSON array', { kind: 'changed', change: () => [1, 2] }, /the answer is unexpected/, 1],
      [
        'JSON nested too deeply',
        { kind: 'changed', change: () => nested(40) },
        /nested deeper than 32 levels|unexpected/,
        1,
      ],
      ['null', { kind: 'changed', change: () => null }, /the answer is unexpected/, 1],
      [
        'JSON of another structure',
        { kind: 'changed', change: () => ({ status: 'ERROR', error: 'x' }) },
        /the answer is unexpected/,
        1,
      ],
      ['a redirect without an address', { kind: 'status', status: 302 }, /302 without an address/, 1],
      [
        'redirects in a circle',
        { kind: 'status', status: 302, headers: { location: '#' } },
        /redirects more than 3 times/,
        4,
      ],
    ])('%s', async (_what, behaviour, reason, requests) => {
      damage(behaviour);
      const feed = create({ timeoutMs: behaviour.kind === 'drip' || behaviour.kind === 'hang' ? 200 : 5_000 });
      const [[of, shown] = [], ...more] = reasonsOf(await polled(feed));
      expect([of, more]).toEqual([ticker, []]);
      expect(shown).toMatch(reason);
      expect(chainRequests()).toBe(requests);
    });

    test('200 MB without a stated length: reads no more than the limit', async () => {
      damage({ kind: 'huge' });
      const before = sent.hugeBytes;
      const memory = process.memoryUsage().rss;
      const feed = create();
      expect(reasonsOf(await polled(feed))).toEqual([
        [ticker, `the answer has more than ${PROVIDER_BODY_BYTES_MAX} bytes`],
      ]);
      // Data on its way, in the buffers of both ends, comes on top.
      expect(sent.hugeBytes - before).toBeLessThan(PROVIDER_BODY_BYTES_MAX + 32 * 2 ** 20);
      // Both ends run in this process. The full 200 MB as text and bytes would take more than twice this.
      expect(process.memoryUsage().rss - memory).toBeLessThan(3 * PROVIDER_BODY_BYTES_MAX);
      expect(chainRequests()).toBe(1);
    });

    test('a long Retry-After: does not ask the provider again for 15 min', async () => {
      damage({ kind: 'status', status: 503, headers: { 'retry-after': '86400' } }, 1);
      const feed = create();
      expect(reasonsOf(await polled(feed))).toEqual([[ticker, 'the provider answered 503']]);
      clock.advance(14 * 60_000);
      expect(reasonsOf(await polled(feed))[0]?.[1]).toMatch(
        /^the provider answered 503, so no request is sent until 2026-11-20T17:1/,
      );
      clock.advance(60_000);
      expect(chainsOf(await polled(feed))).toHaveLength(1);
    });

    test('no server at the address', async () => {
      await server.close();
      expect(reasonsOf(await polled(create()))).toEqual([[ticker, expect.stringMatching(/connection failed/)]]);
    });

    test('a redirect to another origin, which does not get the credential', async () => {
      const received: unknown[] = [];
      const other = createServer((request, response) => {
        received.push(request.headers);
        response.end('{}');
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
      damage({ kind: 'status', status: 307, headers: { location } });
      expect(reasonsOf(await polled(create()))).toEqual([[ticker, expect.stringMatching(/redirects to another host/)]]);
      expect(received).toEqual([]);
      await new Promise((resolve) => other.close(resolve));
    });
  });

  describe(`${subject.name}: several tickers`, () => {
    const many = ['BRK.B', 'CHPT', 'SPX', 'BRK.B', 'CHPT', 'SPX', 'BRK.B', 'CHPT'];

    test('an unknown ticker does not affect the others', async () => {
      const deliveries = await polled(create({ tickers: ['CHPT', 'NONE', 'SPX'] }));
      expect(deliveries.map(({ kind }) => kind)).toEqual(['chain', 'rejection', 'chain']);
      expect(reasonsOf(deliveries)[0]?.[0]).toBe('NONE');
    });

    test('failures with successes between them do not count as consecutive', async () => {
      server.behaviour = (path) => (path.includes('CHPT') ? { kind: 'status', status: 502 } : undefined);
      const tickers = Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? 'CHPT' : 'BRK.B'));
      const deliveries = await polled(create({ tickers }));
      expect(chainsOf(deliveries)).toHaveLength(6);
      expect(reasonsOf(deliveries)).toEqual(
        Array(6).fill(['CHPT', 'the provider answered 502 in the last of 3 tries']),
      );
    });

    test('after four consecutive failures skips the rest, and probes until the provider answers', async () => {
      server.behaviour = () => ({ kind: 'status', status: 502 });
      const feed = create({ tickers: many, ratePerMinute: 600_000 });
      const first = reasonsOf(await polled(feed));
      expect(first).toHaveLength(many.length);
      expect(
        first.filter(([, reason]) => reason.includes('so no request is sent until')).length,
      ).toBeGreaterThanOrEqual(3);
      const requests = server.asked.length;
      expect(requests).toBeLessThanOrEqual(4 * 3);

      await polled(feed);
      expect(server.asked.length).toBe(requests);
      clock.advance(60_000);
      await polled(feed);
      expect(server.asked.length).toBe(requests + 1);
      clock.advance(120_000);
      server.behaviour = () => undefined;
      expect(chainsOf(await polled(feed))).toHaveLength(many.length);
    });
  });

  describeShape(subject, (change, times) => {
    damage({ kind: 'changed', change }, times && times * (subject.answersOfChain ?? 1));
    return polled(create());
  });

  describe(`${subject.name}: stopped`, () => {
    test.each<[string, Behaviour]>([
      ['while the provider does not answer', { kind: 'hang' }],
      ['while the provider sends one byte at a time', { kind: 'drip' }],
    ])('%s, ends at once and without an error', async (_what, behaviour) => {
      const stop = new AbortController();
      server.behaviour = () => {
        setTimeout(() => stop.abort(), 10);
        return behaviour;
      };
      const startedAt = performance.now();
      expect(await polled(create({ tickers: TICKERS }), stop.signal)).toEqual([]);
      expect(performance.now() - startedAt).toBeLessThan(1_000);
    });

    test('before its start', async () => {
      expect(await polled(create(), AbortSignal.abort())).toEqual([]);
      expect(server.asked).toEqual([]);
    });
  });

  describeRecorded(`${subject.name}: recorded chains`, (dir) => {
    test('arrive with every contract', async () => {
      const market = recordedMarket(`${dir}/chains`);
      const recorded = await startProviderServer({ chainOf: market.chainOf, credential: CREDENTIAL });
      try {
        const evening = testClock(Date.parse('2026-08-21T20:00:20Z'));
        const options = { baseUrl: recorded.url, tickers: market.tickers, clock: evening, ratePerMinute: 60_000 };
        const deliveries = chainsOf(await polled(create(options)));
        expect(deliveries.map(({ chain }) => chain.underlying)).toEqual([...market.tickers]);
        for (const { chain } of deliveries) {
          const unsettled = (each: Chain) =>
            rowsOf({ ...each })
              .filter(({ expiry }) => expiry > '2026-08-21')
              .map(({ symbol, openInterest }) => [symbol, openInterest]);
          expect(unsettled(chain)).toEqual(unsettled(market.chainOf(chain.underlying)!));
        }
      } finally {
        await recorded.close();
      }
    });
  });
}

/** Returns the moment this many ms after noon, in the format of the header. */
function later(ms: number): string {
  return new Date(NOON_MS + ms).toUTCString();
}

function nested(depth: number): unknown {
  return depth === 0 ? [] : [nested(depth - 1)];
}
