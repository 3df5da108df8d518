import { StepMeter, type Steps } from '../../steps.ts';

/** Contracts that are gone through in a step, in a few ms. */
const STEP_CONTRACTS = 32_768;

/** Does work for each series, in a step for as many as have STEP_CONTRACTS contracts, at least for one. */
export function* bySeries<Its extends { readonly start: number; readonly end: number }>(
  series: readonly Its[],
  message: string,
  work: (its: Its, index: number) => void,
): Steps<void> {
  const meter = new StepMeter(STEP_CONTRACTS);
  for (let index = 0; index < series.length; index++) {
    const its = series[index]!;
    if (meter.isFull(its.end - its.start)) yield { message };
    work(its, index);
  }
}
