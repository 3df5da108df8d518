/**
 * The columns that callers and kernels share: their places in the block, inputs first and outputs after them. Both the AssemblyScript
 * compiler and `src/math` read this file, so it contains nothing but enumerations.
 */

/** `blackScholes` and `blackScholesPair`. The discounts are inputs only if `discounted` is true. The last five belong to the put of a pair. */
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
}

/** `addExposures`: the inputs of `blackScholes`, and these two in place of the columns of a put. */
export enum ExposureColumn {
  weight = 18,
  sums,
}

/** `impliedVolatility`. */
export enum ImpliedVolatilityColumn {
  callPut,
  price,
  spot,
  strike,
  tte,
  rate,
  dividend,
  iv,
}

/** `merton`. `mertonProbabilities` writes only the probabilities. */
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
}

/** `addGammaProfile` and `addGammaLogProfile`. The kernels use columns 6 to 19 between their passes. `sums` takes two columns. */
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
