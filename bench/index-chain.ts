import { generator } from '../src/bench/workloads.ts';
import { smileVolatility } from '../src/feeds/simulated/simulated-smile.ts';
import { buildChain } from '../src/market/build-chain.ts';
import { nextTradingDay, settlementInstant, YEAR_MS } from '../src/market/calendar.ts';
import type { Chain } from '../src/market/chain.ts';
import type { ContractRow } from '../src/market/contract-batch.ts';
import { greeksOf } from '../src/math/black-scholes.ts';

/** Moment of the quotes: a Monday at noon in New York. */
const AS_OF = Date.parse('2026-01-05T17:00:00Z');
const TODAY = '2026-01-05';
const SPOT = 6000;
const [RATE, DIVIDEND] = [0.04, 0.013];
/** Parameters of the volatilities, as `smileVolatility` takes them. */
const SURFACE = { shortIv: 0.13, longIv: 0.18, skew: -0.7 };
const TICK = 0.05;

/**
 * Returns an artificial chain of an index, with calls and puts at `strikes` strikes of each of `expiries` expiries. The first expiry is
 * today. Each call returns the same chain. A fifth of the contracts have no volatility, and a twentieth have a number that stands for a
 * missing volatility. Far from the money, contracts have no bid. About a third of the contracts have no open interest.
 */
export function indexChain(expiries: number, strikes: number): Chain {
  const random = generator(7);
  const rows: ContractRow[] = [];
  for (const { expiry, points } of ladder(expiries)) {
    const tte = (settlementInstant(expiry, 'PM') - AS_OF) / YEAR_MS;
    for (let i = 0; i < strikes; i++) {
      const strike = SPOT + points * (i - (strikes >> 1));
      const iv = smileVolatility(SURFACE, Math.log(strike / SPOT) - (RATE - DIVIDEND) * tte, tte);
      for (const callPut of [1, -1]) {
        const fair = greeksOf({ callPut, spot: SPOT, strike, tte, iv, rate: RATE, dividend: DIVIDEND }).price;
        const half = 0.5 * TICK + 0.004 * fair + TICK * random();
        const given = random();
        rows.push({
          root: 'SPXW',
          expiry,
          callPut,
          strike,
          bid: Math.max(0, Math.floor((fair - half) / TICK)) * TICK,
          ask: Math.max(1, Math.ceil((fair + half) / TICK)) * TICK,
          last: fair,
          volume: Math.floor(500 * random() ** 4),
          openInterest: Math.floor(8000 * Math.max(0, random() - 0.3) ** 3),
          iv: given < 0.2 ? Number.NaN : given < 0.25 ? 0.500005 : Math.round(iv * 1e4) / 1e4,
          delta: Number.NaN,
          gamma: Number.NaN,
          multiplier: 100,
        });
      }
    }
  }
  return buildChain({ underlying: 'SPX', asOf: AS_OF, spot: SPOT, source: 'artificial', simulated: true }, rows);
}

/**
 * Returns the expiries, with the distance of their strikes. Two fifths of the expiries are one trading day apart, with strikes every 5
 * points. Three tenths are 5 trading days apart, with strikes every 10 points. The others are 21 trading days apart, with strikes every 25
 * points.
 */
function ladder(expiries: number): { expiry: string; points: number }[] {
  const listed: { expiry: string; points: number }[] = [];
  for (let expiry = TODAY; listed.length < expiries; ) {
    const [days, points] =
      listed.length < 0.4 * expiries ? [1, 5] : listed.length < 0.7 * expiries ? [5, 10] : [21, 25];
    listed.push({ expiry, points });
    for (let day = 0; day < days; day++) expiry = nextTradingDay(expiry);
  }
  return listed;
}
