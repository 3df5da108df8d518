import { Failure } from '../errors.ts';
import { DAY_MS, newYorkDate, YEAR_MS } from '../market/calendar.ts';
import type { Chain, Series } from '../market/chain.ts';
import { greeks } from '../math/black-scholes.ts';
import { seriesForward } from './forward.ts';
import type { AnalysisOptions, ExpirySelection } from './options.ts';
import type { ForwardMethod, PreparedChain, PreparedSeries } from './prepared-chain.ts';
import { TTE_FLOOR_MS } from './time.ts';
import { type SeriesInput, volatilities } from './volatility.ts';

/**
 * Makes a chain ready for analysis: drops what is settled, adjusted or not selected, finds a forward per series and a
 * volatility per contract, and counts where every contract went. Pure in (chain, options); results are cached by both.
 * Throws `Failure('no_chain')` where no live contract is left.
 */
export function prepareChain(chain: Chain, options: AnalysisOptions): PreparedChain {
  const key = JSON.stringify(options);
  const cached = cache.get(chain) ?? new Map<string, PreparedChain>();
  cache.set(chain, cached);
  let prepared = cached.get(key);
  if (!prepared) {
    prepared = prepare(chain, options);
    // One entry is the service's default; a caller that tries many options does not keep them all.
    if (cached.size >= 4) cached.clear();
    cached.set(key, prepared);
  }
  return prepared;
}

const cache = new WeakMap<Chain, Map<string, PreparedChain>>();

function prepare(chain: Chain, options: AnalysisOptions): PreparedChain {
  const leftOut = { settled: 0, adjusted: 0, other_expiry: 0 };
  const live: (SeriesInput & { method: ForwardMethod })[] = [];
  for (const series of chain.series) {
    const reason = whyNot(series, chain.asOf, options.expiries);
    if (reason) {
      leftOut[reason] += series.end - series.start;
      continue;
    }
    const tte = Math.max(series.settlesAt - chain.asOf, TTE_FLOOR_MS) / YEAR_MS;
    const forward = seriesForward(chain, series, tte, options);
    const dividend = forward.rate - Math.log(forward.forward / chain.spot) / tte;
    live.push({ series, tte, forward: forward.forward, method: forward.method, rate: forward.rate, dividend });
  }
  if (live.length === 0) {
    throw new Failure('no_chain', `The chain of ${chain.underlying} has no unsettled contract to analyse`, {
      hint:
        options.expiries.kind === 'all'
          ? 'Every contract had settled when the snapshot was taken.'
          : 'No expiry of the snapshot matches the selection; try `all`.',
    });
  }

  const count = live.reduce((sum, { series }) => sum + series.end - series.start, 0);
  const row = new Uint32Array(count);
  const seriesIndex = new Uint16Array(count);
  const column = () => new Float64Array(count);
  const tte = column();
  const rate = column();
  const dividend = column();
  let at = 0;
  live.forEach(({ series, ...each }, index) => {
    for (let source = series.start; source < series.end; source++, at++) {
      row[at] = source;
      seriesIndex[at] = index;
      tte[at] = each.tte;
      rate[at] = each.rate;
      dividend[at] = each.dividend;
    }
  });
  const taken = (source: Float64Array) => column().map((_, index) => source[row[index]!]!);
  const callPut = taken(chain.callPut);
  const strike = taken(chain.strike);
  const { iv, smiles, counts, staleQuotes } = volatilities(chain, live, options);
  const weight = taken(options.weight === 'volume' ? chain.volume : chain.openInterest).map((each) => each || 0);
  const gamma =
    options.gamma === 'feed'
      ? taken(chain.gamma)
      : greeks({ count, callPut, spot: chain.spot, strike, tte, iv: iv.map((each) => each || 0), rate, dividend })
          .gamma;
  let noVolatility = 0;
  for (let index = 0; index < count; index++) {
    const known = !Number.isNaN(iv[index]!);
    if (!known) noVolatility++;
    if (Number.isNaN(gamma[index]!) || (options.gamma === 'recomputed' && !known)) gamma[index] = 0;
  }

  let start = 0;
  const series: PreparedSeries[] = live.map((each, index) => {
    const end = start + each.series.end - each.series.start;
    const preparedSeries = {
      series: each.series,
      start,
      end,
      tte: each.tte,
      forward: each.forward,
      forwardMethod: each.method,
      rate: each.rate,
      dividend: each.dividend,
      smile: smiles[index]!,
    };
    start = end;
    return preparedSeries;
  });
  return {
    chain,
    options,
    series,
    count,
    row,
    seriesIndex,
    callPut,
    strike,
    tte,
    iv,
    rate,
    dividend,
    gamma,
    weight,
    multiplier: taken(chain.multiplier),
    counts: {
      contracts: chain.count,
      used: count,
      left_out: { ...leftOut, no_volatility: noVolatility },
      iv: counts,
      stale_quotes: staleQuotes,
      refused: chain.refused,
    },
  };
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
