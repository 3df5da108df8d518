import { Failure } from '../../errors.ts';
import { countAllocated } from '../../garbage.ts';
import { DAY_MS, newYorkDate, YEAR_MS } from '../../market/calendar.ts';
import type { Chain, Series } from '../../market/chain.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import { finish, StepCache, type Steps } from '../../steps.ts';
import { byContract } from './by-contract.ts';
import { seriesForward } from './forward.ts';
import { type AnalysisOptions, DEFAULT_SIGN, type ExpirySelection } from './options.ts';
import { ownVolatilities } from './own-volatility.ts';
import type { Pairs, PreparedChain, PreparedSeries } from './prepared-chain.ts';
import { TTE_FLOOR_MS } from './time.ts';
import { strikeVolatilities } from './volatility.ts';

/**
 * Makes a chain ready for analysis: drops what is settled, adjusted or not selected, finds a forward per series and a
 * volatility per contract, and counts where every contract went. Pure in (chain, options); results are cached by both.
 * Throws `Failure('no_chain')` where no live contract is left.
 */
export function prepareChain(chain: Chain, options: AnalysisOptions): PreparedChain {
  return finish(prepareInSteps(chain, options));
}

/** The same in steps. `tokens` is what an analysis that is not cached costs. */
export function prepareInSteps(chain: Chain, options: AnalysisOptions, tokens = 0): Steps<PreparedChain> {
  return cache.of(chain, JSON.stringify(options), {
    message: 'Reading the chain',
    tokens,
    steps: () => prepare(chain, options),
  });
}

/** Cached contracts of one chain: an index of 30,000 contracts may be read in six ways at a time, which take some 20 MB. */
const CACHED_CONTRACTS = 180_000;
const cache = new StepCache<Chain, PreparedChain>(({ count }) => Math.max(2, Math.min(8, CACHED_CONTRACTS / count)));

/** Columns of a prepared chain, and those that it is made of on the way, a contract. */
const ALLOCATED_BYTES = 250;

/** A chain with more contracts is prepared in several steps. */
const STEP_CONTRACTS = 20_000;

/** A series to be analysed, before its smile is known. */
type LiveSeries = Omit<PreparedSeries, 'smile'>;

function* prepare(chain: Chain, options: AnalysisOptions): Steps<PreparedChain> {
  const isLarge = chain.count > STEP_CONTRACTS;
  const { live, leftOut } = liveSeries(chain, options);
  if (isLarge) yield { message: 'Solving volatilities' };
  const count = live.at(-1)!.end;
  const column = (write: (column: Float64Array, its: LiveSeries) => void): Float64Array => {
    const written = new Float64Array(count);
    for (const its of live) write(written, its);
    return written;
  };
  // As a rule nothing is left out between the first and the last: then they are the chain's own columns.
  const from = live[0]!.series.start;
  const to = live.at(-1)!.series.end;
  const taken = (source: Float64Array): Float64Array =>
    to - from === count
      ? source.subarray(from, to)
      : column((into, { series, start }) => into.set(source.subarray(series.start, series.end), start));
  const seriesIndex = new Uint16Array(count);
  for (const [index, { start, end }] of live.entries()) seriesIndex.fill(index, start, end);
  const { iv, pairs, smiles, counts, staleQuotes } =
    options.iv === 'own' ? ownVolatilities(chain, live) : yield* strikeVolatilities(chain, live, isLarge);
  if (isLarge) yield { message: 'Computing gamma' };
  const weight = known(taken(options.weight === 'volume' ? chain.volume : chain.openInterest));
  const callPut = taken(chain.callPut);
  if (isLarge) countAllocated(ALLOCATED_BYTES * chain.count);
  const prepared: PreparedChain = {
    chain,
    options,
    series: live.map((each, index) => ({ ...each, smile: smiles[index]! })),
    count,
    row: rowsOf(live, count),
    seriesIndex,
    callPut,
    strike: taken(chain.strike),
    tte: column((into, { start, end, tte }) => into.fill(tte, start, end)),
    iv,
    rate: column((into, { start, end, rate }) => into.fill(rate, start, end)),
    dividend: column((into, { start, end, dividend }) => into.fill(dividend, start, end)),
    pairs,
    gamma: known(options.gamma === 'feed' ? taken(chain.gamma) : gammaOf(pairs, chain.spot)),
    weight,
    position: weight.map((contracts, at) => callPut[at]! * contracts),
    sign: DEFAULT_SIGN,
    multiplier: taken(chain.multiplier),
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

function rowsOf(live: readonly LiveSeries[], count: number): Uint32Array {
  const rows = new Uint32Array(count);
  for (const { series, start, end } of live) {
    const shift = series.start - start;
    for (let at = start; at < end; at++) rows[at] = at + shift;
  }
  return rows;
}

/** What is not given, or cannot be known, counts nothing. */
function known(column: Float64Array): Float64Array {
  const counted = new Float64Array(column.length);
  for (let at = 0; at < column.length; at++) if (column[at]! > 0) counted[at] = column[at]!;
  return counted;
}

/** By contract; `NaN` where there is no volatility. */
function gammaOf(pairs: Pairs, spot: number): Float64Array {
  // A put's is its call's.
  return byContract(pairs, oneGreek('gamma', { ...pairs, callPut: 1, spot }));
}

/** The series to analyse, each with its place and its forward; how many contracts the others have, by why they are left out. */
function liveSeries(chain: Chain, options: AnalysisOptions) {
  const leftOut = { settled: 0, adjusted: 0, other_expiry: 0 };
  const live: LiveSeries[] = [];
  let start = 0;
  for (const series of chain.series) {
    const contracts = series.end - series.start;
    const reason = whyNot(series, chain.asOf, options.expiries);
    if (reason) {
      leftOut[reason] += contracts;
      continue;
    }
    const end = start + contracts;
    const tte = Math.max(series.settlesAt - chain.asOf, TTE_FLOOR_MS) / YEAR_MS;
    const { forward, method: forwardMethod, rate } = seriesForward(chain, series, tte, options);
    const dividend = rate - Math.log(forward / chain.spot) / tte;
    live.push({ series, start, end, tte, forward, forwardMethod, rate, dividend });
    start = end;
  }
  if (live.length > 0) return { live, leftOut };
  throw new Failure('no_chain', `The chain of ${chain.underlying} has no unsettled contract to analyse`, {
    hint:
      options.expiries.kind === 'all'
        ? 'Every contract had settled when the snapshot was taken.'
        : 'No expiry of the snapshot matches the selection; try `all`.',
  });
}

function whyNot(
  series: Series,
  asOf: number,
  selection: ExpirySelection,
): 'settled' | 'adjusted' | 'other_expiry' | undefined {
  if (series.adjusted) return 'adjusted';
  if (asOf >= series.settlesAt) return 'settled';
  return isSelected(series, asOf, selection) ? undefined : 'other_expiry';
}

function isSelected(series: Series, asOf: number, selection: ExpirySelection): boolean {
  switch (selection.kind) {
    case 'all':
      return true;
    case '0dte':
      return series.expiry === newYorkDate(asOf);
    case 'date':
      return series.expiry === selection.date;
    case 'next':
      return series.settlesAt - asOf <= selection.days * DAY_MS;
  }
}
