import { closeOf, lastQuoted, newYorkDate, openOf, previousTradingDay, YEAR_MS } from '../../market/calendar.ts';
import { type Chain, emptyChainColumns, type Series } from '../../market/chain.ts';
import { rootOf, settlementOf } from '../../market/option-symbol.ts';
import { callPutGreeks } from '../../math/black-scholes.ts';
import { askOf, bidOf, halfSpread, RATE, rounded, SHORTEST_MS, simulatedSmileOf, tickOf } from './contracts.ts';
import type { Instrument } from './instruments.ts';
import { listedStrikesOf, type Term, termsOn } from './listing.ts';
import { closeOn, spotAt, swayCentre } from './price-path.ts';
import { dateKey, uniform } from './random.ts';
import { simulatedPrints } from './simulated-prints.ts';
import { smileVolatilities } from './simulated-smile.ts';

/**
 * Returns the chain of an instrument at an instant, on which alone it depends. While the exchange is closed, open interest and volumes are
 * those of the last session. The code fills columns, because objects for rows would be several times slower.
 */
export function simulatedChain(instrument: Instrument, asOf: number): Chain {
  const quotedAt = lastQuoted(asOf);
  const date = newYorkDate(quotedAt);
  const listing = listingOn(instrument, date);
  const session = (quotedAt - openOf(date)) / (closeOf(date) - openOf(date));
  const live = listing.terms.filter(({ term }) => term.settlesAt > asOf);
  // The terms are in order of settlement, so the settled terms come first.
  const from = live[0]?.start ?? 0;
  const strike = listing.strike.subarray(from);
  const rows = strike.length;
  const spot = spotAt(instrument, asOf);
  const smile = simulatedSmileOf(instrument, asOf);
  const { dividend } = instrument;
  const iv = new Float64Array(rows);
  const tte = new Float64Array(rows);
  const series = live.map(({ term: { root, expiry, settlesAt }, ...term }): Series => {
    const [start, end] = [term.start - from, term.end - from];
    const years = Math.max(SHORTEST_MS, settlesAt - asOf) / YEAR_MS;
    tte.fill(years, start, end);
    for (let row = start; row < end; row++) iv[row] = Math.log(strike[row]! / spot) - (RATE - dividend) * years;
    smileVolatilities(smile, iv.subarray(start, end), years);
    const [settlement, { adjusted }] = [settlementOf(root), rootOf(root)];
    return { root, expiry, settlement, settlesAt, adjusted, start: 2 * start, end: 2 * end };
  });
  const { call, put } = callPutGreeks({ count: rows, spot, strike, tte, iv, rate: RATE, dividend });

  const count = 2 * rows;
  const columns = emptyChainColumns(count);
  for (const [index, { start, end }] of series.entries()) columns.seriesIndex.fill(index, start, end);
  for (const { contract, at, size } of listing.prints) {
    if (contract >= 2 * from && at <= asOf) columns.volume[contract - 2 * from]! += size;
  }
  for (let i = 0; i < count; i++) {
    const row = i >> 1;
    const isCall = (i & 1) === 0;
    const model = isCall ? call : put;
    const price = model.price[row]!;
    const tick = tickOf(instrument, price);
    const half = halfSpread(instrument, tick, price, model.vega[row]!);
    const openInterest = listing.openInterest[2 * from + i]!;
    // The volume of a day includes its large prints.
    const volume = columns.volume[i]! + Math.floor(session * listing.turnover[2 * from + i]! * openInterest);
    columns.callPut[i] = isCall ? 1 : -1;
    columns.strike[i] = strike[row]!;
    columns.bid[i] = bidOf(price, half, tick);
    columns.ask[i] = askOf(price, half, tick);
    columns.last[i] = volume > 0 ? Math.max(1, Math.round(price / tick)) * tick : Number.NaN;
    columns.volume[i] = volume;
    columns.openInterest[i] = openInterest;
    columns.iv[i] = rounded(iv[row]!);
    columns.delta[i] = rounded(model.delta[row]!);
    columns.gamma[i] = rounded(model.gamma[row]!);
  }
  columns.multiplier.fill(100);
  const head = { underlying: instrument.ticker, asOf, spot, source: 'simulated', simulated: true, count } as const;
  return { ...head, series, ...columns, refused: {} };
}

/** The data that all chains of one instrument and day share. */
interface Listing {
  readonly instrument: Instrument;
  readonly date: string;
  /** The terms in order of settlement. The strikes of a term are the rows [start, end) of `strike`. */
  readonly terms: readonly { readonly term: Term; readonly start: number; readonly end: number }[];
  readonly strike: Float64Array;
  /** Contracts outstanding. The call at the strike `strike[i]` has the index `2 * i`, and the put has the index `2 * i + 1`. */
  readonly openInterest: Float64Array;
  /** For each contract in the order of `openInterest`, the share of the open interest that is traded on the day in small trades. */
  readonly turnover: Float64Array;
  /** The prints of the day that are not canceled. `contract` is the index in the order of `openInterest`. */
  readonly prints: readonly { readonly contract: number; readonly at: number; readonly size: number }[];
}

/** The last listing is cached, so successive snapshots of one day use the same listing. */
let last: Listing | undefined;

function listingOn(instrument: Instrument, date: string): Listing {
  if (last?.instrument === instrument && last.date === date) return last;
  const reference = closeOn(instrument, previousTradingDay(date));
  const strikes: number[] = [];
  const terms = termsOn(instrument, date).map((term) => {
    const start = strikes.length;
    strikes.push(...listedStrikesOf(instrument, term, reference));
    return { term, start, end: strikes.length };
  });
  const openInterest = new Float64Array(2 * strikes.length);
  const turnover = new Float64Array(2 * strikes.length);
  const today = dateKey(date);
  const centre = instrument.sways ? swayCentre(instrument, date) : reference;
  for (const { term, start, end } of terms) {
    for (let i = 2 * start; i < 2 * end; i++) {
      const strike = strikes[i >> 1]!;
      const callPut = (i & 1) === 0 ? 1 : -1;
      openInterest[i] = openInterestOf(instrument, term, callPut, strike, centre);
      turnover[i] = turnoverOf(instrument, term, callPut, strike, today);
    }
    if (instrument.sways) {
      const balanced = openInterest.subarray(2 * start, 2 * end);
      balanceGamma(balanced, strikes.slice(start, end), instrument, term, centre, (openOf(date) + closeOf(date)) / 2);
    }
  }
  const prints = simulatedPrints(instrument, date).flatMap(({ canceled, expiry, strike, callPut, at, size }) => {
    const { start, end } = terms.find(({ term }) => term.expiry === expiry)!;
    const contract = 2 * (start + strikes.slice(start, end).indexOf(strike)) + (callPut === 1 ? 0 : 1);
    return canceled ? [] : [{ contract, at, size }];
  });
  last = { instrument, date, terms, strike: Float64Array.from(strikes), openInterest, turnover, prints };
  return last;
}

/**
 * Returns the open interest of a contract, constant over a day as on exchanges. Calls have most of it above the price, and puts below.
 * Round strikes and third Fridays have more, and each contract has a random factor.
 */
function openInterestOf(
  instrument: Instrument,
  term: Term,
  callPut: 1 | -1,
  strike: number,
  reference: number,
): number {
  const distance = (callPut * Math.log(strike / reference)) / term.width;
  const place = distance < 0 ? Math.exp(1.5 * distance) : Math.exp(-0.5 * (distance - 0.5) ** 2);
  const maturity = term.isMonthly ? 1 / (1 + term.days / 250) : 0.3 / (1 + term.days / 14);
  const liking = Math.exp(2.5 * (chanceOf(instrument, 3, term.settlesAt, callPut, strike) - 0.7));
  const puts = callPut === -1 ? 1 + Math.max(0, -instrument.skew) : 1;
  return Math.floor(instrument.depth * place * maturity * roundness(strike, reference) * puts * liking);
}

/**
 * Multiplies the open interest of the puts of a term by one factor, so that the gamma of calls and that of puts are equal at the spot
 * `centre`. The gamma flip is then near `centre`, whichever terms have settled. `openInterest` has the call and the put of each strike.
 */
function balanceGamma(
  openInterest: Float64Array,
  strikes: readonly number[],
  instrument: Instrument,
  term: Term,
  centre: number,
  atMs: number,
): void {
  const years = Math.max(SHORTEST_MS, term.settlesAt - atMs) / YEAR_MS;
  const strike = Float64Array.from(strikes);
  const iv = strike.map((each) => Math.log(each / centre) - (RATE - instrument.dividend) * years);
  smileVolatilities(simulatedSmileOf(instrument, atMs), iv, years);
  const tte = new Float64Array(strike.length).fill(years);
  const { dividend } = instrument;
  const { gamma } = callPutGreeks({ count: strike.length, spot: centre, strike, tte, iv, rate: RATE, dividend }).call;
  let [calls, puts] = [0, 0];
  for (const [row, each] of gamma.entries()) {
    calls += openInterest[2 * row]! * each;
    puts += openInterest[2 * row + 1]! * each;
  }
  for (let i = 1; i < openInterest.length; i += 2) openInterest[i] = Math.floor((openInterest[i]! * calls) / puts);
}

/** Returns the open-interest factor of a strike. The factor is larger for round strikes. The price determines which strikes are round. */
function roundness(strike: number, price: number): number {
  const unit = 10 ** Math.floor(Math.log10(price) - 1);
  if (Number.isInteger(strike / (10 * unit))) return 4;
  if (Number.isInteger(strike / (5 * unit))) return 2;
  return Number.isInteger(strike / unit) ? 0.8 : 0.35;
}

/** Returns the share of a contract's open interest that is traded on a day in small trades. The share is highest near the expiry. */
function turnoverOf(instrument: Instrument, term: Term, callPut: 1 | -1, strike: number, today: number): number {
  return chanceOf(instrument, today, term.settlesAt, callPut, strike) ** 3 * (0.1 + 3 / (1 + term.days));
}

/** Returns a random number in (0, 1) for a contract and a purpose. */
function chanceOf({ key }: Instrument, purpose: number, settlesAt: number, callPut: number, strike: number): number {
  return uniform(key, purpose, settlesAt / 60_000, callPut * Math.round(strike * 1000));
}
