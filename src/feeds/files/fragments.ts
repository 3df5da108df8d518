import type { ClientError } from '../../core/errors.ts';
import { DAY_MS, newYorkDate } from '../../market/calendar.ts';
import type { Series } from '../../market/chain.ts';
import { unreadable } from '../rejections.ts';

/** Contracts of one ticker at one time, by their index. */
export interface Contracts {
  readonly underlying: string;
  /** Time of the quotes, ms since the epoch. */
  readonly asOf: number;
  readonly rows: Iterable<number>;
  seriesOf(row: number): Pick<Series, 'root' | 'expiry'>;
  readonly callPut: Float64Array;
  readonly strike: Float64Array;
}

/** Snapshots with fewer contracts are compared together with those after them. */
const CONTRACTS_MIN = 3;
/** The least share of the contracts of the smaller of two neighbours that are in the larger one. Contracts hardly change within a day. */
const SHARED_MIN = 0.05;

/**
 * Throws a `ClientError` if the snapshots of a ticker within a day have no contracts in common, because they are then the rows of one chain, which
 * have times of their own. Levels of the newest rows would look like levels of the chain.
 */
export function assertWhole(snapshots: readonly Contracts[]): void {
  for (const ofTicker of Map.groupBy(snapshots, ({ underlying }) => underlying).values()) {
    let earlier: { readonly keys: Set<string>; readonly asOf: number } | undefined;
    let keys = new Set<string>();
    for (const later of ofTicker.toSorted((a, b) => a.asOf - b.asOf)) {
      for (const row of later.rows) keys.add(keyOf(later, row));
      if (keys.size < CONTRACTS_MIN) continue;
      if (earlier && later.asOf - earlier.asOf <= DAY_MS && !haveCommon(earlier.keys, keys, newYorkDate(later.asOf)))
        throw fragmented(later.underlying, earlier.asOf, later.asOf);
      earlier = { keys, asOf: later.asOf };
      keys = new Set();
    }
  }
}

/** Returns whether two sets of contracts have some in common. Contracts that expired before `today` do not count. */
function haveCommon(before: Set<string>, after: Set<string>, today: string): boolean {
  const live = [...before].filter((key) => key >= today);
  const common = live.filter((key) => after.has(key)).length;
  return common > 0 ? common >= SHARED_MIN * Math.min(live.length, after.size) : live.length < CONTRACTS_MIN;
}

/** Returns a text for a contract that begins with its expiry. */
function keyOf({ seriesOf, callPut, strike }: Contracts, row: number): string {
  const { root, expiry } = seriesOf(row);
  return `${expiry}${root}${callPut[row]! * strike[row]!}`;
}

function fragmented(underlying: string, ...times: readonly number[]): ClientError {
  const [from, to] = times.map((each) => new Date(each).toISOString());
  return unreadable(
    `the rows of one chain of ${underlying} have different times: those of ${from} and ${to} have no contracts in common. State as_of = "newest" under [forms] of a mapping`,
  );
}
