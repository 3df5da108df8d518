/** One reported option trade. */
export interface Print {
  /** The id is unique within the feed. A print counts once, however often it arrives. */
  readonly id: string;
  readonly underlying: string;
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** +1 call, -1 put. */
  readonly callPut: 1 | -1;
  readonly strike: number;
  /** Dollars per share. */
  readonly price: number;
  /** Contracts. */
  readonly size: number;
  /** Shares per contract. */
  readonly multiplier: number;
  /** The moment of the trade, ms since the epoch. */
  readonly at: number;
  /** The side of the quote at which the trade took place. Null if the feed does not have the side. */
  readonly side: 'ask' | 'bid' | 'mid' | null;
  /** The best bid and ask at the time of the trade, dollars per share. Null if the feed does not have the quote. */
  readonly bid: number | null;
  readonly ask: number | null;
  /** Delta of the contract at the time of the trade. Null if the feed does not have the delta. */
  readonly delta: number | null;
  /** Whether the trade is a leg of a spread. */
  readonly multiLeg: boolean;
  /** Whether the order went to several exchanges at the same time. */
  readonly sweep: boolean;
  /** Whether the price was negotiated: in a cross, on an exchange's floor or as a block. */
  readonly block: boolean;
  readonly canceled: boolean;
  readonly simulated: boolean;
}

/** Sums over all prints that have the same values in the fields from `root` to `deep`. */
export interface PrintSum {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly callPut: 1 | -1;
  /** The side of the quote: that of the feed, or else derived from the quote. `none` if the feed has neither. */
  readonly side: 'ask' | 'bid' | 'mid' | 'none';
  readonly multiLeg: boolean;
  /** Whether the contracts have an absolute delta above `OPINION_DELTA_MAX`. */
  readonly deep: boolean;
  readonly prints: number;
  readonly contracts: number;
  /** Dollars. */
  readonly premium: number;
}

/** Maximum absolute delta of a trade with an opinion about the price. Deeper trades are for dividends or financing. */
const OPINION_DELTA_MAX = 0.9;

/** Returns the premium of a print, dollars. */
export function premiumOf(print: Print): number {
  return print.price * print.size * print.multiplier;
}

/** Returns whether the absolute value of a delta is above `OPINION_DELTA_MAX`. */
export function isDeep(delta: number | null): boolean {
  return Math.abs(delta ?? 0) > OPINION_DELTA_MAX;
}

/** Returns the middle of the quote at the time of a print. Returns `undefined` if the quote is missing or its ask is not above its bid. */
export function middleOf({ bid, ask }: Print): number | undefined {
  return bid !== null && ask !== null && ask > bid ? (bid + ask) / 2 : undefined;
}

/** Two prices are equal if they differ by at most this share of the larger price. This share allows for rounding errors. */
const SAME = 1e-9;

/** Returns the direction of a price change: 1 up, -1 down, 0 unchanged. */
export function change(from: number, to: number): 1 | -1 | 0 {
  if (Math.abs(to - from) <= SAME * Math.max(from, to)) return 0;
  return to > from ? 1 : -1;
}

/** Returns the sums for a single print. */
export function sumOf(print: Print): PrintSum {
  const { root, expiry, callPut, multiLeg, delta, size } = print;
  return {
    ...{ root, expiry, callPut, side: sideOf(print), multiLeg, deep: isDeep(delta) },
    ...{ prints: 1, contracts: size, premium: premiumOf(print) },
  };
}

function sideOf(print: Print): PrintSum['side'] {
  if (print.side !== null) return print.side;
  const middle = middleOf(print);
  if (middle === undefined) return 'none';
  return ({ 1: 'ask', 0: 'mid', [-1]: 'bid' } as const)[change(middle, print.price)];
}

/** The official close of an underlying on one New York trading day. */
export interface Close {
  readonly ticker: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly close: number;
  /** The number of shares traded that day. Null if the feed does not have the number. */
  readonly volume: number | null;
  readonly simulated: boolean;
}
