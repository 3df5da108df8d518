import { describe, expect, test } from 'bun:test';
import { createTradierFeed } from '../../../src/feeds/tradier/tradier-feed.ts';
import { addDays } from '../../../src/market/calendar.ts';
import type { Behaviour, Json } from '../../support/provider-faults.ts';
import { CHAINS, CREDENTIAL, chainsOf, polled, providerForTests, reasonsOf } from '../provider-market.ts';
import { describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'tradier',
  create: (options) => createTradierFeed({ ...options, token: CREDENTIAL }),
  isChainPath: (path) => path.startsWith('/v1/markets/options/chains'),
  optionsOf: (answer) => answer.options.option,
  rename: ({ options }) => ({ contracts: options }),
  unname: (option) => delete option.root_symbol,
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'], iv: ['greeks', 'mid_iv'] },
});

describe('tradier', () => {
  const { server, clock } = providerForTests();

  const create = (tickers = ['CHPT'], token = CREDENTIAL) =>
    createTradierFeed({ baseUrl: server.url, tickers, clock, token });
  const change = (part: string, edit: (answer: Json) => unknown) => {
    server.behaviour = (path) => (path.includes(part) ? { kind: 'changed', change: edit } : undefined);
  };
  const chpt = CHAINS.get('CHPT')!;
  const expiries = [...new Set(chpt.series.map(({ expiry }) => expiry))].sort();

  test('requests a quote, the expirations, and the chain of each expiration', async () => {
    await polled(create(['BRK.B']));
    const [quote, expirations, first] = server.asked;
    expect([quote, expirations]).toEqual([
      '/v1/markets/quotes?symbols=BRK%2FB',
      '/v1/markets/options/expirations?symbol=BRK%2FB&includeAllRoots=true',
    ]);
    expect(first).toMatch(/chains\?symbol=BRK%2FB&expiration=2026-\d\d-\d\d&greeks=true$/);
  });

  test.each<[string, number, string]>([
    ['120 requests per minute', 59, 'https://api.tradier.com'],
    ['60 requests per minute in the sandbox', 59, 'https://sandbox.tradier.com'],
  ])('has enough time for the whole universe at %s', (_what, count, baseUrl) => {
    const { everyMs, delayMs } = createTradierFeed({ baseUrl, tickers: Array(count).fill('SPY'), token: 'x' }).pace;
    const isSandbox = baseUrl.includes('sandbox');
    expect([everyMs, delayMs]).toEqual([(isSandbox ? 22 : 11) * 60_000, isSandbox ? 15 * 60_000 : 0]);
  });

  test('an expiration that fails refuses the whole snapshot', async () => {
    const last = `expiration=${expiries.at(-1)}`;
    server.behaviour = (path) => (path.includes(last) ? { kind: 'status', status: 500 } : undefined);
    expect(await polled(create())).toEqual([
      {
        ...{ kind: 'rejection', origin: 'tradier:CHPT', ticker: 'CHPT' },
        reason: 'the provider answered 500 in the last of 3 tries',
      },
    ]);
  });

  test.each<[string, Json]>([
    ['null', { options: null }],
    ['an empty list', { options: { option: [] } }],
  ])('a listed expiration without options refuses the whole snapshot: %s', async (_what, answer) => {
    change(`expiration=${expiries[1]}`, () => answer);
    const reason = `the provider has no options for the listed expiration ${expiries[1]}`;
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', reason]]);
  });

  test('does not request an expiration that has settled', async () => {
    clock.advance(5 * 3_600_000);
    const [delivery] = chainsOf(await polled(create()));
    expect(server.asked.some((path) => path.includes('expiration=2026-11-20'))).toBe(false);
    expect(delivery?.chain.asOf).toBe(Date.parse('2026-11-20T21:00:00Z'));
  });

  test('accepts a single expiration and a single option without a list', async () => {
    change('', (answer) => {
      if (answer.expirations) answer.expirations.date = expiries[1];
      if (answer.options) answer.options.option = answer.options.option[0];
      return answer;
    });
    const [delivery] = chainsOf(await polled(create()));
    expect(delivery).toMatchObject({ offered: 1, chain: { count: 1, series: [{ expiry: expiries[1] }] } });
  });

  test.each<[string, Json, RegExp]>([
    ['null', { expirations: null }, /lists no expirations/],
    ['only settled ones', { expirations: { date: ['2026-11-12', '2026-11-13'] } }, /has settled/],
    ['no valid date', { expirations: { date: ['soon', 7] } }, /lists no expirations/],
    [
      'too many expirations',
      { expirations: { date: Array.from({ length: 201 }, (_, i) => addDays('2026-12-01', i)) } },
      /more than 200/,
    ],
  ])('refuses invalid expirations: %s', async (_what, answer, reason) => {
    change('/expirations', () => answer);
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', expect.stringMatching(reason)]]);
  });

  test('counts an invalid date and an option of another expiration', async () => {
    change('', (answer) => {
      answer.expirations?.date.push('2026-13-01');
      const [first] = answer.options?.option ?? [];
      if (first?.expiration_date === expiries[1]) first.expiration_date = expiries[2];
      return answer;
    });
    const [delivery] = chainsOf(await polled(create()));
    expect(delivery?.chain.refused).toEqual({ bad_expiry: 1, other_expiry: 1 });
  });

  test.each<[string, Behaviour]>([
    ['404', { kind: 'status', status: 404 }],
    ['500', { kind: 'status', status: 500 }],
    ['no price', { kind: 'changed', change: () => ({ quotes: { quote: { last: null } } }) }],
    ['a list', { kind: 'changed', change: ({ quotes }) => ({ quotes: { quote: [quotes.quote] } }) }],
  ])('without a quote (%s) the options imply the spot', async (_what, behaviour) => {
    server.behaviour = (path) => (path.includes('/quotes') ? behaviour : undefined);
    const [delivery] = chainsOf(await polled(create()));
    expect(Math.abs(delivery!.chain.spot / chpt.spot - 1)).toBeLessThan(0.01);
  });

  test('volatility is the middle one, otherwise that of the surface, otherwise none', async () => {
    const greeks = [{ mid_iv: 0.31, smv_vol: 0.4 }, { mid_iv: 0, smv_vol: 0.4 }, { smv_vol: 0.41 }, null];
    change(`expiration=${expiries[1]}`, (answer) => {
      answer.options.option.splice(greeks.length);
      for (const [i, each] of greeks.entries()) answer.options.option[i].greeks = each;
      return answer;
    });
    const [delivery] = chainsOf(await polled(create()));
    const { start, end } = delivery!.chain.series.find(({ expiry }) => expiry === expiries[1])!;
    expect([...delivery!.chain.iv.slice(start, end)]).toEqual([0.31, 0.4, 0.41, Number.NaN]);
  });

  test('a wrong token is a rejection, without retries', async () => {
    expect(reasonsOf(await polled(create(['CHPT'], `${CREDENTIAL}-wrong`)))[0]?.[1]).toMatch(/answered 401/);
    expect(server.asked).toHaveLength(2);
  });
});
