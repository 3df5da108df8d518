import { FEED_IV_MAX, isComputedIv, seriesForward } from '../src/analytics/chain/forward.ts';
import { DEFAULT_OPTIONS } from '../src/analytics/chain/options.ts';
import { mid } from '../src/analytics/chain/quotes.ts';
import { varianceAt } from '../src/analytics/chain/smile-variance.ts';
import { staleQuotes } from '../src/analytics/chain/stale-quotes.ts';
import { YEAR_MS } from '../src/market/calendar.ts';
import type { Chain, Series } from '../src/market/chain.ts';
import { density, type GammaColumns, plainImpliedVolatility, weighed } from './plain.ts';

/** The results of `exposures` and `gammaFlip`: dollar exposures, and the spot of the flip. */
export interface ChainLevels {
  readonly dex: number;
  readonly gex: number;
  readonly grossGex: number;
  readonly vex: number;
  readonly cex: number;
  readonly flip: number;
}

const TICK = 0.05;
const SOLVED_IV_MIN = 1e-3;
const BID_STRIKES_MIN = 5;
const STEP = 0.0025;
const STEPS = 80;

/**
 * Computes what `prepareChain`, `exposures` and `gammaFlip` compute with the default options, but contract by contract
 * with plain formulas. Forwards, stale quotes and the interpolation use the service's own functions, which call no kernels. The chain must
 * be an `indexChain`: none of its contracts has settled, and its flip is within 20 % of spot.
 */
export function plainLevels(
  chain: Chain,
  gammaProfile: (contracts: GammaColumns, levels: Float64Array, sums: Float64Array) => void,
): ChainLevels {
  const { count, callPut, strike, spot } = chain;
  const column = () => new Float64Array(count);
  const [tte, iv, rate, dividend, weight] = [column(), column(), column(), column(), column()];
  for (const series of chain.series) {
    const T = (series.settlesAt - chain.asOf) / YEAR_MS;
    const { forward, rate: r } = seriesForward(chain, series, T, DEFAULT_OPTIONS);
    const q = r - Math.log(forward / spot) / T;
    tte.fill(T, series.start, series.end);
    rate.fill(r, series.start, series.end);
    dividend.fill(q, series.start, series.end);
    plainVolatilities(chain, series, forward, T, r, q, iv);
  }
  let [dex, gex, grossGex, vex, cex] = [0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const sign = callPut[i]!;
    const v = iv[i]!;
    const T = tte[i]!;
    const r = rate[i]!;
    const q = dividend[i]!;
    const s = v * Math.sqrt(T);
    const spotNow = Math.exp(-q * T);
    const moneyness = Math.log(spot / strike[i]!) + (r - q) * T;
    const d1 = moneyness / s + 0.5 * s;
    const d2 = d1 - s;
    const shared = spotNow * density(d1);
    const delta = sign * weighed(spotNow, shared, sign * d1);
    weight[i] = sign * chain.openInterest[i]! * chain.multiplier[i]!;
    const dollars = weight[i]! * spot;
    const contractGex = (dollars * spot * 0.01 * shared) / (spot * s);
    dex += dollars * delta;
    gex += contractGex;
    grossGex += Math.abs(contractGex);
    vex += (dollars * 0.01 * -shared * d2) / v;
    cex += dollars * ((deltaAfterADay(sign, moneyness, v, T, q) ?? delta) - delta);
  }
  const levels = Float64Array.from({ length: 2 * STEPS + 1 }, (_, i) => spot * (1 + (i - STEPS) * STEP));
  const profile = new Float64Array(levels.length);
  gammaProfile({ count, strike, tte, iv, rate, dividend, weight }, levels, profile);
  return { dex, gex, grossGex, vex, cex, flip: plainFlip(levels, profile, spot) };
}

const DAY = 1 / 365.25;

/** Returns the delta a day later along the forward. `moneyness` is ln(F/K). `undefined` if the strike is open. */
function deltaAfterADay(sign: number, moneyness: number, v: number, T: number, q: number): number | undefined {
  const left = Math.max(0, T - DAY);
  if (Math.abs(moneyness) < v * Math.sqrt(Math.max(0, Math.min(T, 2 * DAY - T)))) return undefined;
  const factor = Math.exp(-q * T + q * T * (Math.min(T, DAY) / Math.max(T, 30 * DAY)));
  if (left === 0) return sign * moneyness > 0 ? sign * factor : 0;
  const d1 = (moneyness + 0.5 * v * v * left) / (v * Math.sqrt(left));
  return sign * weighed(factor, factor * density(d1), sign * d1);
}

/**
 * Fills the volatilities of a series, one for each strike: a volatility solved from the mid of the quote, the feed's volatility, or an
 * interpolated volatility.
 */
function plainVolatilities(
  chain: Chain,
  { start, end }: Series,
  forward: number,
  T: number,
  r: number,
  q: number,
  iv: Float64Array,
): void {
  const sides: number[] = [];
  const open: number[] = [];
  let puts = 0;
  for (let row = start; row < end; row++) {
    const sign = chain.callPut[row]!;
    const K = chain.strike[row]!;
    if (K >= forward !== (sign === 1)) continue;
    sides.push(row);
    if (sign === -1) puts++;
    const given = chain.iv[row]!;
    const isQuoted = !Number.isNaN(mid(chain, row));
    iv[row] = !isQuoted && isComputedIv(given) ? given : Number.NaN;
    if (isQuoted) open.push(row);
  }
  solve(chain, open, T, r, q, iv);
  const stale = new Set(
    [sides.slice(0, puts).reverse(), sides.slice(puts)].flatMap((wing) => staleQuotes(chain, wing, TICK)),
  );
  const known = sides.filter((row) => !Number.isNaN(iv[row]!) && !stale.has(row));
  const bid = known.filter((row) => !Number.isNaN(mid(chain, row)));
  const chosen = bid.length >= BID_STRIKES_MIN ? bid : known;
  const smile = {
    logMoneyness: Float64Array.from(chosen, (row) => Math.log(chain.strike[row]! / forward)),
    totalVariance: Float64Array.from(chosen, (row) => iv[row]! * iv[row]! * T),
  };
  for (const row of sides) {
    if (Number.isNaN(iv[row]!)) iv[row] = Math.sqrt(varianceAt(smile, Math.log(chain.strike[row]! / forward)) / T);
    // The other contract of the pair has the same volatility.
    iv[chain.callPut[row] === 1 ? row + 1 : row - 1] = iv[row]!;
  }
}

/** Solves volatilities from the middles of the quotes. Leaves a volatility unchanged if the solution is not plausible. */
function solve(chain: Chain, rows: readonly number[], T: number, r: number, q: number, iv: Float64Array): void {
  const column = (value: number) => new Float64Array(rows.length).fill(value);
  const [callPut, strike, price, solved] = [column(0), column(0), column(0), column(0)];
  for (const [i, row] of rows.entries()) {
    callPut[i] = chain.callPut[row]!;
    strike[i] = chain.strike[row]!;
    price[i] = mid(chain, row);
  }
  const shared = { spot: column(chain.spot), tte: column(T), iv: column(0), rate: column(r), dividend: column(q) };
  plainImpliedVolatility({ count: rows.length, callPut, strike, ...shared }, price, solved);
  for (const [i, row] of rows.entries()) {
    if (solved[i]! >= SOLVED_IV_MIN && solved[i]! <= FEED_IV_MAX) iv[row] = solved[i]!;
  }
}

/** Returns the flip nearest to spot, or NaN if the profile does not change its sign. */
function plainFlip(levels: Float64Array, profile: Float64Array, spot: number): number {
  let flip = Number.NaN;
  for (let i = 0; i + 1 < levels.length; i++) {
    const low = profile[i]! * levels[i]! ** 2;
    const high = profile[i + 1]! * levels[i + 1]! ** 2;
    if (Math.sign(low) === Math.sign(high)) continue;
    const level = levels[i]! + (low / (low - high)) * (levels[i + 1]! - levels[i]!);
    if (!(Math.abs(level - spot) >= Math.abs(flip - spot))) flip = level;
  }
  return flip;
}
