import type { Levels, Strikes } from '../data/page-answers.ts';
import type { ChosenOptions } from './address.ts';

/** The figures of a ticker that the panel Explain knows. A strike of the ladder has an id of its own, such as `strike.637_5`. */
export type ExplainedFigure = keyof typeof EXPLANATIONS;

export interface Explanation {
  readonly unit: string;
  /** What the figure is. What follows "is" or "has" stands in docs/methods.md word for word. */
  readonly sentence: string;
  /** Empty: the figure is not computed. */
  readonly formula: string;
  /** The anchor of the section of docs/methods.md, and the words with which the item about the figure begins. */
  readonly section: string;
  readonly item: string;
  /** Whether the figure is a price of the underlying, an amount whose sign matters most, or given by the source. */
  readonly kind: 'price' | 'signed' | 'given';
  /** The column of the strikes whose change explains that of the figure. */
  readonly driver: Driver;
  /** The part of the answer of get_level_record that counts whether the level held. */
  readonly record: 'call_wall' | 'put_wall' | 'flip' | null;
}

export type Driver = 'net_gex' | 'call_gex' | 'put_gex' | 'open_interest';

const NODES = 'gex-nodes-get_live_gex_nodes-get-apiv1nodesgexticker';
const VIEWS = 'other-views-of-the-levels';
const GEX = 'sign · Γ · OI · multiplier · S² · 0.01';

export const EXPLANATIONS = {
  spot_price: {
    unit: 'dollars',
    sentence: 'Spot is the price of the underlying in the snapshot.',
    formula: '',
    section: 'conventions',
    item: 'Spot',
    kind: 'given',
    driver: 'net_gex',
    record: null,
  },
  call_wall: {
    unit: 'dollars',
    sentence:
      'The call wall is the strike at or above spot with the largest sum of gamma times open interest over its calls.',
    formula: 'the K ≥ S with the largest Σ Γ · OI over calls',
    section: NODES,
    item: 'call_wall',
    kind: 'price',
    driver: 'call_gex',
    record: 'call_wall',
  },
  gex_flip: {
    unit: 'dollars',
    sentence: 'The gamma flip is the spot at which net gamma changes sign.',
    formula: `Σ ${GEX.replace('Γ', 'Γ(S)')}\u00a0=\u00a00`,
    section: NODES,
    item: 'gex_flip',
    kind: 'price',
    driver: 'net_gex',
    record: 'flip',
  },
  put_wall: {
    unit: 'dollars',
    sentence:
      'The put wall is the strike at or below spot with the largest sum of gamma times open interest over its puts.',
    formula: 'the K ≤ S with the largest Σ Γ · OI over puts',
    section: NODES,
    item: 'call_wall',
    kind: 'price',
    driver: 'put_gex',
    record: 'put_wall',
  },
  max_pain: {
    unit: 'dollars',
    sentence:
      'Max pain is the strike at which the options of the dominant series pay out least in total, if each counts with its open interest and the price settles at the strike.',
    formula: 'the K with the least Σ OI · max(0, K − Kᵢ) over calls + Σ OI · max(0, Kᵢ − K) over puts',
    section: NODES,
    item: 'max_pain',
    kind: 'price',
    driver: 'open_interest',
    record: null,
  },
  net_gex: {
    unit: 'dollars per 1 % move',
    sentence: 'Net GEX is the sum of GEX over the contracts of all live expiries.',
    formula: `Σ ${GEX}`,
    section: NODES,
    item: 'GEX (gamma exposure)',
    kind: 'signed',
    driver: 'net_gex',
    record: null,
  },
  hedging: {
    unit: 'shares per 1 % move',
    sentence:
      'Hedging is the number of shares that dealers trade per 1 % move, which is net GEX divided by spot. It is positive if they trade against the move, and negative if they trade with it.',
    formula: `Σ ${GEX} / S`,
    section: VIEWS,
    item: 'hedging',
    kind: 'signed',
    driver: 'net_gex',
    record: null,
  },
  strike: {
    unit: 'dollars per 1 % move',
    sentence:
      'Net GEX of a strike is one of the sums of GEX, DEX, VEX and CEX at each strike over the selected series.',
    formula: `Σ ${GEX} over the contracts at the strike`,
    section: VIEWS,
    item: 'By strike (',
    kind: 'signed',
    driver: 'net_gex',
    record: null,
  },
} as const satisfies Readonly<Record<string, Explanation>>;

/** Returns the figure that an id names, and the strike if it is that of a row of the ladder. Returns undefined for an unknown id. */
export function figureOfId(id: string): { figure: ExplainedFigure; strike: number | null } | undefined {
  const strike = /^strike\.(\d+(?:_\d+)?)$/.exec(id)?.[1];
  if (strike) return { figure: 'strike', strike: Number(strike.replace('_', '.')) };
  return id !== 'strike' && Object.hasOwn(EXPLANATIONS, id)
    ? { figure: id as ExplainedFigure, strike: null }
    : undefined;
}

/** Returns what the options of the page change in the sentence and the formula of every figure. */
export function remarksOn({ weight, sign, gamma, iv, forward, expiries }: ChosenOptions): string[] {
  return [
    weight === 'volume' && 'OI is here the volume of the day, because the page weights contracts by volume.',
    sign === 'flow' &&
      "Dealers hold here the opposite of customers' net positions. The walls are the strikes at which dealers have the most gamma, long or short.",
    gamma === 'feed' && 'Γ is here the gamma of the feed, except in the flip.',
    iv === 'feed' && 'The volatility of the feed comes first if its price lies within the quote.',
    iv === 'own' && 'Each contract has its own volatility in the feed.',
    forward === 'flat' && 'Forwards are flat: spot, rate and dividend in place of put-call parity.',
    expiries !== undefined && `Only these expiries count: ${expiries}.`,
  ].filter((each) => each !== false);
}

/** The fields of the levels that figures are read from: those of the default answer of get_live_gex_nodes. */
export type LevelFields = Pick<
  Levels,
  'spot_price' | 'call_wall' | 'gex_flip' | 'put_wall' | 'max_pain' | 'net_gex_mil'
>;

/** Returns the value of a figure of the levels, in its unit. Null: the flip is not resolved. A strike has no value in the levels. */
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
 * Returns one daily deviation of spot, dollars, with the volatility and the expiry that it comes from: that of the series nearest 30 days.
 * Returns undefined if no series has a volatility at the money.
 */
export function dailyDeviation({ spot_price, series }: Pick<Levels, 'spot_price' | 'series'>) {
  let best: Levels['series'][number] | undefined;
  for (const each of series) {
    if (each.atm_iv === null) continue;
    if (!best || Math.abs(each.tte - MONTH) < Math.abs(best.tte - MONTH)) best = each;
  }
  if (!best) return undefined;
  return { dollars: (spot_price * best.atm_iv!) / Math.sqrt(DAYS_A_YEAR), iv: best.atm_iv!, expiry: best.expiry };
}

/** The figures of one row of the ladder. */
export interface StrikeRow {
  readonly calls: number;
  readonly puts: number;
  readonly net: number;
  readonly signMargin: number;
  /** Gross gamma of the strike, percent of that of all strikes. Null: there is no gamma. */
  readonly grossShare: number | null;
  readonly openInterest: readonly [calls: number, puts: number];
  readonly volume: readonly [calls: number, puts: number];
}

/** Returns the row of a strike. Returns undefined if the snapshot does not have the strike. */
export function strikeRow(strikes: Strikes, grossGexMil: number, strike: number): StrikeRow | undefined {
  const i = strikes.strike.indexOf(strike);
  if (i < 0) return undefined;
  const [calls, puts, net, signMargin] = [
    strikes.call_gex[i]!,
    strikes.put_gex[i]!,
    strikes.net_gex[i]!,
    strikes.sign_margin_pct[i]!,
  ];
  // The sign margin is 50 · |net| / gross, so gross follows from it unless calls and puts cancel out.
  const gross = signMargin > 0 ? (50 * Math.abs(net)) / signMargin : Math.abs(calls) + Math.abs(puts);
  return {
    calls,
    puts,
    net,
    signMargin,
    grossShare: grossGexMil > 0 ? gross / grossGexMil / 1e4 : null,
    openInterest: [strikes.call_open_interest[i]!, strikes.put_open_interest[i]!],
    volume: [strikes.call_volume[i]!, strikes.put_volume[i]!],
  };
}
