import { type GreekName, greeks, inMarketUnits } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { merton } from '../../math/jump-diffusion.ts';
import { anyNumber, notNegative, orElse, positive, type RowKernel, side } from './row-kernel.ts';

const rate = orElse(anyNumber, 0.04);
const dividend = orElse(anyNumber, 0);

const GREEKS = [
  'price',
  'delta',
  'gamma',
  'vega',
  'theta',
  'rho',
  'vanna',
  'charm',
  'volga',
] as const satisfies GreekName[];

/** Price and Greeks in market or raw units (see `inMarketUnits`). At tte 0 or iv 0, they are those of the intrinsic value. */
export const greeksKernel = (units: 'market' | 'raw') =>
  define({
    inputs: {
      put_call: side,
      spot: positive,
      strike: positive,
      tte: notNegative,
      iv: notNegative,
      rate,
      dividend,
    },
    outputs: GREEKS,
    unanswered: 'a result is too large for a double',
    compute(count, { put_call: callPut, ...columns }) {
      const raw = greeks({ count, callPut, ...columns });
      const shown = units === 'raw' ? raw : inMarketUnits(raw);
      return GREEKS.map((name) => shown[name]);
    },
  });

/** Implied volatility; 0 if the price is at or below the discounted intrinsic value. */
export const impliedVolatilityKernel = define({
  inputs: { put_call: side, price: notNegative, spot: positive, strike: positive, tte: positive, rate, dividend },
  outputs: ['iv'],
  unanswered: 'no volatility gives this price: it is at or above what the option can be worth',
  compute: (count, { put_call: callPut, ...columns }) => [impliedVolatility({ count, callPut, ...columns })],
});

/** Merton's jump diffusion: probability of ending at or above the strike, call and put price. */
export const mertonKernel = define({
  inputs: {
    spot: positive,
    strike: positive,
    tte: notNegative,
    iv: notNegative,
    rate,
    dividend,
    jump_intensity: notNegative,
    jump_mean: anyNumber,
    jump_vol: notNegative,
  },
  outputs: ['prob_above', 'call', 'put'],
  unanswered: 'more than 256 jumps are expected by expiry',
  compute(count, { jump_intensity: jumpIntensity, jump_mean: jumpMean, jump_vol: jumpVol, ...columns }) {
    const { probAbove, call, put } = merton({ count, ...columns, jumpIntensity, jumpMean, jumpVol });
    return [probAbove, call, put];
  },
});

/** Makes the compiler check that `compute` reads only columns that `inputs` names. */
function define<Name extends string>(kernel: RowKernel<Name>): RowKernel<Name> {
  return kernel;
}
