import { recordOf } from '../../core/record-of.ts';
import { StepMeter, type Steps } from '../../core/steps.ts';
import { PRICED_COLUMNS, type PreparedChain, type PreparedSeries } from './prepared-chain.ts';

/** Maximum number of contracts in one step, which takes a few ms. */
const STEP_CONTRACTS = 32_768;

/** Calls `work` once for each series. A step handles one series, or several series with at most `STEP_CONTRACTS` contracts in total. */
export function* bySeries<Rows extends { readonly start: number; readonly end: number }>(
  series: readonly Rows[],
  message: string,
  work: (each: Rows, index: number) => void,
): Steps<void> {
  const meter = new StepMeter(STEP_CONTRACTS);
  for (let index = 0; index < series.length; index++) {
    const each = series[index]!;
    if (meter.beginsNextStep(each.end - each.start)) yield { message };
    work(each, index);
  }
}

/** Returns the series sorted by settlement. Series that settle at the same instant are sorted by root. */
export function inOrderOfSettlement(series: readonly PreparedSeries[]): PreparedSeries[] {
  return series.toSorted(
    (a, b) => a.tte - b.tte || (a.series.root < b.series.root ? -1 : +(a.series.root > b.series.root)),
  );
}

/** Returns a new column with the values of `column` at the given rows. */
export function rowsOfColumn(column: Float64Array, rows: Uint32Array): Float64Array {
  const picked = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) picked[i] = column[rows[i]!]!;
  return picked;
}

/** Returns some contracts of a prepared chain as columns for the kernels. */
export function optionColumns(prepared: PreparedChain, contracts: Uint32Array) {
  return {
    count: contracts.length,
    callPut: rowsOfColumn(prepared.callPut, contracts),
    spot: prepared.chain.spot,
    ...recordOf(PRICED_COLUMNS, (name) => rowsOfColumn(prepared[name], contracts)),
  };
}
