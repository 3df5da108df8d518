import { ClientError } from '../../core/errors.ts';
import { countAllocated } from '../../core/garbage.ts';
import { byRange, StepCache, type Steps } from '../../core/steps.ts';
import { closeOf, DAY_MS, isTradingDay, newYorkDate, newYorkTime, sessionEnd, YEAR_MS } from '../../market/calendar.ts';
import { type Chain, hasOpenInterest, type Series, sideWithoutInterest } from '../../market/chain.ts';
import { nearestListed } from '../../market/nearest-expiries.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import { seriesForward } from './forward.ts';
import { type AnalysisOptions, DEFAULT_OPTIONS, DEFAULT_SIGN, type ExpirySelection } from './options.ts';
import { ownVolatilities } from './own-volatility.ts';
import { type Pairs, type PreparedChain, type PreparedSeries, slicePairs, TTE_FLOOR_MS } from './prepared-chain.ts';
import { bySeries, inOrderOfSettlement } from './rows.ts';
import { strikeVolatilities } from './volatility.ts';

/**
 * Prepares a chain for analysis, without contracts that are settled, adjusted or not selected. The result is cached by `chain` and `options`.
 * `tokens` is the rate-limit cost if it is not cached. Throws `ClientError` if no live contract is left (see `noLiveSeries`). The error says which
 * expiries have settled by the result of `nowMs`, ms since the epoch.
 */
export function prepareChain(
  chain: Chain,
  options: AnalysisOptions,
  tokens = 0,
  nowMs = () => chain.asOf,
): Steps<PreparedChain> {
  // The key does not depend on the order of the options, because routes and tools give the options in different orders.
  return cache.of(chain, JSON.stringify(OPTION_NAMES.map((name) => options[name])), {
    message: 'Reading the chain',
    tokens,
    steps: () => {
      if (options.ssr !== DEFAULT_OPTIONS.ssr) return withSmileDynamics(chain, options, nowMs);
      return options.weight === 'volume' ? weighedByVolume(chain, options, nowMs) : prepare(chain, options, nowMs);
    },
  });
}

/** Replaces the ratio of the smile dynamics, which does not change the columns. */
function* withSmileDynamics(chain: Chain, options: AnalysisOptions, nowMs: () => number): Steps<PreparedChain> {
  return { ...(yield* prepareChain(chain, { ...options, ssr: DEFAULT_OPTIONS.ssr }, 0, nowMs)), options };
}

/** Replaces the weights of the chain that is prepared with open interest. All other columns are shared. */
function* weighedByVolume(chain: Chain, options: AnalysisOptions, nowMs: () => number): Steps<PreparedChain> {
  const prepared = yield* prepareChain(chain, { ...options, weight: 'open_interest' }, 0, nowMs);
  const { row, callPut, count } = prepared;
  const volumes = chain.volume;
  const weight = new Float64Array(count);
  const position = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const volume = volumes[row[i]!]!;
    if (volume > 0) weight[i] = volume;
    position[i] = callPut[i]! * weight[i]!;
  }
  return { ...prepared, options, weight, position };
}

/** What decides whether a chain has levels. Without `counts`, volatilities do not count. */
type Weighed = Pick<PreparedChain, 'chain' | 'options' | 'sign'> & Partial<Pick<PreparedChain, 'counts' | 'gamma'>>;

/**
 * Throws `ClientError('no_chain')` if a chain has no open interest, unless its contracts are weighted by volume, or no volatility. All levels would
 * then be invented: exposures of 0, and walls and a flip at any strike. Customers' positions by prints are bounded by open interest, so they
 * need it too.
 */
export function requireWeights(weighed: Weighed): void {
  const missing = whyWithoutLevels(weighed);
  if (missing)
    throw new ClientError('no_chain', `The newest chain of ${weighed.chain.underlying} ${missing}`, {
      hint: WITHOUT_LEVELS,
    });
}

/** Returns why a chain has no levels with its options, or `undefined` if it has open interest, or volumes that give levels. */
export function whyWithoutLevels({ chain, options: { weight, iv }, sign, counts, gamma }: Weighed): string | undefined {
  if (hasOpenInterest(chain)) {
    const side = weight === 'open_interest' ? sideWithoutInterest(chain) : undefined;
    if (side) return `has no open interest of ${side}, so it has no walls and no flip`;
  } else if (!chain.volume.some((each) => each > 0))
    return 'has neither open interest nor volume, so it has no walls and no flip';
  else if (weight === 'open_interest') return 'has no open interest, so it has no walls and no flip';
  else if (sign === 'flow') return "has no open interest, which customers' positions by prints need";
  const isUnsolved = counts && counts.used >= UNSOLVED_MIN && counts.left_out.no_volatility === counts.used;
  if (!isUnsolved || gamma?.some((each) => each > 0)) return undefined;
  if (iv === 'own') return 'has no volatility of the feed, which iv=own needs, so it has no walls and no flip';
  const quoted = chain.bid.reduce((sum, bid, row) => sum + Number(bid > 0 && chain.ask[row]! >= bid), 0);
  return `has no volatility, so it has no walls and no flip: only ${quoted} of ${chain.count} contracts have a usable bid and ask`;
}

/** Fewer contracts may be all that a ticker has, so their open interest is shown without volatilities. */
const UNSOLVED_MIN = 20;
const WITHOUT_LEVELS =
  'Levels need quotes and open interest. Where weight is an argument, weight=volume weighs contracts by their volume of the day. Surface, quotes and Greeks need no open interest.';

const OPTION_NAMES = Object.keys(DEFAULT_OPTIONS) as (keyof AnalysisOptions)[];

/**
 * Returns the selected series of a prepared chain, in order of settlement. Throws `ClientError` if no series is selected (see `noLiveSeries`). The
 * error says which expiries have settled by the result of `nowMs`, ms since the epoch.
 */
export function selectSeries(
  { chain, series }: PreparedChain,
  selection: ExpirySelection,
  nowMs: () => number,
): PreparedSeries[] {
  const selected = series.filter((each) => isSelected(each.series, chain.asOf, selection));
  if (selected.length === 0) throw noLiveSeries(chain, selection, nowMs);
  return inOrderOfSettlement(selected);
}

/**
 * The maximum number of contracts in all cached results of one chain together. For an index with 30,000 contracts, the cache holds results
 * for six sets of options, which take about 20 MB.
 */
const CACHED_CONTRACTS = 180_000;
const cache = new StepCache<Chain, PreparedChain>(({ count }) => Math.max(2, Math.min(8, CACHED_CONTRACTS / count)));

/** Allocated bytes per contract, for the prepared columns and the intermediate columns. */
const ALLOCATED_BYTES = 250;

/** The largest number of contracts in a chain that one step prepares. */
const STEP_CONTRACTS = 20_000;
/** The number of pairs whose gamma one step computes. */
const STEP_PAIRS = 32_768;

/** A series to analyse, before its smile is known. */
type LiveSeries = Omit<PreparedSeries, 'smile'>;

function* prepare(chain: Chain, options: AnalysisOptions, nowMs: () => number): Steps<PreparedChain> {
  const isLarge = chain.count > STEP_CONTRACTS;
  const { live, leftOut } = yield* liveSeries(chain, options, nowMs);
  if (isLarge) yield { message: 'Solving volatilities' };
  const { iv, pairs, smiles, counts, staleQuotes } = yield* options.iv === 'own'
    ? ownVolatilities(chain, live)
    : strikeVolatilities(chain, live, options.iv === 'feed' ? 'feed' : 'mid');
  if (isLarge) yield { message: 'Computing gamma' };
  const count = live.at(-1)!.end;
  // Usually, all series between the first and the last live series are live. If the live series have no gap between them, the columns are
  // views of the chain's own columns.
  const from = live[0]!.series.start;
  const to = live.at(-1)!.series.end;
  const liveRows = (source: Float64Array): Float64Array => {
    if (to - from === count) return source.subarray(from, to);
    const column = new Float64Array(count);
    for (const { series, start } of live) column.set(source.subarray(series.start, series.end), start);
    return column;
  };
  const gamma = new Float64Array(count);
  if (options.gamma === 'feed') copyPositive(liveRows(chain.gamma), gamma, 0, count);
  else yield* computeGamma(pairs, chain.spot, gamma);
  if (isLarge) yield { message: 'Filling columns' };
  const callPut = liveRows(chain.callPut);
  const counted = liveRows(chain.openInterest);
  const columns = {
    row: new Uint32Array(count),
    seriesIndex: new Uint16Array(count),
    tte: new Float64Array(count),
    rate: new Float64Array(count),
    dividend: new Float64Array(count),
    weight: new Float64Array(count),
    position: new Float64Array(count),
  };
  yield* bySeries(live, 'Filling columns', ({ series, start, end, tte, rate, dividend }, index) => {
    const { row, weight, position } = columns;
    columns.seriesIndex.fill(index, start, end);
    columns.tte.fill(tte, start, end);
    columns.rate.fill(rate, start, end);
    columns.dividend.fill(dividend, start, end);
    copyPositive(counted, weight, start, end);
    const shift = series.start - start;
    for (let i = start; i < end; i++) {
      row[i] = i + shift;
      position[i] = callPut[i]! * weight[i]!;
    }
  });
  if (isLarge) countAllocated(ALLOCATED_BYTES * chain.count);
  const prepared: PreparedChain = {
    chain,
    options,
    series: live.map((each, index) => ({ ...each, smile: smiles[index]! })),
    count,
    ...columns,
    callPut,
    strike: liveRows(chain.strike),
    iv,
    pairs,
    gamma,
    sign: DEFAULT_SIGN,
    multiplier: liveRows(chain.multiplier),
    counts: {
      contracts: chain.count,
      used: count,
      left_out: {
        ...leftOut,
        no_volatility: count - counts.taken - counts.solved - counts.interpolated - counts.extended,
      },
      iv: counts,
      stale_quotes: staleQuotes,
      refused: chain.refused,
    },
  };
  if (isLarge) yield { message: 'Chain prepared' };
  return prepared;
}

/** Copies positive values. Rows without a positive value stay 0. */
function copyPositive(column: Float64Array, into: Float64Array, from: number, to: number): void {
  for (let i = from; i < to; i++) if (column[i]! > 0) into[i] = column[i]!;
}

/** Computes each contract's gamma. The gamma of a contract without a volatility stays 0. */
function* computeGamma(pairs: Pairs, spot: number, gamma: Float64Array): Steps<void> {
  const { contracts } = pairs;
  yield* byRange(pairs.count, STEP_PAIRS, 'Computing gamma', (from, to) => {
    // A put has the same gamma as its call.
    const gammaOfPairs = oneGreek('gamma', { ...slicePairs(pairs, from, to), callPut: 1, spot });
    for (let pair = from; pair < to; pair++) {
      const pairGamma = gammaOfPairs[pair - from]!;
      if (!(pairGamma > 0)) continue;
      for (let i = contracts[pair]!; i < contracts[pair + 1]!; i++) gamma[i] = pairGamma;
    }
  });
}

/** Returns the series to analyse, each with its rows and its forward. Also counts the contracts of the left-out series, by reason. */
function* liveSeries(chain: Chain, options: AnalysisOptions, nowMs: () => number) {
  const leftOut = { settled: 0, adjusted: 0, other_expiry: 0 };
  const live: LiveSeries[] = [];
  let start = 0;
  yield* bySeries(chain.series, 'Finding forwards', (series) => {
    const contracts = series.end - series.start;
    const reason = exclusionReason(series, chain.asOf, options.expiries);
    if (reason) {
      leftOut[reason] += contracts;
      return;
    }
    const end = start + contracts;
    const tte = Math.max(series.settlesAt - chain.asOf, TTE_FLOOR_MS) / YEAR_MS;
    const { forward, method: forwardMethod, rate } = seriesForward(chain, series, tte, options);
    const dividend = rate - Math.log(forward / chain.spot) / tte;
    live.push({ series, start, end, tte, forward, forwardMethod, rate, dividend });
    start = end;
  });
  if (live.length > 0) return { live, leftOut };
  throw noLiveSeries(chain, options.expiries, nowMs);
}

/**
 * Returns the selected series of a chain that are neither settled nor adjusted. Throws `ClientError` if there is none (see `noLiveSeries`). The error
 * says which expiries have settled by the result of `nowMs`, ms since the epoch.
 */
export function selectedSeries(chain: Chain, selection: ExpirySelection, nowMs: () => number): Series[] {
  const selected = chain.series.filter((each) => !exclusionReason(each, chain.asOf, selection));
  if (selected.length === 0) throw noLiveSeries(chain, selection, nowMs);
  return selected;
}

/**
 * Returns the error for a selection without a live series: `unknown_expiry` with the nearest live expiries, or `no_chain` if the chain has
 * no live series at all.
 */
function noLiveSeries(chain: Chain, selection: ExpirySelection, nowMs: () => number): ClientError {
  const { underlying, asOf, series } = chain;
  const of = `the snapshot of ${underlying} as of ${new Date(asOf).toISOString()}`;
  const live = series.filter((each) => !exclusionReason(each, asOf, { kind: 'all' }));
  if (live.length === 0) {
    return new ClientError('no_chain', `Every contract of ${of} has settled or is adjusted`, {
      hint: 'Wait for a newer snapshot.',
    });
  }
  const today = newYorkDate(asOf);
  const date = selection.kind === 'date' ? selection.date : today;
  const message =
    selection.kind === 'next'
      ? `No contract of ${underlying} settles within ${selection.days} days of ${of}`
      : selection.kind === 'session'
        ? `No contract of ${underlying} settles in the session after ${of}, which ends at ${minuteOf(sessionEnd(asOf))} New York`
        : whyNotLive(chain, date, of);
  return new ClientError('unknown_expiry', message, { hint: nearestListed(live, date, today, nowMs()) });
}

/** Returns why no live contract expires on a date. A feed may stop listing contracts that have settled. */
function whyNotLive({ asOf, series }: Chain, date: string, of: string): string {
  const settled = series.find(({ expiry, adjusted }) => expiry === date && !adjusted);
  if (settled) return `The expiry ${date} had settled before ${of}, at ${minuteOf(settled.settlesAt)} New York`;
  const unlisted = `${date} is not a listed expiry in ${of}`;
  if (!isTradingDay(date)) return `${unlisted}: the exchange is closed on that day`;
  const closesAt = closeOf(date);
  return asOf < closesAt ? unlisted : `${unlisted}: options of that day had settled by ${minuteOf(closesAt)} New York`;
}

function minuteOf(ms: number): string {
  return newYorkTime(ms).slice(0, 16).replace('T', ' ');
}

function exclusionReason(
  series: Series,
  asOf: number,
  selection: ExpirySelection,
): 'settled' | 'adjusted' | 'other_expiry' | undefined {
  if (series.adjusted) return 'adjusted';
  if (asOf >= series.settlesAt) return 'settled';
  return isSelected(series, asOf, selection) ? undefined : 'other_expiry';
}

/** Returns whether a selection includes a series. The selection counts its days from the moment `asOf`, ms since the epoch. */
export function isSelected(series: Series, asOf: number, selection: ExpirySelection): boolean {
  switch (selection.kind) {
    case 'all':
      return true;
    case '0dte':
      return series.expiry === newYorkDate(asOf);
    case 'date':
      return series.expiry === selection.date;
    case 'session':
      return series.settlesAt <= sessionEnd(asOf);
    case 'next':
      return series.settlesAt - asOf <= selection.days * DAY_MS;
  }
}
