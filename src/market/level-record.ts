/** The stored levels of the expiries within a horizon. The unit is dollars unless stated otherwise. */
export interface StoredLevels {
  /** Net gamma exposure, dollars per 1 % move. */
  readonly netGex: number;
  /** The sum of all contracts' absolute gamma exposures, dollars per 1 % move. */
  readonly grossGex: number;
  /**
   * The probability that the sign of `netGex` is right, 0 to 1, under a prior of the dealers' positions (see `signProbability`). Null if an
   * earlier version of the program stored the record.
   */
  readonly signProbability: number | null;
  /** The spot at which net gamma changes its sign. */
  readonly gexFlip: number;
  /** False if net gamma keeps its sign within 50 % of spot, or changes it only outside the quoted strikes (see `GammaFlip`). */
  readonly flipResolved: boolean;
  readonly callWall: number;
  readonly putWall: number;
  /** The max pain strike of the dominant expiry: the strike at which the options of this expiry pay out least. */
  readonly maxPain: number;
  /** The dominant expiry, `YYYY-MM-DD`: the one with the most premium in large prints or, without large prints, the most gamma. */
  readonly expiry: string;
}

/** The horizons whose levels are stored beside those of all expiries (see `horizons.ts`). */
export const STORED_HORIZONS = ['session', '35d'] as const;
export type StoredHorizon = (typeof STORED_HORIZONS)[number];

/** The stored levels of all expiries of one snapshot, computed with the default options of the analysis. */
export interface LevelRecord extends StoredLevels {
  readonly underlying: string;
  readonly simulated: boolean;
  /** The moment of the snapshot's quotes, ms since the epoch. */
  readonly asOf: number;
  /** The New York date of `asOf`, `YYYY-MM-DD`. */
  readonly day: string;
  readonly spot: number;
  /**
   * The levels of shorter horizons. Null if no call or no put with gamma settles within the horizon, or if an earlier version of the program
   * stored the record and the snapshot was removed.
   */
  readonly byHorizon: Readonly<Record<StoredHorizon, StoredLevels | null>>;
  /** Net delta exposure, dollars. */
  readonly dex: number;
  /** Net vanna exposure, dollars per vol point. */
  readonly vex: number;
  /** Net charm exposure, dollars over the coming calendar day. */
  readonly cex: number;
  /** At-the-money volatility at 30 days to expiry, decimal per year. Null if no series determines a smile. */
  readonly atmIv30d: number | null;
  /** At-the-money volatility of the expiry nearest to 30 days, decimal per year. Null if no series has a volatility. */
  readonly nearestIv: number | null;
  /** Gross gamma exposure that settles within a day, dollars per 1 % move. Null if an earlier version of the program stored the record. */
  readonly expiringGex: number | null;
}

/** A spot that occurs in the level records of a period. */
export interface LevelSpot {
  readonly spot: number;
  /** The number of level records with this spot. */
  readonly records: number;
}

/** An entry of the log of stored levels. Subscribers receive these entries. */
export interface LevelEvent extends LevelRecord {
  /** The entry's sequence number in the log. The number of each entry is higher than all earlier numbers. */
  readonly seq: number;
  /** The source of the snapshot. */
  readonly source: string;
  /** When the entry was stored, ms since the epoch. For entries of early versions of the program, the moment of the quotes. */
  readonly keptAt: number;
}
