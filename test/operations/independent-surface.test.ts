import { describe, expect, test } from 'bun:test';
import type { PreparedChain, PreparedSeries } from '../../src/analytics/chain/prepared-chain.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { jumpLawAt } from '../../src/analytics/surface/jump-diffusion-law.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { daysBetween, newYorkDate } from '../../src/market/calendar.ts';
import { getGexByExpiry } from '../../src/operations/gex/gex-expiries.ts';
import { calculateMertonProbability } from '../../src/operations/surface/merton-probability.ts';
import { getVolatilitySurface } from '../../src/operations/surface/surface-report.ts';
import { IntegratedDensity } from '../analytics/independent.ts';
import { normalCdf, volatilityOf } from '../analytics/plain.ts';
import { recordedChain } from '../analytics/recorded.ts';
import { preparedChain } from '../analytics/small-chains.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { IS_FULL } from '../support/size.ts';
import { callExtended, smallMarket } from './small-market.ts';

/** Every figure is computed a second time, from the published law, by integrals and bisection. */
const AGREEMENT = 1e-6;
const CHAINS = ['RUT 2023-09-21', 'AAPL 2026-08-21', 'XLF 2026-08-21'];
/** Integrals over 205 components are slow: some settlements of each chain, in the everyday run the middle one alone. */
const SETTLEMENTS = IS_FULL ? 3 : 1;

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
      const [low, high] = [expiries.quoted_low![i]!, expiries.quoted_high![i]!].map(
        (each) => each / expiries.forward![i]!,
      );
      const shares = [2, 3, 4].map((power) => {
        const size = (price: number) => Math.abs(Math.log(price) - mean) ** power;
        const beyond = law.expected((price) => (price < low! || price > high! ? size(price) : 0));
        return beyond / law.expected(size);
      });
      for (const [at, field] of ['tail_share_variance', 'tail_share_third', 'tail_share_fourth'].entries()) {
        // The integral has a step at the outermost strikes.
        expect(expiries[field]![i]! / shares[at]!, field).toBeWithin(0.99, 1.01);
      }
      const orNull = (field: string, share: number, value: number) =>
        share > 0.5 ? expect(expiries[field]![i], field).toBeNull() : agrees(field, value);
      orNull('skewness', shares[1]!, moment(3) / moment(2) ** 1.5);
      orNull('kurtosis', shares[2]!, moment(4) / moment(2) ** 2);
      if (i > 0) {
        const variance = (row: number) => expiries.atm_iv_trading![row]! ** 2 * expiries.trading_years![row]!;
        const years = expiries.trading_years![i]! - expiries.trading_years![i - 1]!;
        const between = variance(i) - variance(i - 1);
        if (expiries.forward_iv_trading![i] === null) expect(between).toBeLessThanOrEqual(1e-12);
        else agrees('forward_iv_trading', Math.sqrt(between / years));
      }
    });

    test('events, from the published volatilities at the money', () => {
      const { events } = surface as never as { events: Record<string, number[]> & { before: string[]; count: number } };
      const settlements = events.before.map((at) => expiries.settles_at.indexOf(at));
      const years = expiries.trading_years as number[];
      const variance = years.map((each, i) => expiries.atm_iv_trading![i]! ** 2 * each);
      const band = years.map((_, i) => expiries.atm_iv_band![i]! / expiries.atm_iv![i]!);
      const fit = (values: readonly number[]) => fitEvents(years, values, variance, band, settlements);
      const own = fit(variance);
      expect(events.count > 0).toBe(name === 'AAPL 2026-08-21');
      for (const [i, settlement] of settlements.entries()) {
        const found = own.variances[i]!;
        const moved = years.map((_, j) => {
          const changed = variance.map((each, k) => (k === j ? each * (1 + 2 * band[j]!) : each));
          return fit(changed).variances[i]! - found;
        });
        const agrees = (field: string, value: number) =>
          expect(Math.abs(events[field]![i]! - value), field).toBeLessThan(AGREEMENT);
        agrees('variance', found);
        agrees('implied_move', Math.sqrt(found));
        agrees('expected_absolute_move', Math.sqrt((2 * found) / Math.PI));
        agrees('implied_move_band', Math.hypot(...moved) / (2 * Math.sqrt(found)));
        agrees('implied_move_error', own.errors[i]! / (2 * Math.sqrt(found)));
        expect(new Date(events.after![i]!).toISOString()).toBe(expiries.settles_at[settlement - 1]!);
      }
      for (const [i, each] of years.entries()) {
        const ofEvents = settlements.reduce((sum, at, j) => sum + (at <= i ? own.variances[j]! : 0), 0);
        const left = Math.sqrt((variance[i]! - ofEvents) / each);
        expect(Math.abs(expiries.atm_iv_trading_without_events![i]! - left)).toBeLessThan(AGREEMENT);
      }
    });

    const prepared = preparedChain(chain);
    test('volatilities of bid and ask at the money', () => {
      const rows = callExtended(getGexByExpiry, { ticker: chain.underlying }, context) as never as {
        [column: string]: Column;
      } & { root: string[]; expiry: string[]; smile_refused: (string | null)[] };
      for (const [i, root] of rows.root.entries()) {
        if (rows.smile_refused[i] !== null || rows.atm_iv_bid![i] === null) continue;
        const series = prepared.series.find(
          (each) => each.series.root === root && each.series.expiry === rows.expiry[i],
        )!;
        const { bid, ask } = quotedAtTheMoney(prepared, series);
        expect(Math.abs(rows.atm_iv_bid![i]! - bid), `${root} ${rows.expiry[i]}`).toBeLessThan(AGREEMENT);
        expect(Math.abs(rows.atm_iv_ask![i]! - ask), `${root} ${rows.expiry[i]}`).toBeLessThan(AGREEMENT);
      }
    });

    const atClose = expiries.settles_at.flatMap((at, i) => (new Date(at).getUTCHours() >= 20 ? [i] : []));
    test.each(evenly(atClose.length, SETTLEMENTS).map((i) => atClose[i]!))('probabilities at settlement %d', (i) => {
      const endsAt = expiries.settles_at[i]!;
      const days = daysBetween(newYorkDate(chain.asOf), newYorkDate(Date.parse(endsAt)));
      const { law, jumpDiffusion } = runToCompletion(
        jumpLawAt(runToCompletion(fitSurface(prepared)), Date.parse(endsAt), 0.5),
      );
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
            ...{ weight: law.masses[j]!, mean, volatility: law.widths[j]! / Math.sqrt(tte) },
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
        agrees('touch_superhedge', cheapestHedge(answering, side, strike / forward, strike / chain.spot));
        expect(found.touch_probability).toBeWithin(found.merton_probability!, found.touch_superhedge! + 1e-12);
      }
    });
  });
});

/**
 * Fits a cubic in the logarithm of time and the variances of events to variances per year, by weighted least squares. `known` are the variances from
 * which the weights come.
 */
function fitEvents(
  years: readonly number[],
  variance: readonly number[],
  known: readonly number[],
  band: readonly number[],
  settlements: readonly number[],
): { variances: number[]; errors: number[] } {
  const error = years.map((each, i) => (2 * known[i]! * Math.hypot(0.2 * band[i]!, 0.003)) / each);
  const rows = years.map((each, i) => [
    ...[0, 1, 2, 3].map((power) => Math.log(each) ** power / error[i]!),
    ...settlements.map((at) => (i >= at ? 1 / each / error[i]! : 0)),
  ]);
  const values = years.map((each, i) => variance[i]! / each / error[i]!);
  const inner = (a: number, b: number) => rows.reduce((sum, row) => sum + row[a]! * row[b]!, 0);
  const size = rows[0]!.length;
  // The normal equations beside the identity: elimination gives the coefficients and the inverse.
  const matrix = Array.from({ length: size }, (_, a) => [
    ...Array.from({ length: size }, (_, b) => inner(a, b)),
    rows.reduce((sum, row, i) => sum + row[a]! * values[i]!, 0),
    ...Array.from({ length: size }, (_, b) => (a === b ? 1 : 0)),
  ]);
  for (let pivot = 0; pivot < size; pivot++) {
    const best = matrix.slice(pivot).reduce((a, b) => (Math.abs(b[pivot]!) > Math.abs(a[pivot]!) ? b : a));
    matrix.splice(matrix.indexOf(best), 1);
    matrix.splice(pivot, 0, best);
    for (const row of matrix) {
      if (row === best) continue;
      const factor = row[pivot]! / best[pivot]!;
      for (let k = 0; k < row.length; k++) row[k]! -= factor * best[k]!;
    }
  }
  const solved = matrix.map((row, i) => row[size]! / row[i]!);
  const squares = rows.reduce((sum, row, i) => {
    const fitted = row.reduce((all, each, j) => all + each * solved[j]!, 0);
    return sum + (values[i]! - fitted) ** 2;
  }, 0);
  const scale = Math.max(1, Math.sqrt(squares / (years.length - size)));
  return {
    variances: settlements.map((_, i) => solved[4 + i]!),
    errors: settlements.map((_, i) => scale * Math.sqrt(matrix[4 + i]![size + 5 + i]! / matrix[4 + i]![4 + i]!)),
  };
}

/** Volatilities of bid and ask at the forward: linear in log-moneyness between the two strikes around it. */
function quotedAtTheMoney({ chain, row, strike, callPut }: PreparedChain, series: PreparedSeries) {
  const { start, end, forward, rate, tte, smile } = series;
  const otm = Array.from({ length: end - start }, (_, i) => start + i).filter(
    (i) =>
      strike[i]! >= forward === (callPut[i] === 1) &&
      smile.logMoneyness.some((each) => Math.abs(each - Math.log(strike[i]! / forward)) < 1e-12),
  );
  const above = otm.filter((i) => strike[i]! >= forward)[0]!;
  const below = otm.filter((i) => strike[i]! < forward).at(-1)!;
  const share = -Math.log(strike[below]! / forward) / Math.log(strike[above]! / strike[below]!);
  const ends = (quote: Float64Array) => {
    const at = (i: number) => {
      const price = (quote[row[i]!]! * Math.exp(rate * tte)) / forward;
      return volatilityOf(callPut[i]!, strike[i]! / forward, price) / Math.sqrt(tte);
    };
    return at(below) + share * (at(above) - at(below));
  };
  return { bid: ends(chain.bid), ask: ends(chain.ask) };
}

/** The strike at which an option has a forward delta, by bisection. */
function strikeAtDelta(smile: (strike: number) => number, tte: number, side: number, delta: number): number {
  let [low, high] = [0, 8 * smile(1) * Math.sqrt(tte)];
  for (let i = 0; i < 45; i++) {
    const x = (low + high) / 2;
    const s = smile(Math.exp(side * x)) * Math.sqrt(tte);
    if (normalCdf(-x / s + (side * s) / 2) > delta) low = x;
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
  const used = runToCompletion(fitSurface(preparedChain(chain))).slices.find(
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
  for (; step > 1e-5; step /= 2) {
    for (const x of [at - step / 2, at + step / 2]) if (x > 0 && cost(x) < least) [least, at] = [cost(x), x];
  }
  return least;
}

function evenly(count: number, wanted: number): number[] {
  if (wanted === 1) return [count >> 1];
  const all = Array.from({ length: Math.min(wanted, count) }, (_, i) =>
    Math.round((i * (count - 1)) / Math.max(1, Math.min(wanted, count) - 1)),
  );
  return [...new Set(all)];
}
