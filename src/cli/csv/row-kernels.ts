import { greeks, inMarketUnits } from '../../math/black-scholes.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { merton } from '../../math/jump-diffusion.ts';
import { anyNumber, notNegative, orElse, positive, type RowKernel, side } from './row-kernel.ts';

const rate = orElse(anyNumber, 0.04);
const dividend = orElse(anyNumber, 0);

const GREEKS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;

/** Returns the kernel for price and Greeks in market or raw units. If tte or iv is 0, the price is the intrinsic value. */
export const greeksKernel = (units: 'market' | 'raw') =>
  define({
    inputs: { put_call: side, spot: positive, strike: positive, tte: notNegative, iv: notNegative, rate, dividend },
    outputs: GREEKS,
    unanswered: 'a result is too large for a double',
    compute(count, { put_call: callPut, ...columns }) {
      const raw = greeks({ count, callPut, ...columns });
      const shown = units === 'raw' ? raw : inMarketUnits(raw);
      return GREEKS.map((name) => shown[name]);
    },
  });

/** The kernel for implied volatility. The volatility is 0 if the price is at or below the discounted intrinsic value. */
export const impliedVolatilityKernel = define({
  inputs: { put_call: side, price: notNegative, spot: positive, strike: positive, tte: positive, rate, dividend },
  outputs: ['iv'],
  unanswered: 'the price is at or above the largest possible value of the option, so no volatility gives it',
  compute: (count, { put_call: callPut, ...columns }) => [impliedVolatility({ count, callPut, ...columns })],
});

/** The kernel of Merton's jump diffusion: the probability that spot ends at or above the strike, the call price and the put price. */
export const mertonKernel = define({
  inputs: {
    ...{ spot: positive, strike: positive, tte: notNegative, iv: notNegative, rate, dividend },
    ...{ jump_intensity: notNegative, jump_mean: anyNumber, jump_vol: notNegative },
  },
  outputs: ['prob_above', 'call', 'put'],
  unanswered: 'jump_intensity * tte or jump_intensity * tte * e^(jump_mean + jump_vol^2 / 2) exceeds 256',
  compute(count, { jump_intensity: jumpIntensity, jump_mean: jumpMean, jump_vol: jumpVol, ...columns }) {
    const { probAbove, call, put } = merton({ count, ...columns, jumpIntensity, jumpMean, jumpVol });
    return [probAbove, call, put];
  },
});

/** Returns the kernel unchanged. The call makes TypeScript check that `compute` reads only columns in `inputs`. */
function define<Name extends string>(kernel: RowKernel<Name>): RowKernel<Name> {
  return kernel;
}
