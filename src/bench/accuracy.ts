import { readFileSync } from 'node:fs';
import { greeks } from '../math/black-scholes.ts';
import { merton } from '../math/jump-diffusion.ts';
import bsmPath from './reference/bsm.csv' with { type: 'file' };
import mertonPath from './reference/merton.csv' with { type: 'file' };

/** How far one output of a kernel is from 60-digit values, at its worst row. */
export interface Accuracy {
  readonly kernel: string;
  readonly output: string;
  /** |x - X| / (2.22e-16 (|X| + condition)): 1 is what one rounding of each input can do. */
  readonly worstScaledError: number;
  /** Line of the reference file that shows it. */
  readonly line: number;
}

const EPSILON = 2.22e-16;
/** Below it the reference asks for no digits, only for as little. */
const NEGLIGIBLE = 1e-290;

/** Holds the kernels against the embedded reference values, every row and output. */
export function measureAccuracy(): Accuracy[] {
  const bsm = readReference(bsmPath);
  const jumps = readReference(mertonPath);
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
  return [
    ...Object.entries(prices).map(([output, values]) => worst('Black-Scholes-Merton', output, values, bsm)),
    ...Object.entries({ prob_above: probAbove, call, put }).map(([output, values]) =>
      worst('Merton', output, values, jumps),
    ),
  ];
}

interface Reference {
  readonly count: number;
  /** A column as numbers, C as 1 and P as -1. */
  column(name: string): Float64Array;
}

function readReference(path: string): Reference {
  const [header, ...rows] = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return {
    count: rows.length,
    column: (name) => {
      const at = header!.indexOf(name);
      return Float64Array.from(rows, (row) => (row[at] === 'C' ? 1 : row[at] === 'P' ? -1 : Number(row[at])));
    },
  };
}

function worst(kernel: string, output: string, values: Float64Array, reference: Reference): Accuracy {
  const exact = reference.column(output);
  const condition = reference.column(`condition_${output}`);
  let worstScaledError = 0;
  let line = 2;
  exact.forEach((X, at) => {
    const error = Math.abs(X) < NEGLIGIBLE ? 0 : Math.abs(values[at]! - X) / (EPSILON * (Math.abs(X) + condition[at]!));
    // Not a number is the worst error there is.
    if (!(error <= worstScaledError))
      [worstScaledError, line] = [Number.isNaN(error) ? Number.POSITIVE_INFINITY : error, at + 2];
  });
  return { kernel, output, worstScaledError, line };
}
