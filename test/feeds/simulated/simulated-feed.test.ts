import { describe, expect, test } from 'bun:test';
import { instrumentsOf } from '../../../src/feeds/simulated/instruments.ts';
import { createSimulatedFeed } from '../../../src/feeds/simulated/simulated-feed.ts';
import {
  closeOf,
  DAY_MS,
  isTradingDay,
  newYorkDate,
  openOf,
  previousTradingDay,
} from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Feed } from '../../../src/market/feed.ts';
import type { Close, Print } from '../../../src/market/prints.ts';
import type { SimClock } from '../../../src/market/simulated-past.ts';
import { loadUniverse, STANDARD_UNIVERSE } from '../../../src/market/universe.ts';
import { asText } from '../files/reading.ts';

const at = (text: string) => Date.parse(text);
const NOON = at('2026-08-21T16:00:00Z');
const instruments = new Map(
  instrumentsOf({ seed: 7, universe: STANDARD_UNIVERSE, clock: 'real' }).map((instrument) => [
    instrument.ticker,
    instrument,
  ]),
);
const few = loadUniverse('{"themes":{"few":["SPY","NVDA","BRK.B","UUP"]}}');

interface News {
  readonly chains: Chain[];
  readonly prints: Print[];
  readonly closes: Close[];
}

async function poll(feed: Feed, nowMs: number): Promise<News> {
  const news: News = { chains: [], prints: [], closes: [] };
  for await (const delivery of feed.poll(nowMs)) {
    if (delivery.kind === 'chain') news.chains.push(delivery.chain);
    else if (delivery.kind === 'prints') news.prints.push(...delivery.prints);
    else if (delivery.kind === 'closes') news.closes.push(...delivery.closes);
    else throw new Error(`a delivery of ${delivery.kind}`);
  }
  return news;
}

const first = (nowMs: number, seed = 1, universe = few) =>
  poll(createSimulatedFeed({ seed, universe, clock: 'real' }), nowMs);

describe('the whole universe at once', async () => {
  const { chains, prints, closes } = await first(NOON, 7, STANDARD_UNIVERSE);

  test('has a chain of each of the 59 tickers and of SPX and NDX, marked as simulated', () => {
    expect(chains.map(({ underlying }) => underlying)).toEqual([...STANDARD_UNIVERSE.tickers, 'SPX', 'NDX']);
    for (const { simulated, source, asOf, refused } of chains) {
      expect({ simulated, source, asOf, refused }).toEqual({
        ...{ simulated: true, source: 'simulated', asOf: NOON, refused: {} },
      });
    }
    expect([...prints, ...closes].every(({ simulated }) => simulated)).toBe(true);
    const contracts = chains.reduce((sum, { count }) => sum + count, 0);
    expect(contracts).toBeGreaterThan(40_000);
    expect(contracts).toBeLessThan(120_000);
  });

  test('has valid numbers and uncrossed quotes', () => {
    for (const chain of chains) {
      expect(chain.spot).toBeGreaterThan(0);
      expect(chain.series.length).toBeGreaterThanOrEqual(5);
      for (let i = 0; i < chain.count; i++) {
        const { bid, ask, iv, delta, gamma, openInterest, volume, callPut } = chain;
        const quoted = bid[i]! >= 0 && bid[i]! < ask[i]! && ask[i]! < 1e5 && iv[i]! > 0.01 && iv[i]! < 10;
        const greeks = callPut[i]! * delta[i]! >= 0 && Math.abs(delta[i]!) <= 1 && gamma[i]! >= 0;
        const counts = Number.isInteger(openInterest[i]!) && openInterest[i]! >= 0 && Number.isInteger(volume[i]!);
        if (!quoted || !greeks || !counts) throw new Error(`${chain.underlying} row ${i}`);
      }
    }
  });

  test('keeps put-call parity within the spread', () => {
    for (const chain of chains) {
      const { dividend } = instruments.get(chain.underlying)!;
      for (let i = 0; i + 1 < chain.count; i++) {
        if (chain.callPut[i] !== 1 || chain.strike[i + 1] !== chain.strike[i] || chain.callPut[i + 1] !== -1) continue;
        const years = (chain.series[chain.seriesIndex[i]!]!.settlesAt - NOON) / (365.25 * DAY_MS);
        const parity = chain.spot * Math.exp(-dividend * years) - chain.strike[i]! * Math.exp(-0.04 * years);
        const dearest = chain.ask[i]! - chain.bid[i + 1]!;
        const cheapest = chain.bid[i]! - chain.ask[i + 1]!;
        if (parity < cheapest - 1e-6 || parity > dearest + 1e-6)
          throw new Error(`${chain.underlying} row ${i}: ${parity}`);
      }
    }
  });

  test('concentrates open interest on round strikes and third Fridays', () => {
    const spy = chains.find(({ underlying }) => underlying === 'SPY')!;
    const mean = (isWanted: (i: number) => boolean) => {
      const wanted = Array.from(spy.openInterest).filter(
        (_, i) => Math.abs(spy.strike[i]! / spy.spot - 1) < 0.04 && isWanted(i),
      );
      return wanted.reduce((sum, value) => sum + value, 0) / wanted.length;
    };
    const step = (i: number) => [100, 50, 10].find((round) => spy.strike[i]! % round === 0) ?? 1;
    const [hundreds, fifties, tens, others] = [100, 50, 10, 1].map((round) => mean((i) => step(i) === round));
    expect(tens!).toBeGreaterThan(1.5 * others!);
    expect(Math.max(hundreds || 0, fifties || 0)).toBeGreaterThan(1.5 * tens!);
    const of = (expiry: string) => mean((i) => spy.series[spy.seriesIndex[i]!]!.expiry === expiry);
    expect(of('2026-09-18')).toBeGreaterThan(2 * of('2026-09-11'));
  });

  test('has no bids for the farthest strikes', () => {
    const unbid = chains.reduce((sum, { bid }) => sum + bid.filter((value) => value === 0).length, 0);
    expect(unbid).toBeGreaterThan(500);
  });

  test('prints are of the last 30 days, in market hours, of listed expiries, and mostly large', () => {
    expect(new Set(prints.map(({ id }) => id)).size).toBe(prints.length);
    expect(prints.length).toBeGreaterThan(2_000);
    const expiries = new Map(
      chains.map(({ underlying, series }) => [underlying, new Set(series.map(({ expiry }) => expiry))]),
    );
    for (const print of prints) {
      const day = newYorkDate(print.at);
      expect(isTradingDay(day) && print.at >= openOf(day) && print.at <= closeOf(day)).toBe(true);
      expect(print.at > NOON - 30 * DAY_MS && print.at <= NOON).toBe(true);
      expect(print.price > 0 && Number.isInteger(print.size) && print.size > 0 && print.strike > 0).toBe(true);
      expect(print.size).toBeLessThanOrEqual(instruments.get(print.underlying)!.depth);
      if (print.expiry > '2026-08-21') expect(expiries.get(print.underlying)).toContain(print.expiry);
    }
    const share = (isWanted: (print: Print) => boolean) => prints.filter(isWanted).length / prints.length;
    expect(share(({ price, size }) => price * size * 100 >= 100_000)).toBeGreaterThan(0.7);
    expect(share(({ price, size }) => price * size * 100 < 100_000)).toBeGreaterThan(0.05);
    for (const side of ['ask', 'bid', 'mid', null]) expect(share((print) => print.side === side)).toBeGreaterThan(0.05);
    expect(share(({ multiLeg }) => multiLeg)).toBeGreaterThan(0.1);
    for (const manner of ['sweep', 'block'] as const) expect(share((print) => print[manner])).toBeGreaterThan(0.05);
    // No trade is outside the quote.
    expect(share(({ price, bid, ask }) => price >= bid! - 1e-9 && price <= ask! + 1e-9)).toBe(1);
    expect(share(({ canceled }) => canceled)).toBeGreaterThan(0.005);
    expect(share(({ delta }) => Math.abs(delta ?? 0) > 0.9)).toBeGreaterThan(0.005);
  });

  test('closes are of the last 252 trading days, one per day and ticker', () => {
    const days = closes.filter(({ ticker }) => ticker === 'SPY').map(({ date }) => date);
    expect(days).toHaveLength(252);
    expect(days.at(-1)).toBe('2026-08-20');
    for (let i = 1; i < days.length; i++) expect(previousTradingDay(days[i]!)).toBe(days[i - 1]!);
    expect(closes).toHaveLength(252 * 61);
  });
});

describe('time and seed', () => {
  test('the same seed and time give the same data, another seed gives other data', async () => {
    const [one, same, other] = [await first(NOON), await first(NOON), await first(NOON, 2)];
    expect(asText(same.chains)).toBe(asText(one.chains));
    expect([same.prints, same.closes]).toEqual([one.prints, one.closes]);
    expect(other.chains[0]!.spot).not.toBe(one.chains[0]!.spot);
    expect(other.closes).not.toEqual(one.closes);
    expect(other.prints.some(({ id }) => one.prints.some((print) => print.id === id))).toBe(false);
  });

  test('several polls deliver each item once, and together the same as one late poll', async () => {
    const feed = createSimulatedFeed({ seed: 1, universe: few, clock: 'real' });
    const steps: News[] = [];
    const times = ['2026-08-20T15:00:00Z', '2026-08-20T15:00:40Z', '2026-08-20T19:59:00Z', '2026-08-20T23:00:00Z'];
    for (const time of [...times, '2026-08-21T13:00:00Z', '2026-08-21T16:00:00Z'])
      steps.push(await poll(feed, at(time)));
    const late = await first(NOON);

    expect(steps.map(({ chains }) => chains.length)).toEqual([5, 0, 5, 5, 0, 5]);
    expect(steps.map(({ closes }) => closes.length)).toEqual([5 * 252, 0, 0, 5, 0, 0]);
    const ids = steps.flatMap(({ prints }) => prints.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    const since = NOON - 30 * DAY_MS;
    const byId = (prints: Print[]) => prints.filter((print) => print.at > since).sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(steps.flatMap(({ prints }) => prints))).toEqual(byId(late.prints));
    expect(asText(steps.at(-1)!.chains[1]!)).toBe(asText(late.chains[1]!));
  });

  test('a poll that breaks off is repeated', async () => {
    const feed = createSimulatedFeed({ seed: 1, universe: few, clock: 'real' });
    for await (const _ of feed.poll(NOON)) break;
    expect((await poll(feed, NOON)).chains).toHaveLength(5);
  });

  test.each([
    ['of the current minute in market hours', '2026-08-21T15:30:59Z', '2026-08-21T15:30:00Z'],
    ['of the previous close before the open', '2026-08-21T13:29:59Z', '2026-08-20T20:00:00Z'],
    ['of the open at the open', '2026-08-21T13:30:00Z', '2026-08-21T13:30:00Z'],
    ['of the close after the close', '2026-08-21T20:00:01Z', '2026-08-21T20:00:00Z'],
    ['of the last close on a Sunday', '2026-08-23T16:00:00Z', '2026-08-21T20:00:00Z'],
    ['of the last close on Good Friday', '2026-04-03T16:00:00Z', '2026-04-02T20:00:00Z'],
    ['of the early close after a half day', '2025-11-28T19:00:00Z', '2025-11-28T18:00:00Z'],
  ])('quotes are %s', async (_what, now, asOf) => {
    for (const chain of (await first(at(now))).chains) expect(chain.asOf).toBe(at(asOf));
  });

  test('lists no settled series, and a series that settles today until it settles', async () => {
    const expiries = async (now: string) => (await first(at(now))).chains[0]!.series.map(({ expiry }) => expiry);
    expect(await expiries('2026-08-21T19:59:00Z')).toContain('2026-08-21');
    expect(await expiries('2026-08-21T20:00:00Z')).not.toContain('2026-08-21');
  });
});

describe('with the clock `always`', () => {
  const feedOf = (clock: SimClock) => createSimulatedFeed({ seed: 1, universe: few, clock });

  test('quotes of each minute arrive on a Sunday, with trades and closes of the last session only', async () => {
    const feed = feedOf('always');
    const polls: News[] = [];
    for (const time of ['2026-08-23T07:00:05Z', '2026-08-23T07:00:50Z', '2026-08-23T07:01:05Z', '2026-08-23T07:02:05Z'])
      polls.push(await poll(feed, at(time)));
    expect(polls.map(({ chains }) => [...new Set(chains.map(({ asOf }) => new Date(asOf).toISOString()))])).toEqual([
      ...[['2026-08-23T07:00:00.000Z'], [], ['2026-08-23T07:01:00.000Z'], ['2026-08-23T07:02:00.000Z']],
    ]);
    const [first, , ...later] = polls;
    expect(later.flatMap(({ prints, closes }) => [...prints, ...closes])).toEqual([]);
    expect(Math.max(...first!.prints.map(({ at }) => at))).toBeLessThanOrEqual(closeOf('2026-08-21'));
    expect(first!.closes.at(-1)!.date).toBe('2026-08-21');
    for (const { chains } of polls)
      for (const { simulated, source } of chains)
        expect({ simulated, source }).toEqual({ simulated: true, source: 'simulated' });
    const [friday] = (await poll(feedOf('real'), at('2026-08-23T07:00:05Z'))).chains.slice(1);
    const [sunday] = first!.chains.slice(1);
    expect([...sunday!.volume]).toEqual([...friday!.volume]);
    expect([...sunday!.openInterest]).toEqual([...friday!.openInterest]);
  });

  test('shares have the same quotes in trading hours as with the clock `real`', async () => {
    const [real, always] = [await poll(feedOf('real'), NOON), await poll(feedOf('always'), NOON)];
    expect(asText(always.chains[1]!)).toBe(asText(real.chains[1]!));
    expect(always.closes).toEqual(real.closes);
  });
});

test('an index has the price of its fund times the customary multiple, and European series of two roots', async () => {
  for (const clock of ['real', 'always'] as const) {
    const { chains } = await poll(createSimulatedFeed({ seed: 3, universe: STANDARD_UNIVERSE, clock }), NOON);
    const named = (ticker: string) => chains.find(({ underlying }) => underlying === ticker)!;
    for (const [index, fund, multiple, others] of [
      ['SPX', 'SPY', 10, 'SPXW'],
      ['NDX', 'QQQ', 40, 'NDXP'],
    ] as const) {
      expect(Math.abs(named(index).spot / named(fund).spot / multiple - 1)).toBeLessThan(1e-4);
      const { series, strike } = named(index);
      expect(Object.fromEntries(series.map(({ root, settlement }) => [root, settlement]))).toEqual({
        [index]: 'AM',
        [others]: 'PM',
      });
      expect(series.find(({ root }) => root === index)!.expiry).toBe('2026-09-18');
      for (const { start, end } of series) expect(new Set(strike.slice(start, end)).size).toBeLessThanOrEqual(80);
    }
  }
});

test("the tickers of an operator's universe trade too", async () => {
  const { chains, closes } = await first(NOON, 1, loadUniverse('{"themes":{"mine":["ZZZ","BF.B"]}}'));
  expect(chains.map(({ underlying, series }) => [underlying, series[0]?.root])).toEqual([
    ['ZZZ', 'ZZZ'],
    ['BF.B', 'BFB'],
  ]);
  expect(closes).toHaveLength(2 * 252);
});
