import { readFileSync } from 'node:fs';
import { greeks } from '../math/black-scholes.ts';
import { impliedVolatility } from '../math/implied-volatility.ts';
import { merton } from '../math/jump-diffusion.ts';
import bsmPath from './reference/bsm.csv' with { type: 'file' };
import mertonPath from './reference/merton.csv' with { type: 'file' };
import { parseReference, type Reference, volatilityCondition, worstError } from './reference-errors.ts';

/** The largest error of a kernel's output. The exact values were computed in 60-digit arithmetic. */
export interface Accuracy {
  readonly kernel: string;
  readonly output: string;
  /** `|x - X| / (2.22e-16 (|X| + condition))` for output `x` and exact value `X`. Rounding each input once can cause an error of 1. */
  readonly worstScaledError: number;
  readonly at: Readonly<Record<string, number>>;
}

/** Compares every output of the kernels with the embedded reference values, for all rows. */
export function measureAccuracy(): Accuracy[] {
  const bsm = parseReference(readFileSync(bsmPath, 'utf8'));
  const jumps = parseReference(readFileSync(mertonPath, 'utf8'));
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
    ...Object.entries(prices).map(([output, values]) => worst('Black-Scholes-Merton', output, values, bsm)),
    worst('implied volatility', 'iv', solved, bsm, volatilityCondition(bsm)),
    ...Object.entries({ prob_above: probAbove, call, put }).map(([output, values]) =>
      worst('Merton', output, values, jumps),
    ),
  ];
}

function worst(
  kernel: string,
  output: string,
  values: Float64Array,
  reference: Reference,
  condition = reference.column(`condition_${output}`),
): Accuracy {
  const { worstScaledError, row } = worstError(values, reference.column(output), condition);
  const at = Object.fromEntries(reference.inputs.map((name) => [name, reference.column(name)[row]!]));
  return { kernel, output, worstScaledError, at };
}
