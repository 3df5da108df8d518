import { parseReference, volatilityCondition } from '../../src/bench/reference-errors.ts';

/** A column of numbers as JSON. Null is NaN. */
type Numbers = readonly (number | null)[];

/** Some of the reference values, as the build writes them for the page. */
export interface ReferenceSample {
  /** Number of rows of both tables. */
  readonly rows: number;
  /** Columns of options and of jump diffusions, in the order of the kernels' inputs. */
  readonly options: readonly Numbers[];
  readonly jumps: readonly Numbers[];
  /** Prices of the options, from which volatilities are solved. */
  readonly prices: Numbers;
  /** The exact values of each output with their conditions, in the order in which the page computes them. */
  readonly outputs: readonly {
    readonly kernel: string;
    readonly output: string;
    readonly exact: Numbers;
    readonly condition: Numbers;
  }[];
}

const OPTION = ['spot', 'strike', 'tte', 'iv', 'rate', 'dividend'];
const GREEKS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];

/** Returns the sample of two tables, CSV with headers. The build calls it, so that the page needs no parser. */
export function referenceSample(bsmTable: string, mertonTable: string): ReferenceSample {
  const [bsm, merton] = [parseReference(bsmTable), parseReference(mertonTable)];
  const numbers = (column: Float64Array) => [...column].map((each) => (Number.isNaN(each) ? null : each));
  const output = (kernel: string, name: string, table: typeof bsm, condition = table.column(`condition_${name}`)) => ({
    kernel,
    output: name,
    exact: numbers(table.column(name)),
    condition: numbers(condition),
  });
  const columns = (table: typeof bsm, names: readonly string[]) => names.map((name) => numbers(table.column(name)));
  return {
    rows: bsm.count + merton.count,
    options: columns(bsm, ['put_call', ...OPTION]),
    jumps: columns(merton, [...OPTION, 'jump_intensity', 'jump_mean', 'jump_vol']),
    prices: numbers(bsm.column('price')),
    outputs: [
      ...GREEKS.map((name) => output('Black-Scholes-Merton', name, bsm)),
      output('implied volatility', 'iv', bsm, volatilityCondition(bsm)),
      ...['prob_above', 'call', 'put'].map((name) => output('Merton', name, merton)),
    ],
  };
}
