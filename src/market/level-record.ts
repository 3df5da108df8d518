/** What is kept of a snapshot's levels, by the default options. Dollars unless said otherwise. */
export interface LevelRecord {
  readonly underlying: string;
  readonly simulated: boolean;
  /** ms since the epoch */
  readonly asOf: number;
  /** The New York date then, `YYYY-MM-DD`. */
  readonly day: string;
  readonly spot: number;
  /** Per 1 % move. */
  readonly netGex: number;
  /** Per 1 % move. */
  readonly grossGex: number;
  readonly gexFlip: number;
  /** False where net gamma changes sign nowhere: the flip is then its least level. */
  readonly flipResolved: boolean;
  readonly callWall: number;
  readonly putWall: number;
  /** Of the dominant expiry. */
  readonly maxPain: number;
  /** The dominant one, `YYYY-MM-DD`. */
  readonly expiry: string;
  readonly dex: number;
  /** Per vol point. */
  readonly vex: number;
  /** Per calendar day. */
  readonly cex: number;
  /** At-the-money volatility at 30 days, decimal per year; null where no series has a volatility. */
  readonly atmIv30d: number | null;
}

/** Levels as they were kept: an entry of the log that subscribers follow. */
export interface LevelEvent extends LevelRecord {
  /** Place in the log: later ones are greater, and none is given twice. */
  readonly seq: number;
  /** Of the snapshot. */
  readonly source: string;
}
