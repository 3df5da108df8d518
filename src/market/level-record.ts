/** The stored levels of one snapshot, computed with the default options. Dollars unless stated otherwise. */
export interface LevelRecord {
  readonly underlying: string;
  readonly simulated: boolean;
  /** ms since the epoch */
  readonly asOf: number;
  /** The New York date of `asOf`, `YYYY-MM-DD`. */
  readonly day: string;
  readonly spot: number;
  /** Per 1 % move. */
  readonly netGex: number;
  /** Per 1 % move. */
  readonly grossGex: number;
  readonly gexFlip: number;
  /** False if net gamma changes its sign nowhere. `gexFlip` is then the spot at which its absolute value is smallest. */
  readonly flipResolved: boolean;
  readonly callWall: number;
  readonly putWall: number;
  /** Of the dominant expiry. */
  readonly maxPain: number;
  /** The dominant expiry, `YYYY-MM-DD`. */
  readonly expiry: string;
  readonly dex: number;
  /** Per vol point. */
  readonly vex: number;
  /** Per calendar day. */
  readonly cex: number;
  /** At-the-money volatility at 30 days, decimal per year. Null if no series has a volatility. */
  readonly atmIv30d: number | null;
}

/** Stored levels as an entry of the log that subscribers follow. */
export interface LevelEvent extends LevelRecord {
  /** Sequence number in the log. Later entries have greater numbers, and no number is used twice. */
  readonly seq: number;
  /** The source of the snapshot. */
  readonly source: string;
}
