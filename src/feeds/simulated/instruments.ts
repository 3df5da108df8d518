import { INDEX_FUNDS } from '../../market/index-funds.ts';
import { rootOfTicker } from '../../market/option-symbol.ts';
import type { SimClock } from '../../market/simulated-past.ts';
import type { Universe } from '../../market/universe.ts';
import { hash, textKey, uniform } from './random.ts';

/** One simulated underlying. The values of the instruments are plausible, but they are not market data. */
export interface Instrument extends Character {
  readonly ticker: string;
  /** The root of the options, and of an index that of the options which expire on third Fridays. */
  readonly root: string;
  /** The root of an index's other options, which settle in the afternoon. Equal to `root` for any other instrument. */
  readonly otherRoot: string;
  /** The key for this instrument's random numbers. */
  readonly key: number;
  /** The key for the random numbers of the instrument's price. An index and the fund that tracks the index have the same price path. */
  readonly pathKey: number;
  /** The key for the random numbers of the instrument's sector. */
  readonly sectorKey: number;
  /** The key for the random numbers of the market. */
  readonly marketKey: number;
  /** The price around which the simulated price varies, dollars. */
  readonly basePrice: number;
  /** Usual at-the-money implied volatility, a decimal per year. */
  readonly baseIv: number;
  /** Open interest at a strike with much trading, contracts. */
  readonly depth: number;
  readonly cadence: Cadence;
  /** True if the underlying is an exchange-traded fund. False if the underlying is a company's share or an index. */
  readonly isFund: boolean;
  readonly clock: SimClock;
  /** True if the price sways about the gamma flip: that of indices and of funds on them, with the clock `always`. */
  readonly sways: boolean;
}

/** The frequency of the listed expiries: every day, every week, or only third Fridays. */
export type Cadence = 'daily' | 'weekly' | 'monthly';

interface Character {
  /** Weight of the market's random numbers in the returns. The squared weights of market, sector and instrument add up to 1. */
  readonly marketLoading: number;
  /** Weight of the sector's random numbers in the returns. Those of market and sector give the weight of the instrument's own. */
  readonly sectorLoading: number;
  /** The parameter rho of the SSVI volatility surface. The parameter is negative if puts are more expensive than calls. */
  readonly skew: number;
  /** Continuous dividend yield, a decimal per year. */
  readonly dividend: number;
}

export interface SimulationOptions {
  /** Any whole number. Two feeds with the same options and time give the same market. */
  readonly seed: number;
  readonly universe: Universe;
  readonly clock: SimClock;
}

/** Creates the instruments of `simulatedTickers`. Calls with the same options return the same instruments. */
export function instrumentsOf({ seed, universe, clock }: SimulationOptions): Instrument[] {
  const chance = hash(seed % 2 ** 32, Math.floor(seed / 2 ** 32));
  return simulatedTickers(universe).map((ticker) => {
    const key = hash(chance, textKey(ticker));
    const { kind, ...profile } = PROFILES[ticker] ?? defaultProfile(key);
    const root = rootOfTicker(ticker);
    return {
      ticker,
      root,
      otherRoot: OTHER_ROOTS[ticker] ?? root,
      key,
      pathKey: hash(chance, textKey(INDEX_FUNDS[ticker]?.fund ?? ticker)),
      sectorKey: hash(chance, textKey(universe.proxies.get(ticker) ?? ticker), 1),
      marketKey: hash(chance, 0),
      ...profile,
      isFund: kind !== 'stock' && kind !== 'meme' && !(ticker in OTHER_ROOTS),
      clock,
      sways: clock === 'always' && kind === 'index',
      ...CHARACTERS[kind],
    };
  });
}

/** Returns the tickers of the simulated market: those of the universe, then SPX and NDX if the universe has the funds that track them. */
export function simulatedTickers({ tickers }: Universe): string[] {
  const indices = Object.keys(OTHER_ROOTS).filter((index) => tickers.has(INDEX_FUNDS[index]!.fund));
  return [...new Set([...tickers, ...indices])];
}

/** The simulated indices, and the roots of their options that do not expire on third Fridays. */
const OTHER_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP' };

type Kind = 'index' | 'sector' | 'stock' | 'meme' | 'bond' | 'commodity' | 'volatility';
type Profile = Pick<Instrument, 'basePrice' | 'baseIv' | 'depth' | 'cadence'> & { readonly kind: Kind };

const CHARACTERS: Readonly<Record<Kind, Character>> = {
  index: { marketLoading: 0.95, sectorLoading: 0, skew: -0.7, dividend: 0.012 },
  sector: { marketLoading: 0.7, sectorLoading: 0.65, skew: -0.5, dividend: 0.012 },
  stock: { marketLoading: 0.5, sectorLoading: 0.55, skew: -0.35, dividend: 0.006 },
  meme: { marketLoading: 0.35, sectorLoading: 0.3, skew: 0.05, dividend: 0 },
  bond: { marketLoading: 0.1, sectorLoading: 0, skew: -0.2, dividend: 0.04 },
  commodity: { marketLoading: 0.15, sectorLoading: 0, skew: 0.1, dividend: 0 },
  volatility: { marketLoading: -0.8, sectorLoading: 0, skew: 0.6, dividend: 0 },
};

/** Returns the profile of a ticker that is missing in PROFILES. Only an operator's universe can contain a ticker without a profile. */
function defaultProfile(key: number): Profile {
  const basePrice = Math.round(20 * Math.exp(2.5 * uniform(key, 10)));
  const baseIv = 0.2 + 0.4 * uniform(key, 11);
  return { basePrice, baseIv, depth: 1_000, cadence: 'weekly', kind: 'stock' };
}

function profile(basePrice: number, baseIv: number, depth: number, cadence: Cadence, kind: Kind): Profile {
  return { basePrice, baseIv, depth, cadence, kind };
}

const PROFILES: Readonly<Record<string, Profile>> = {
  SPX: profile(6_600, 0.15, 3_500, 'daily', 'index'),
  NDX: profile(24_000, 0.19, 300, 'daily', 'index'),
  SPY: profile(660, 0.15, 14_000, 'daily', 'index'),
  QQQ: profile(600, 0.19, 9_000, 'daily', 'index'),
  IWM: profile(240, 0.21, 9_000, 'daily', 'index'),
  DIA: profile(465, 0.14, 1_200, 'weekly', 'index'),
  SMH: profile(330, 0.32, 1_500, 'weekly', 'sector'),
  XLF: profile(54, 0.17, 12_000, 'weekly', 'sector'),
  VXX: profile(35, 0.65, 5_000, 'weekly', 'volatility'),
  NVDA: profile(185, 0.4, 16_000, 'weekly', 'stock'),
  MSFT: profile(510, 0.23, 3_500, 'weekly', 'stock'),
  AAPL: profile(255, 0.26, 8_000, 'weekly', 'stock'),
  GOOGL: profile(245, 0.3, 5_000, 'weekly', 'stock'),
  AMZN: profile(225, 0.31, 6_500, 'weekly', 'stock'),
  META: profile(720, 0.3, 1_500, 'weekly', 'stock'),
  AVGO: profile(340, 0.42, 2_500, 'weekly', 'stock'),
  ORCL: profile(280, 0.45, 2_500, 'weekly', 'stock'),
  TSM: profile(280, 0.36, 2_500, 'weekly', 'stock'),
  TLT: profile(89, 0.12, 15_000, 'weekly', 'bond'),
  HYG: profile(81, 0.07, 15_000, 'weekly', 'bond'),
  UUP: profile(28, 0.08, 3_000, 'monthly', 'bond'),
  FXI: profile(40, 0.27, 12_000, 'weekly', 'sector'),
  EEM: profile(53, 0.18, 12_000, 'weekly', 'sector'),
  JPM: profile(310, 0.23, 2_000, 'weekly', 'stock'),
  GS: profile(780, 0.27, 500, 'weekly', 'stock'),
  XLE: profile(89, 0.22, 5_000, 'weekly', 'sector'),
  USO: profile(74, 0.34, 4_000, 'weekly', 'commodity'),
  GLD: profile(360, 0.18, 5_000, 'weekly', 'commodity'),
  SLV: profile(43, 0.32, 9_000, 'weekly', 'commodity'),
  XOM: profile(114, 0.23, 4_500, 'weekly', 'stock'),
  FCX: profile(40, 0.4, 5_000, 'weekly', 'stock'),
  GDX: profile(74, 0.38, 5_000, 'weekly', 'sector'),
  RIVN: profile(14, 0.65, 7_000, 'weekly', 'meme'),
  LCID: profile(22, 0.75, 4_000, 'weekly', 'meme'),
  PLUG: profile(2.5, 1.05, 12_000, 'weekly', 'meme'),
  NIO: profile(7, 0.6, 12_000, 'weekly', 'meme'),
  SNAP: profile(8, 0.6, 8_000, 'weekly', 'stock'),
  CHPT: profile(11, 0.85, 800, 'monthly', 'meme'),
  INTC: profile(33, 0.5, 12_000, 'weekly', 'stock'),
  BA: profile(218, 0.31, 2_500, 'weekly', 'stock'),
  PYPL: profile(69, 0.36, 5_000, 'weekly', 'stock'),
  DIS: profile(113, 0.26, 4_000, 'weekly', 'stock'),
  WBD: profile(19, 0.48, 8_000, 'weekly', 'stock'),
  PFE: profile(25, 0.26, 12_000, 'weekly', 'stock'),
  SOFI: profile(27, 0.6, 10_000, 'weekly', 'stock'),
  HOOD: profile(130, 0.62, 5_000, 'weekly', 'stock'),
  AFRM: profile(75, 0.65, 2_500, 'weekly', 'stock'),
  UPST: profile(55, 0.78, 2_000, 'weekly', 'stock'),
  COIN: profile(340, 0.6, 2_000, 'weekly', 'stock'),
  TSLA: profile(430, 0.52, 9_000, 'weekly', 'stock'),
  PLTR: profile(180, 0.55, 9_000, 'weekly', 'stock'),
  MSTR: profile(320, 0.62, 3_500, 'weekly', 'stock'),
  GME: profile(26, 0.5, 7_000, 'weekly', 'meme'),
  AMC: profile(3, 0.8, 12_000, 'weekly', 'meme'),
  SMCI: profile(46, 0.65, 6_000, 'weekly', 'stock'),
  'BRK.B': profile(495, 0.16, 900, 'weekly', 'stock'),
  JNJ: profile(180, 0.18, 2_500, 'weekly', 'stock'),
  KO: profile(67, 0.16, 5_000, 'weekly', 'stock'),
  PG: profile(153, 0.18, 2_500, 'weekly', 'stock'),
  WMT: profile(103, 0.21, 4_500, 'weekly', 'stock'),
  COST: profile(920, 0.21, 500, 'weekly', 'stock'),
};
