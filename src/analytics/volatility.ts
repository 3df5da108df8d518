import type { Chain, Series } from '../market/chain.ts';
import { isIndexRoot } from '../market/option-symbol.ts';
import { greeks } from '../math/black-scholes.ts';
import { impliedVolatility } from '../math/implied-volatility.ts';
import { FEED_IV_MAX, FEED_IV_MIN } from './forward.ts';
import type { AnalysisOptions } from './options.ts';
import type { PreparationCounts, Smile } from './prepared-chain.ts';
import { mid } from './quotes.ts';
import { varianceAt } from './smile.ts';
import { staleQuotes } from './stale-quotes.ts';

/** What the volatility of a series' strikes depends on. */
export interface SeriesInput {
  readonly series: Series;
  /** Years to settlement. */
  readonly tte: number;
  readonly forward: number;
  /** Continuous, per year; `dividend` carries spot to the forward. */
  readonly rate: number;
  readonly dividend: number;
}

export interface Volatilities {
  /** By contract, series after series; `NaN` where no route gives one. */
  readonly iv: Float64Array;
  /** By series. */
  readonly smiles: Smile[];
  readonly counts: PreparationCounts['iv'];
  /** Strikes whose quote contradicts its neighbours': left out of the smile. */
  readonly staleQuotes: number;
}

/** A quote's price may be off by its tick. */
const TICK_INDEX = 0.05;
const TICK = 0.01;
/** A solved volatility below this is a quote at its intrinsic value, not an opinion. */
const SOLVED_IV_MIN = 1e-3;

/** So many bid strikes make a smile by themselves. */
const BID_STRIKES_MIN = 5;

type Origin = 'taken' | 'solved' | 'interpolated' | 'extended';

/** A strike of a series: its contracts' positions in the output, and the chain's row of its out-of-the-money side. */
interface Slot {
  readonly input: SeriesInput;
  readonly seriesAt: number;
  readonly strike: number;
  readonly positions: number[];
  otmRow: number;
  iv: number;
  origin: Origin | undefined;
}

/**
 * One volatility per strike, that of the out-of-the-money side, serving call and put (in-the-money American quotes carry the
 * early-exercise premium): the feed's where its price fits the quote, else solved from the mid, else interpolated in total
 * variance over log-moneyness, flat beyond the outermost. Stale quotes are no part of the smile. With `iv: own` each contract keeps the feed's, untested.
 */
export function volatilities(chain: Chain, inputs: readonly SeriesInput[], options: AnalysisOptions): Volatilities {
  const count = inputs.reduce((sum, { series }) => sum + series.end - series.start, 0);
  const slots = slotsOf(chain, inputs);
  const iv = new Float64Array(count).fill(Number.NaN);
  const counts = { taken: 0, solved: 0, interpolated: 0, extended: 0 };
  if (options.iv === 'own') {
    let at = 0;
    for (const { series } of inputs) {
      for (let row = series.start; row < series.end; row++, at++) {
        if (!isOpinion(chain.iv[row]!)) continue;
        iv[at] = chain.iv[row]!;
        counts.taken++;
      }
    }
    for (const slot of slots) {
      if (slot.otmRow >= 0 && isOpinion(chain.iv[slot.otmRow]!)) slot.iv = chain.iv[slot.otmRow]!;
    }
    return { iv, smiles: smilesOf(chain, slots, inputs.length), counts, staleQuotes: 0 };
  }
  takeFromFeed(chain, slots);
  solveFromMid(chain, slots);
  const stale = staleSlots(chain, slots, inputs.length);
  const fresh = slots.filter((slot) => !stale.has(slot));
  const smiles = smilesOf(chain, fresh, inputs.length);
  for (const slot of slots) {
    if (slot.origin === undefined) interpolate(slot, smiles[slot.seriesAt]!);
    for (const position of slot.positions) iv[position] = slot.iv;
    if (slot.origin) counts[slot.origin] += slot.positions.length;
  }
  return { iv, smiles, counts, staleQuotes: stale.size };
}

function slotsOf(chain: Chain, inputs: readonly SeriesInput[]): Slot[] {
  const slots: Slot[] = [];
  let position = 0;
  inputs.forEach((input, seriesAt) => {
    let slot: Slot | undefined;
    for (let row = input.series.start; row < input.series.end; row++, position++) {
      const strike = chain.strike[row]!;
      if (slot?.strike !== strike) {
        slot = { input, seriesAt, strike, positions: [], otmRow: -1, iv: Number.NaN, origin: undefined };
        slots.push(slot);
      }
      slot.positions.push(position);
      if (strike >= input.forward === (chain.callPut[row] === 1)) slot.otmRow = row;
    }
  });
  return slots;
}

/**
 * Strikes whose out-of-the-money quote is stale. They say nothing of the smile; their contracts keep what the quote implies, a
 * volatility that leaves them next to no gamma, since most have been dead since a split and none is known to be alive.
 */
function staleSlots(chain: Chain, slots: readonly Slot[], seriesCount: number): Set<Slot> {
  const wings = Array.from({ length: seriesCount }, () => ({ puts: [] as Slot[], calls: [] as Slot[] }));
  for (const slot of slots) {
    if (slot.otmRow < 0) continue;
    const { puts, calls } = wings[slot.seriesAt]!;
    // Away from the money: calls by rising strike, puts by falling.
    if (chain.callPut[slot.otmRow] === 1) calls.push(slot);
    else puts.unshift(slot);
  }
  const found = new Set<Slot>();
  for (const { puts, calls } of wings) {
    for (const wing of [puts, calls]) {
      const rows = wing.map(({ otmRow }) => otmRow);
      const stale = new Set(wing.length === 0 ? [] : staleQuotes(chain, rows, tickOf(wing[0]!)));
      for (const slot of wing) if (stale.has(slot.otmRow)) found.add(slot);
    }
  }
  return found;
}

function tickOf({ input }: Slot): number {
  return isIndexRoot(input.series.root) ? TICK_INDEX : TICK;
}

function takeFromFeed(chain: Chain, slots: readonly Slot[]): void {
  const offered = slots.filter((slot) => slot.otmRow >= 0 && isOpinion(chain.iv[slot.otmRow]!));
  const { price } = greeks({
    ...columnsOf(chain, offered),
    iv: Float64Array.from(offered, (s) => chain.iv[s.otmRow]!),
  });
  offered.forEach((slot, at) => {
    const tick = tickOf(slot);
    const twoSided = !Number.isNaN(mid(chain, slot.otmRow));
    const fits = price[at]! >= chain.bid[slot.otmRow]! - tick && price[at]! <= chain.ask[slot.otmRow]! + tick;
    if (twoSided && !fits) return;
    slot.iv = chain.iv[slot.otmRow]!;
    slot.origin = 'taken';
  });
}

function solveFromMid(chain: Chain, slots: readonly Slot[]): void {
  const open = slots.filter((slot) => !slot.origin && slot.otmRow >= 0 && !Number.isNaN(mid(chain, slot.otmRow)));
  const price = Float64Array.from(open, (slot) => mid(chain, slot.otmRow));
  const solved = impliedVolatility({ ...columnsOf(chain, open), price });
  open.forEach((slot, at) => {
    if (!(solved[at]! >= SOLVED_IV_MIN && solved[at]! <= FEED_IV_MAX)) return;
    slot.iv = solved[at]!;
    slot.origin = 'solved';
  });
}

function interpolate(slot: Slot, smile: Smile): void {
  const { logMoneyness: x } = smile;
  if (x.length === 0) return;
  const at = Math.log(slot.strike / slot.input.forward);
  slot.iv = Math.sqrt(varianceAt(smile, at) / slot.input.tte);
  slot.origin = at < x[0]! || at > x[x.length - 1]! ? 'extended' : 'interpolated';
}

/**
 * The strikes with a volatility of their own. Where enough of a series are bid, only those: a volatility that nobody bids for
 * may be a sentinel, and bends the wings.
 */
function smilesOf(chain: Chain, slots: readonly Slot[], seriesCount: number): Smile[] {
  const known: Slot[][] = Array.from({ length: seriesCount }, () => []);
  for (const slot of slots) if (!Number.isNaN(slot.iv)) known[slot.seriesAt]!.push(slot);
  return known.map((all) => {
    const bid = all.filter(({ otmRow }) => !Number.isNaN(mid(chain, otmRow)));
    const each = bid.length >= BID_STRIKES_MIN ? bid : all;
    return {
      logMoneyness: Float64Array.from(each, (slot) => Math.log(slot.strike / slot.input.forward)),
      totalVariance: Float64Array.from(each, (slot) => slot.iv * slot.iv * slot.input.tte),
    };
  });
}

function columnsOf(chain: Chain, slots: readonly Slot[]) {
  return {
    count: slots.length,
    callPut: Float64Array.from(slots, (slot) => chain.callPut[slot.otmRow]!),
    spot: chain.spot,
    strike: Float64Array.from(slots, (slot) => slot.strike),
    tte: Float64Array.from(slots, (slot) => slot.input.tte),
    rate: Float64Array.from(slots, (slot) => slot.input.rate),
    dividend: Float64Array.from(slots, (slot) => slot.input.dividend),
  };
}

function isOpinion(iv: number): boolean {
  return iv >= FEED_IV_MIN && iv <= FEED_IV_MAX;
}
