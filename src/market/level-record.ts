/** The stored levels of one snapshot, computed with the default options of the analysis. The unit is dollars unless stated otherwise. */
export interface LevelRecord {
  readonly underlying: string;
  readonly simulated: boolean;
  /** The moment of the snapshot, ms since the epoch. */
  readonly asOf: number;
  /** The New York date of `asOf`, `YYYY-MM-DD`. */
  readonly day: string;
  readonly spot: number;
  /** Net gamma exposure, dollars per 1 % move. */
  readonly netGex: number;
  /** Sum of the absolute gamma exposures of all contracts, dollars per 1 % move. */
  readonly grossGex: number;
  /** The spot at which net gamma changes its sign. */
  readonly gexFlip: number;
  /**
   * False if net gamma does not change its sign within 50 % of spot. `gexFlip` is then the spot in that range at which the absolute net
   * gamma is smallest.
   */
  readonly flipResolved: boolean;
  readonly callWall: number;
  readonly putWall: number;
  /** Max pain of the dominant expiry: the strike at which its options pay out least. */
  readonly maxPain: number;
  /**
   * The dominant expiry, `YYYY-MM-DD`. The dominant expiry is the expiry with the most premium in large prints or, without such prints, the
   * expiry with the most gamma.
   */
  readonly expiry: string;
  /** Net delta exposure, dollars. */
  readonly dex: number;
  /** Net vanna exposure, dollars per vol point. */
  readonly vex: number;
  /** Net charm exposure, dollars over the coming calendar day. */
  readonly cex: number;
  /** At-the-money volatility for options of 30 days, decimal per year. Null if no series determines a smile. */
  readonly atmIv30d: number | null;
}

/** A spot of the level records of a period. */
export interface LevelSpot {
  readonly spot: number;
  /** The number of level records with this spot. */
  readonly records: number;
}

/** An entry of the log of stored levels. Subscribers receive the entries of this log. */
export interface LevelEvent extends LevelRecord {
  /** Sequence number in the log. A later entry has a greater number, and no number is used twice. */
  readonly seq: number;
  /** The source of the snapshot. */
  readonly source: string;
}
