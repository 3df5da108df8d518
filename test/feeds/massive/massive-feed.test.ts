import { describe, expect, test } from 'bun:test';
import { createMassiveFeed } from '../../../src/feeds/massive/massive-feed.ts';
import { DAY_MS } from '../../../src/market/calendar.ts';
import type { Json } from '../../support/provider-faults.ts';
import { CHAINS, CREDENTIAL, chainsOf, NOON_MS, polled, providerForTests, reasonsOf } from '../provider-market.ts';
import { describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'massive',
  create: (options) => createMassiveFeed({ ...options, key: CREDENTIAL }),
  isChainPath: (path) => path.startsWith('/v3/snapshot/options/'),
  optionsOf: (answer) => answer.results,
  rename: ({ results, ...answer }) => ({ ...answer, contracts: results }),
  unname: (option) => delete option.details.ticker,
  fields: {
    ...{ openInterest: ['open_interest'], bid: ['last_quote', 'bid'], ask: ['last_quote', 'ask'] },
    iv: ['implied_volatility'],
  },
});

describe('massive', () => {
  const { server, clock } = providerForTests();

  const create = (tickers = ['CHPT']) =>
    createMassiveFeed({ baseUrl: server.url, socketUrl: server.socketUrl, tickers, clock, key: CREDENTIAL });
  const change = (edit: (answer: Json, before: number) => unknown) => {
    server.behaviour = (_path, before) => ({
      kind: 'changed',
      change(answer) {
        edit(answer, before);
        return answer;
      },
    });
  };

  test('writes indices as I:SPX, and requests page by page', async () => {
    await polled(create(['SPX', 'BRK.B']));
    expect(server.asked[0]).toBe('/v3/snapshot/options/I%3ASPX?limit=250');
    expect(server.asked[1]).toBe('/v3/snapshot/options/I%3ASPX?limit=250&cursor=250');
    expect(server.asked).toContain('/v3/snapshot/options/BRK.B?limit=250');
    const pages = (ticker: string) => Math.ceil(CHAINS.get(ticker)!.count / 250);
    expect(server.asked).toHaveLength(pages('SPX') + pages('BRK.B'));
  });

  test('a page that fails refuses the whole snapshot', async () => {
    server.behaviour = (path) => (path.includes('cursor=250') ? { kind: 'status', status: 500 } : undefined);
    expect(await polled(create(['SPX']))).toEqual([
      {
        ...{ kind: 'rejection', origin: 'massive:SPX', ticker: 'SPX' },
        reason: 'the provider answered 500 in the last of 3 tries',
      },
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['another host', 'https://elsewhere.example/v3?cursor=1', /another origin/],
    ['another port', 'http://127.0.0.1:1/v3?cursor=1', /another origin/],
    ['another scheme', 'file:///etc/passwd', /another origin/],
    ['not an address', 'cursor=1', /another origin/],
    ['not text', 7, /`next_url` is not an address/],
  ])('a next page at %s is refused and not requested', async (_what, next_url, reason) => {
    change((answer) => void Object.assign(answer, { next_url }));
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', expect.stringMatching(reason)]]);
    expect(server.asked).toHaveLength(1);
  });

  test('refuses pages that lead in a circle or never end', async () => {
    const cursor = (n: number) => `${server.url}/v3/snapshot/options/CHPT?cursor=${n}`;
    change((answer, before) => Object.assign(answer, { next_url: cursor(before % 3) }));
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', 'page 4 leads back to an earlier page']]);
    change((answer, before) => void Object.assign(answer, { results: [], next_url: cursor(before) }));
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', 'the snapshot has more than 600 pages']]);
  });

  test('refuses an answer without contracts', async () => {
    change((answer) => Object.assign(answer, { results: [], next_url: undefined }));
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', 'the provider lists no contracts']]);
  });

  test('accepts an empty page between others', async () => {
    const next_url = `${server.url}/v3/snapshot/options/CHPT?cursor=0&limit=250`;
    change((answer, before) => before === 0 && Object.assign(answer, { results: [], next_url }));
    expect(chainsOf(await polled(create()))[0]?.offered).toBe(CHAINS.get('CHPT')!.count);
  });

  test.each<[string, number | string | null, string]>([
    ['in ns', NOON_MS * 1e6, '2026-11-20T17:00:00Z'],
    ['in µs', NOON_MS * 1e3, '2026-11-20T17:00:00Z'],
    ['in ms', NOON_MS, '2026-11-20T17:00:00Z'],
    ['in s', NOON_MS / 1e3, '2026-11-20T17:00:00Z'],
    ['15 min old', (NOON_MS - 900_000) * 1e6, '2026-11-20T16:45:00Z'],
    ['missing', null, '2026-11-20T18:00:20Z'],
    ['as text', 'now', '2026-11-20T18:00:20Z'],
    ['one day ahead', (NOON_MS + DAY_MS) * 1e6, '2026-11-20T18:00:20Z'],
  ])('the newest time of a quote is the time of the chain: %s', async (_what, last_updated, asOf) => {
    clock.advance(3_600_000);
    change((answer) => {
      for (const { last_quote, underlying_asset } of answer.results) {
        underlying_asset.last_updated = last_updated;
        if (last_quote) last_quote.last_updated = last_updated;
      }
    });
    const [delivery] = chainsOf(await polled(create()));
    expect(new Date(delivery!.chain.asOf).toISOString()).toBe(new Date(asOf).toISOString());
  });

  test('a single time that is ahead does not affect the others', async () => {
    clock.advance(3_600_000);
    change((answer, before) => {
      if (before === 0) answer.results[0].underlying_asset.last_updated = (NOON_MS + DAY_MS) * 1e6;
    });
    expect(chainsOf(await polled(create()))[0]?.chain.asOf).toBe(NOON_MS);
  });

  test('after the close, trades of the underlying do not change the time of the quotes', async () => {
    clock.advance(8 * 3_600_000);
    change((answer) =>
      ofEach(answer, { underlying_asset: { price: CHAINS.get('CHPT')!.spot, last_updated: clock.now() * 1e6 } }),
    );
    expect(chainsOf(await polled(create()))[0]?.chain.asOf).toBe(Date.parse('2026-11-20T21:00:00Z'));
  });

  test('takes the value of an index as spot; without price and value the quotes imply the spot', async () => {
    const { spot } = CHAINS.get('SPX')!;
    change((answer) => ofEach(answer, { underlying_asset: { value: spot * 1.01 } }));
    expect(chainsOf(await polled(create(['SPX'])))[0]?.chain.spot).toBe(spot * 1.01);
    change((answer) => ofEach(answer, { underlying_asset: undefined }));
    const implied = chainsOf(await polled(create(['SPX'])))[0]!.chain.spot;
    expect(Math.abs(implied / spot - 1)).toBeLessThan(0.01);
  });

  test('accepts a contract with only its name and open interest', async () => {
    change((answer) => {
      answer.results[0] = { details: { ticker: answer.results[0].details.ticker }, open_interest: 3 };
    });
    const [delivery] = chainsOf(await polled(create()));
    const { bid, iv, delta, openInterest, multiplier, refused } = delivery!.chain;
    expect([bid[0], iv[0], delta[0], openInterest[0], multiplier[0]]).toEqual([NaN, NaN, NaN, 3, 100]);
    expect(refused).toEqual({});
  });
});

/** Changes every contract of a page. */
function ofEach(answer: Json, overrides: object): void {
  for (const result of answer.results) Object.assign(result, overrides);
}
