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
