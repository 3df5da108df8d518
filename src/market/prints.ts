/** One reported option trade. */
export interface Print {
  /** Unique within its feed. A print counts once, however often it arrives. */
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
  /** ms since the epoch */
  readonly at: number;
  /** The side of the quote at which it traded. Null if the feed does not say. */
  readonly side: 'ask' | 'bid' | 'mid' | null;
  /** Best quote at the time of the trade, dollars per share. Null if the feed does not give it. */
  readonly bid: number | null;
  readonly ask: number | null;
  /** Delta of the contract at the time of the trade. Null if the feed does not give it. */
  readonly delta: number | null;
  /** Whether it is a leg of a spread. */
  readonly multiLeg: boolean;
  /** Whether the order went to several exchanges at once, to take the quotes that each of them showed. */
  readonly sweep: boolean;
  /** Whether it was agreed away from the quotes: crossed, on an exchange's floor or as a block. */
  readonly block: boolean;
  readonly canceled: boolean;
  readonly simulated: boolean;
}

/** Sums of the prints of one series, side and kind. */
export interface PrintSum {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly callPut: 1 | -1;
  /** Where the prints traded: as the feed says, else by the quote at the time of the trade. `none` if neither is known. */
  readonly side: 'ask' | 'bid' | 'mid' | 'none';
  readonly multiLeg: boolean;
  /** Whether the contracts have an absolute delta above `OPINION_DELTA_MAX`. */
  readonly deep: boolean;
  readonly prints: number;
  readonly contracts: number;
  /** Dollars. */
  readonly premium: number;
}

/** Trades of contracts with a larger absolute delta are dividend and financing trades, not opinion. An unknown delta counts as opinion. */
const OPINION_DELTA_MAX = 0.9;

/** Premium of a print, dollars. */
export function premiumOf(print: Print): number {
  return print.price * print.size * print.multiplier;
}

export function isDeep(delta: number | null): boolean {
  return Math.abs(delta ?? 0) > OPINION_DELTA_MAX;
}

/** Middle of the quote at the time of a print. Returns `undefined` if the quote is missing, or its ask is not above its bid. */
export function middleOf({ bid, ask }: Print): number | undefined {
  return bid !== null && ask !== null && ask > bid ? (bid + ask) / 2 : undefined;
}

/** Two prices are the same if they differ by no more than a double's rounding, relative to the larger. */
const SAME = 1e-9;

/** The direction of a price change: 1 up, -1 down, 0 unchanged. */
export function change(from: number, to: number): 1 | -1 | 0 {
  if (Math.abs(to - from) <= SAME * Math.max(from, to)) return 0;
  return to > from ? 1 : -1;
}

/** One print as a sum. */
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

/** An underlying's official close of one New York trading day. */
export interface Close {
  readonly ticker: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  readonly close: number;
  /** Shares traded that day. Null if the feed does not give them. */
  readonly volume: number | null;
  readonly simulated: boolean;
}
