/** One reported option trade. */
export interface Print {
  /** Unique in its feed: a print is counted once however often it arrives. */
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
  /** The side of the quote it traded on, where the feed says so. */
  readonly side: 'ask' | 'bid' | 'mid' | null;
  /** Best quote when it traded, dollars per share, where the feed gives it. */
  readonly bid: number | null;
  readonly ask: number | null;
  /** Delta of the contract at the trade, where the feed gives it. */
  readonly delta: number | null;
  /** A leg of a spread. */
  readonly multiLeg: boolean;
  /** Sent to several exchanges at once, to take what each shows. */
  readonly sweep: boolean;
  /** Agreed away from the quotes: crossed, on a floor or in a block. */
  readonly block: boolean;
  readonly canceled: boolean;
  readonly simulated: boolean;
}

/** Prints of one series, side and kind, added up. */
export interface PrintSum {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  readonly callPut: 1 | -1;
  /** Where they traded: by the feed, else by the quote that each met; `none` where neither tells. */
  readonly side: 'ask' | 'bid' | 'mid' | 'none';
  readonly multiLeg: boolean;
  /** Of contracts deeper than `OPINION_DELTA_MAX`. */
  readonly deep: boolean;
  readonly prints: number;
  readonly contracts: number;
  /** Dollars. */
  readonly premium: number;
}

/** Deeper than this, of contracts whose delta is known, is dividend and financing trades, not opinion. */
const OPINION_DELTA_MAX = 0.9;

/** Premium of a print, dollars. */
export function premiumOf(print: Print): number {
  return print.price * print.size * print.multiplier;
}

export function isDeep(delta: number | null): boolean {
  return Math.abs(delta ?? 0) > OPINION_DELTA_MAX;
}

/** Middle of the quote that a print met; undefined where there is none that could have been met. */
export function middleOf({ bid, ask }: Print): number | undefined {
  return bid !== null && ask !== null && ask > bid ? (bid + ask) / 2 : undefined;
}

/** Prices as far apart as a double's rounding are the same price. */
const SAME = 1e-9;

/** Which way a price goes: up, down or nowhere. */
export function change(from: number, to: number): 1 | -1 | 0 {
  if (Math.abs(to - from) <= SAME * Math.max(from, to)) return 0;
  return to > from ? 1 : -1;
}

/** A print as the sum of one. */
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
  /** Shares traded that day, where the feed gives them. */
  readonly volume: number | null;
  readonly simulated: boolean;
}
