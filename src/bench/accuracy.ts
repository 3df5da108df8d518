import { readFileSync } from 'node:fs';
import { greeks } from '../math/black-scholes.ts';
import { impliedVolatility } from '../math/implied-volatility.ts';
import { merton } from '../math/jump-diffusion.ts';
import bsmPath from './reference/bsm.csv' with { type: 'file' };
import mertonPath from './reference/merton.csv' with { type: 'file' };
import { type Accuracy, parseReference, type Reference, volatilityCondition, worstError } from './reference-errors.ts';

/** Compares the kernels with the embedded reference values, in every row and every output. */
export function measureAccuracy(): Accuracy[] {
  const [bsm, jumps] = [bsmPath, mertonPath].map((path) => parseReference(readFileSync(path, 'utf8'))) as [
    Reference,
    Reference,
  ];
  const inputs = ({ column, count }: Reference) => ({
    count,
    spot: column('spot'),
    strike: column('strike'),
    tte: column('tte'),
    iv: column('iv'),
    rate: column('rate'),
    dividend: column('dividend'),
  });
  const prices = greeks({ ...inputs(bsm), callPut: bsm.column('put_call') });
  const { probAbove, call, put } = merton({
    ...inputs(jumps),
    jumpIntensity: jumps.column('jump_intensity'),
    jumpMean: jumps.column('jump_mean'),
    jumpVol: jumps.column('jump_vol'),
  });
  const price = bsm.column('price');
  const solved = impliedVolatility({ ...inputs(bsm), callPut: bsm.column('put_call'), price });
  return [
    ...Object.entries(prices).map(([output, values]) => worstError('Black-Scholes-Merton', output, values, bsm)),
    worstError('implied volatility', 'iv', solved, bsm, volatilityCondition(bsm)),
    ...Object.entries({ prob_above: probAbove, call, put }).map(([output, values]) =>
      worstError('Merton', output, values, jumps),
    ),
  ];
}
