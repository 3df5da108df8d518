import { minIndex } from 'd3-array';
import { EXPLANATIONS, type ExplainedFigure } from '../data/figure-texts.ts';
import type { Levels, Strikes } from '../data/page-answers.ts';
import type { Call } from '../operations.ts';
import { expiriesText, SCOPE_WORDS } from '../state/scope-words.ts';

/** Returns the figure with the given id. For a row of the ladder, also returns the strike. Undefined if the id is unknown. */
export function figureOfId(id: string): { figure: ExplainedFigure; strike: number | null } | undefined {
  const strike = /^strike\.(\d+(?:_\d+)?)$/.exec(id)?.[1];
  if (strike) return { figure: 'strike', strike: Number(strike.replace('_', '.')) };
  return id !== 'strike' && Object.hasOwn(EXPLANATIONS, id)
    ? { figure: id as ExplainedFigure, strike: null }
    : undefined;
}

/** Returns a remark for each option that changes the sentences and formulas of the figures. The texts come from `remarks`. */
export function remarksOn(remarks: Readonly<Record<string, string>>, options: Call['args']): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (name === 'expiries')
      return value === 'all' ? [] : [`${remarks.expiries}${expiriesText(String(value), Date.now())}.`];
    if (name === 'smile_dynamics')
      return remarks[name]!.replace('…', () => SCOPE_WORDS[name].values[value as never] ?? String(value));
    return remarks[`${name}=${value}`] ?? [];
  });
}

/** The fields from which the page reads the figures. The default answer of `get_live_gex_nodes` contains these fields. */
export type LevelFields = Pick<
  Levels,
  'spot_price' | 'call_wall' | 'gex_flip' | 'put_wall' | 'max_pain' | 'net_gex_mil'
>;

/** Returns the value of a figure from the levels, in its unit. Returns null for an unresolved flip, and for the figures of a strike. */
export function figureValue(figure: ExplainedFigure, levels: LevelFields, isFlipResolved: boolean): number | null {
  switch (figure) {
    case 'net_gex':
      return levels.net_gex_mil * 1e6;
    case 'hedging':
      return (levels.net_gex_mil * 1e6) / levels.spot_price;
    case 'gex_flip':
      return isFlipResolved ? levels.gex_flip : null;
    case 'strike':
      return null;
    default:
      return levels[figure];
  }
}

const DAYS_A_YEAR = 252;
const MONTH = 30 / 365.25;

/**
 * Returns the standard deviation of spot over one day, in dollars. The volatility is from the series whose expiry is closest to 30 days.
 * Returns `undefined` if no series has an at-the-money volatility.
 */
export function dailyDeviation({ spot_price, series }: Pick<Levels, 'spot_price' | 'series'>) {
  const known = series.filter(({ atm_iv }) => atm_iv !== null);
  const best = known[minIndex(known, ({ tte }) => Math.abs(tte - MONTH))];
  if (!best) return undefined;
  return { dollars: (spot_price * best.atm_iv!) / Math.sqrt(DAYS_A_YEAR), iv: best.atm_iv!, expiry: best.expiry };
}

/**
 * Returns the figures of a strike in the ladder. `grossShare` is its gross gamma as a percentage of that of all strikes, or null if the chain
 * has no gamma. Returns `undefined` if the snapshot does not contain the strike.
 */
export function strikeRow(strikes: Strikes, grossGexMil: number, strike: number) {
  const i = strikes.strike.indexOf(strike);
  if (i < 0) return undefined;
  const [calls, puts, net, signMargin] = [
    strikes.call_gex[i]!,
    strikes.put_gex[i]!,
    strikes.net_gex[i]!,
    strikes.sign_margin_pct[i]!,
  ];
  // The sign margin is `50 · |net| / gross`, so gross is `50 · |net| / margin`. A margin of 0 means that calls and puts cancel out.
  const gross = signMargin > 0 ? (50 * Math.abs(net)) / signMargin : Math.abs(calls) + Math.abs(puts);
  return {
    calls,
    puts,
    net,
    signMargin,
    grossShare: grossGexMil > 0 ? gross / grossGexMil / 1e4 : null,
    openInterest: [strikes.call_open_interest[i]!, strikes.put_open_interest[i]!] as const,
    volume: [strikes.call_volume[i]!, strikes.put_volume[i]!] as const,
  };
}
