/**
 * The columns that callers and kernels share, with their positions in the block. Inputs come before outputs. The file contains only
 * enumerations, because both the AssemblyScript compiler and `src/math` read the file.
 */

/** The block that every kernel needs. */
export enum Block {
  /** The number of columns of a block. A kernel also writes to columns that have no name here, so the block must have room for all of them. */
  columns = 32,
}

/**
 * The columns of `blackScholes` and `blackScholesPair`. The two discounts are inputs if `discounted` is true. The five columns from `putPrice` on belong
 * to the put of a pair, and only `blackScholesPair` writes these columns.
 */
export enum BlackScholesColumn {
  callPut,
  spot,
  strike,
  tte,
  iv,
  rate,
  dividend,
  discount,
  dividendDiscount,
  price,
  delta,
  theta,
  rho,
  charm,
  gamma,
  vega,
  vanna,
  volga,
  putPrice,
  putDelta,
  putTheta,
  putRho,
  putCharm,
  /** The kernel stores intermediate values in this column and in all that follow. */
  scratch,
}

/**
 * The columns of `hedges` and `addPairExposures`. The kernels store intermediate values in `weight` and in the columns 16 to 21. The last
 * columns are inputs of `addPairExposures`: `contracts` has an u32 for the first contract of each pair and for the end of the last pair, and
 * the others have one number for each contract.
 */
export enum ExposureColumn {
  callPut,
  spot,
  strike,
  iv,
  tte,
  carry,
  factor,
  laterTte,
  laterFactor,
  weight,
  delta,
  vanna,
  change,
  sums,
  position = 22,
  multiplier,
  side,
  contracts,
}

/** The columns of `impliedVolatility`. */
export enum ImpliedVolatilityColumn {
  callPut,
  price,
  spot,
  strike,
  tte,
  rate,
  dividend,
  iv,
  /** The kernel stores intermediate values in this column and in all that follow. */
  scratch,
}

/** The columns of `merton` and `mertonProbabilities`. `mertonProbabilities` writes only `probAbove` and `probBelow`. */
export enum MertonColumn {
  spot,
  strike,
  tte,
  iv,
  rate,
  dividend,
  jumpIntensity,
  jumpMean,
  jumpVol,
  probAbove,
  probBelow,
  call,
  put,
  /** The kernel stores intermediate values in this column and in all that follow. */
  scratch,
}

/**
 * The columns of `addGammaProfile` and `addGammaLogProfile`. The kernels store intermediate values in the columns 6 to 19. `sums` takes two
 * columns.
 */
export enum GammaProfileColumn {
  strike,
  tte,
  iv,
  rate,
  dividend,
  weight,
  levels = 20,
  moves,
  sums,
}

/**
 * The columns of the kernels of `slice-model.ts`. The first eight columns have one number per row, and `near` has 13 numbers per row. Each
 * of the other columns has several vectors, or a matrix. `masses` takes two columns.
 */
export enum SliceColumn {
  callPut,
  strike,
  nearFrom,
  nearTo,
  price,
  scale,
  side,
  error,
  near,
  nodes = 22,
  masses,
  basis = 25,
  localMass,
  localMean,
  penalty,
  normal,
  factors,
  coefficients,
}

/** What `writeRows` writes in a row besides numbers. */
export enum RowItem {
  /** Bytes of the row that was read. Two indices into the starts and ends of its cells follow: the first byte, and the byte after the last. */
  copied = -1,
  /** A comma. */
  separator = -2,
}

/** The fields of a row that `scanRows` finds, each an i32. `size` is the number of fields. */
export enum RowField {
  /** Address of the first byte. */
  start,
  /** Address after the last byte, without the line break. */
  end,
  /** Address of the first cell. */
  cells,
  /** Number of lines before the row. */
  line,
  /** Bits of `RowFlag`. */
  flags,
  size,
}

export enum RowFlag {
  /** The row ends with a line break, and not with the end of the bytes. */
  terminated = 1,
  /** A cell begins with a quotation mark that is never closed. */
  open = 2,
  /** Text follows a quotation mark within a quoted cell. */
  malformed = 4,
}
