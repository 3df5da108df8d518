import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { jumpLawAt } from '../../src/analytics/surface/jump-law.ts';
import { daysBetween, newYorkDate } from '../../src/market/calendar.ts';
import { calculateMertonProbability } from '../../src/operations/merton-probability.ts';
import { getVolatilitySurface } from '../../src/operations/surface-report.ts';
import { IntegratedDensity, normal } from '../analytics/independent.ts';
import { recordedChain } from '../analytics/recorded.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { callExtended, smallMarket } from './small-market.ts';

/** Every figure is computed a second time, from the published law, by integrals and bisection. */
const AGREEMENT = 1e-6;
const CHAINS = ['RUT 2023-09-21', 'AAPL 2026-08-21', 'XLF 2026-08-21'];
/** Integrals over 135 components are slow: some settlements of each chain. */
const SETTLEMENTS = 3;

type Column = (number | null)[];

describeRecorded('surface and probabilities by a second computation', (dir) => {
  describe.each(CHAINS)('%s', (name) => {
    const chain = recordedChain(dir, name);
    const { context } = smallMarket({ chains: [chain] });
    const surface = callExtended(getVolatilitySurface, { ticker: chain.underlying, detail: 'parameters' }, context) as {
      expiries: Record<string, Column> & { settles_at: string[]; count: number };
      parameters: { kernel: number[]; node: number[][]; mass: number[][] };
    };
    const { expiries, parameters } = surface as never as {
      expiries: Record<string, Column> & { settles_at: string[] };
      parameters: { kernel: number[]; node: number[][]; mass: number[][] };
    };
    const some = evenly(expiries.settles_at.length, SETTLEMENTS);

    test.each(some)('smile figures of settlement %d', (i) => {
      const tte = expiries.tte![i]!;
      const components = parameters.node[i]!.map((mean, j) => ({
        ...{ weight: parameters.mass[i]![j]!, mean, volatility: parameters.kernel[i]! / Math.sqrt(tte) },
      }));
      const law = new IntegratedDensity(components, 1, tte);
      const smile = (strike: number) => {
        const side = strike >= 1 ? 1 : -1;
        return volatilityOf(side, strike, law.price(side, strike)) / Math.sqrt(tte);
      };
      const atDelta = (side: number, delta: number) => smile(strikeAtDelta(smile, tte, side, delta));
      const agrees = (field: string, value: number) =>
        expect(Math.abs(expiries[field]![i]! - value), field).toBeLessThan(AGREEMENT);

      agrees('atm_iv', smile(1));
      agrees('atm_iv_trading', smile(1) * Math.sqrt(tte / expiries.trading_years![i]!));
      const [put25, call25] = [atDelta(-1, 0.25), atDelta(1, 0.25)];
      agrees('put_25d_iv', put25);
      agrees('call_25d_iv', call25);
      agrees('put_10d_iv', atDelta(-1, 0.1));
      agrees('call_10d_iv', atDelta(1, 0.1));
      agrees('skew_25d', put25 - call25);
      agrees('convexity_25d', (put25 + call25) / 2 - smile(1));
      const mean = law.expected(Math.log);
      const moment = (power: number) => law.expected((price) => (Math.log(price) - mean) ** power);
      agrees('variance_swap_iv', Math.sqrt((-2 * mean) / tte));
      agrees('skewness', moment(3) / moment(2) ** 1.5);
      agrees('kurtosis', moment(4) / moment(2) ** 2);
      if (i > 0) {
        const variance = (row: number) => expiries.atm_iv_trading![row]! ** 2 * expiries.trading_years![row]!;
        const years = expiries.trading_years![i]! - expiries.trading_years![i - 1]!;
        const between = variance(i) - variance(i - 1);
        if (expiries.forward_iv_trading![i] === null) expect(between).toBeLessThanOrEqual(1e-12);
        else agrees('forward_iv_trading', Math.sqrt(between / years));
      }
    });

    const prepared = prepareChain(chain, DEFAULT_OPTIONS);
    const atClose = expiries.settles_at.flatMap((at, i) => (new Date(at).getUTCHours() >= 20 ? [i] : []));
    test.each(evenly(atClose.length, SETTLEMENTS).map((i) => atClose[i]!))(
      'probabilities at settlement %d',
      (i) => {
        const endsAt = expiries.settles_at[i]!;
        const days = daysBetween(newYorkDate(chain.asOf), newYorkDate(Date.parse(endsAt)));
        const { law, jumpDiffusion } = jumpLawAt(fitSurface(prepared), Date.parse(endsAt), 0.5);
        const deviation = expiries.atm_iv![i]! * Math.sqrt(expiries.tte![i]!);
        for (const z of [-2, -0.7, 0.4, 1.5]) {
          const strike = Number((chain.spot * Math.exp(z * deviation)).toFixed(2));
          const found = callExtended(
            calculateMertonProbability,
            { ticker: chain.underlying, spot_price: chain.spot, ambush_strike: strike, days_to_expiry: days },
            context,
          ) as Record<string, number>;
          const agrees = (field: string, value: number) =>
            expect(Math.abs(found[field]! - value), `${field} at ${strike}`).toBeLessThan(AGREEMENT);
          expect(found.horizon_ends_at as unknown).toBe(endsAt);
          const { tte, forward } = found as { tte: number; forward: number };
          const [side, k] = [strike >= chain.spot ? 1 : -1, strike / forward];
          const integrated = (components: ConstructorParameters<typeof IntegratedDensity>[0]) =>
            new IntegratedDensity(components, 1, tte);
          const beyond = (of: IntegratedDensity) => (side === 1 ? of.expected(() => 1, k) : of.expected(() => 1, 0, k));

          const answering = integrated(
            Array.from(law.nodes, (mean, j) => ({
              ...{ weight: law.masses[j]!, mean, volatility: law.kernels[j]! / Math.sqrt(tte) },
            })),
          );
          agrees('merton_probability', beyond(answering));
          const plain = integrated([{ weight: 1, mean: 1, volatility: found.atm_iv! }]);
          agrees('lognormal_probability', beyond(plain));
          agrees('untilted_probability', beyond(integrated(poissonMixture(jumpDiffusion, tte))));
          agrees('diffusion_volatility', Math.sqrt(jumpDiffusion.variance / tte));
          agrees('jump_intensity', Math.LN2 / tte);
          const outOfMoney = k >= 1 ? 1 : -1;
          agrees('implied_volatility', volatilityOf(outOfMoney, k, answering.price(outOfMoney, k)) / Math.sqrt(tte));
          const { low, high } = quotedBounds(prepared, endsAt, strike);
          agrees('vertical_low', side === 1 ? low : 1 - high);
          agrees('vertical_high', side === 1 ? high : 1 - low);
          agrees('touch_high', cheapestHedge(answering, side, strike / forward, strike / chain.spot));
          expect(found.touch_probability).toBeWithin(found.merton_probability!, found.touch_high! + 1e-12);
        }
      },
      60_000,
    );
  });
});

/** Root of the total variance at which Black's formula gives a price, by bisection. */
function volatilityOf(side: number, strike: number, price: number): number {
  let [low, high] = [1e-9, 10];
  for (let i = 0; i < 100; i++) {
    const s = (low + high) / 2;
    const d1 = -Math.log(strike) / s + s / 2;
    if (side * (normal(side * d1) - strike * normal(side * (d1 - s))) < price) low = s;
    else high = s;
  }
  return (low + high) / 2;
}

/** The strike at which an option has a forward delta, by bisection. */
function strikeAtDelta(smile: (strike: number) => number, tte: number, side: number, delta: number): number {
  let [low, high] = [0, 8 * smile(1) * Math.sqrt(tte)];
  for (let i = 0; i < 45; i++) {
    const x = (low + high) / 2;
    const s = smile(Math.exp(side * x)) * Math.sqrt(tte);
    if (normal(-x / s + (side * s) / 2) > delta) low = x;
    else high = x;
  }
  return Math.exp((side * (low + high)) / 2);
}

function poissonMixture(model: { variance: number; jumps: number; mean: number; width: number }, tte: number) {
  const factor = model.mean + model.width ** 2 / 2;
  let weight = Math.exp(-model.jumps);
  return Array.from({ length: 25 }, (_, n) => {
    if (n > 0) weight *= model.jumps / n;
    const mean = Math.exp(n * factor - model.jumps * (Math.exp(factor) - 1));
    return { weight, mean, volatility: Math.sqrt((model.variance + n * model.width ** 2) / tte) };
  });
}

/** Bounds by all pairs of the six two-sided quotes out of the money on each side of a strike, from bids and asks in dollars. */
function quotedBounds({ chain, series, row, strike: strikes, callPut }: PreparedChain, endsAt: string, strike: number) {
  const each = series.filter((one) => new Date(one.series.settlesAt).toISOString() === endsAt);
  const used = fitSurface(prepareChain(chain, DEFAULT_OPTIONS)).slices.find(
    ({ settlesAt }) => new Date(settlesAt).toISOString() === endsAt,
  )!.quotes.moneyness;
  const quotes = each.flatMap(({ start, end, forward, rate, tte }) =>
    Array.from({ length: end - start }, (_, j) => start + j).flatMap((i) => {
      const isOtm = strikes[i]! >= forward === (callPut[i] === 1);
      if (!isOtm || !used.some((one) => Math.abs(one - strikes[i]! / forward) < 1e-12)) return [];
      const growth = Math.exp(rate * tte);
      const parity = callPut[i] === 1 ? 0 : forward - strikes[i]!;
      const [bid, ask] = [chain.bid[row[i]!]!, chain.ask[row[i]!]!];
      // A quote is not known better than a fifth of a cent.
      const [middle, half] = [(bid + ask) / 2, Math.max((ask - bid) / 2, 0.002)];
      return [{ k: strikes[i]!, bid: (middle - half) * growth + parity, ask: (middle + half) * growth + parity }];
    }),
  );
  quotes.sort((a, b) => a.k - b.k);
  let [low, high] = [0, 1];
  const pairs = (side: typeof quotes, visit: (a: (typeof quotes)[0], b: (typeof quotes)[0]) => void) => {
    for (const a of side) for (const b of side) if (b.k > a.k) visit(a, b);
  };
  pairs(quotes.filter(({ k }) => k <= strike).slice(-6), (a, b) => {
    high = Math.min(high, (a.ask - b.bid) / (b.k - a.k));
  });
  pairs(quotes.filter(({ k }) => k >= strike).slice(0, 6), (a, b) => {
    low = Math.max(low, (a.bid - b.ask) / (b.k - a.k));
  });
  return { low, high: Math.max(high, 0) };
}

/** The cheapest super-hedge over a grid of strikes. Prices are integrals. */
function cheapestHedge(law: IntegratedDensity, side: number, moneyness: number, carried: number): number {
  const barrier = side === 1 ? Math.min(moneyness, carried) : Math.max(moneyness, carried);
  const cost = (x: number) => {
    const strike = barrier * Math.exp(-side * x);
    return law.price(side, strike) / Math.abs(barrier - strike);
  };
  let [least, at, step] = [1, 0.01, 0.02];
  for (let x = step; x < 2; x += step) if (cost(x) < least) [least, at] = [cost(x), x];
  for (; step > 1e-4; step /= 2) {
    for (const x of [at - step / 2, at + step / 2]) if (x > 0 && cost(x) < least) [least, at] = [cost(x), x];
  }
  return least;
}

function evenly(count: number, wanted: number): number[] {
  const all = Array.from({ length: Math.min(wanted, count) }, (_, i) =>
    Math.round((i * (count - 1)) / Math.max(1, Math.min(wanted, count) - 1)),
  );
  return [...new Set(all)];
}
