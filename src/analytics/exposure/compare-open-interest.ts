import type { Steps } from '../../core/steps.ts';
import type { Chain, Series } from '../../market/chain.ts';
import type { ExpirySelection } from '../chain/options.ts';
import { isSelected, selectedSeries } from '../chain/prepare.ts';
import { bySeries } from '../chain/rows.ts';

/** A change of open interest at a strike, contracts. */
export interface StrikeChange {
  readonly strike: number;
  callChange: number;
  putChange: number;
  /** Open interest of the compared calls and puts in the later snapshot, contracts. */
  callOpenInterest: number;
  putOpenInterest: number;
}

/** Contracts that are not compared, and their open interest in the only snapshot that has it. */
export interface NotCompared {
  contracts: number;
  open_interest: number;
}

export interface OpenInterestChanges {
  /** The strikes with a compared contract. The largest build comes first, and the largest fall last. Equal changes are in order of strike. */
  readonly strikes: readonly StrikeChange[];
  /** The number of compared contracts. */
  readonly compared: number;
  /** Contracts that settled between the two snapshots. */
  readonly settled: NotCompared;
  /** Contracts that only the later snapshot has. */
  readonly listed: NotCompared;
  /** Contracts that only the earlier snapshot has although they have not settled. */
  readonly missing: NotCompared;
  /** Contracts whose open interest one of the snapshots does not give. */
  readonly unknown: NotCompared;
}

/**
 * Compares the open interest of two snapshots of an underlying, contract by contract, without adjusted contracts. Only contracts that are
 * live in both count, because a sum over all falls with each settlement. The days of `selection` count from the later snapshot. Throws
 * `ClientError` if the later snapshot has no live contract of it; the error names the expiries that have settled by `nowMs()`.
 */
export function* openInterestChanges(
  before: Chain,
  after: Chain,
  selection: ExpirySelection,
  nowMs: () => number,
): Steps<OpenInterestChanges> {
  const apart = { settled: none(), listed: none(), missing: none(), unknown: none() };
  const earlier = new Map(
    before.series
      .filter((each) => !each.adjusted && each.settlesAt > before.asOf && isSelected(each, after.asOf, selection))
      .map((each) => [nameOf(each), each]),
  );
  const strikes = new Map<number, StrikeChange>();
  let compared = 0;
  yield* bySeries(selectedSeries(after, selection, nowMs), 'Comparing open interest', (series) => {
    const old = earlier.get(nameOf(series));
    earlier.delete(nameOf(series));
    const left = rowsByContract(before, old);
    for (const [key, row] of rowsByContract(after, series)) {
      const now = after.openInterest[row]!;
      const rowBefore = left.get(key);
      left.delete(key);
      const then = rowBefore === undefined ? Number.NaN : before.openInterest[rowBefore]!;
      if (rowBefore === undefined) count(apart.listed, now);
      else if (Number.isNaN(now - then)) count(apart.unknown, now || then);
      else {
        compared++;
        const strike = after.strike[row]!;
        const sums = strikes.getOrInsertComputed(strike, noChange);
        if (after.callPut[row] === 1) {
          sums.callChange += now - then;
          sums.callOpenInterest += now;
        } else {
          sums.putChange += now - then;
          sums.putOpenInterest += now;
        }
      }
    }
    for (const row of left.values()) count(apart.missing, before.openInterest[row]!);
  });
  for (const series of earlier.values()) {
    const kind = series.settlesAt <= after.asOf ? apart.settled : apart.missing;
    for (let row = series.start; row < series.end; row++) count(kind, before.openInterest[row]!);
  }
  const sorted = [...strikes.values()].sort((a, b) => builtOf(b) - builtOf(a) || a.strike - b.strike);
  return { strikes: sorted, compared, ...apart };
}

/** Returns the change of calls plus puts, contracts. */
export function builtOf({ callChange, putChange }: StrikeChange): number {
  return callChange + putChange;
}

function noChange(strike: number): StrikeChange {
  return { strike, callChange: 0, putChange: 0, callOpenInterest: 0, putOpenInterest: 0 };
}

function none(): NotCompared {
  return { contracts: 0, open_interest: 0 };
}

function count(kind: NotCompared, openInterest: number): void {
  kind.contracts++;
  kind.open_interest += openInterest || 0;
}

function nameOf({ root, expiry }: Series): string {
  return `${root} ${expiry}`;
}

/** Returns the rows of a series by strike and side: the key of a put is its strike with a minus sign. */
function rowsByContract({ strike, callPut }: Chain, series: Series | undefined): Map<number, number> {
  const rows = new Map<number, number>();
  if (series) for (let row = series.start; row < series.end; row++) rows.set(strike[row]! * callPut[row]!, row);
  return rows;
}
