import type { Database } from 'bun:sqlite';
import type { DataChanges, DataKey, DataKind } from '../market/store.ts';

/** What a write has changed: the keys of its data, and which of `version` and `otherChanges` changes. */
export interface WrittenData {
  readonly keys: readonly DataKey[];
  /** `others` changes both texts, `unlisted` changes `version` alone, and `uncounted` changes neither. */
  readonly group: 'others' | 'unlisted' | 'uncounted';
}

/** Minimum time between two checks for writes of other processes, ms. A check locks the file, which takes as much time as a read. */
const OTHERS_CHECK_MS = 10;

/**
 * Creates the functions that tell whether stored data has changed, from two counts of SQLite: the rows that this connection has changed,
 * and the commits of others. `counted` runs a write of known data, which changes `version` and `changes`. `unlisted` runs a write of data
 * that no answer shows, such as members, which changes `version` alone. `uncounted` and `unchanged` run writes that affect no cached
 * result. Any other write changes `version` and `otherChanges`, so a write that nobody has thought of invalidates every cached answer.
 */
export function dataVersions(db: Database) {
  const selectOwn = db.prepare<{ changes: number }, []>('SELECT total_changes() AS changes');
  const selectOthers = db.prepare<{ data_version: number }, []>('PRAGMA data_version');
  const counts = new Map<string, number>();
  let checkedAt = Number.NEGATIVE_INFINITY;
  let othersVersion = -1;
  /** The keys of the writes of `observed`. */
  let noted: Set<DataKey> | undefined;
  /** The numbers of rows that writes of two groups have changed. */
  const rows = { unlisted: 0, uncounted: 0 };
  const changes = () => selectOwn.get()!.changes;
  const commitsOfOthers = () => {
    const nowMs = performance.now();
    if (nowMs - checkedAt >= OTHERS_CHECK_MS) {
      checkedAt = nowMs;
      othersVersion = selectOthers.get()!.data_version;
    }
    return othersVersion;
  };
  /** Runs `work`, and adds the number of rows that `work` has changed to those of its group, also if `work` throws. */
  const measured = <Result>(group: keyof typeof rows, work: () => Result): Result => {
    const before = changes();
    try {
      return work();
    } finally {
      rows[group] += changes() - before;
    }
  };
  const unlisted = <Result>(work: () => Result): Result => measured('unlisted', work);
  const uncounted = <Result>(work: () => Result): Result => measured('uncounted', work);
  /** Runs `work`, and then counts a write of each key and of its kind, also if `work` throws. */
  const countedAs = <Result>(keys: readonly DataKey[], work: () => Result): Result => {
    try {
      return work();
    } finally {
      const kinds = keys.map((key) => key.split(' ', 1)[0]!);
      for (const key of new Set([...keys, ...(kinds as DataKind[])])) {
        counts.set(key, (counts.get(key) ?? 0) + 1);
        noted?.add(key);
      }
    }
  };
  const dataChanges: DataChanges = {
    changes: (key) => counts.get(key) ?? 0,
    otherChanges: () => `${commitsOfOthers()}.${changes() - rows.uncounted - rows.unlisted}`,
  };
  return {
    ...dataChanges,
    version: () => `${commitsOfOthers()}.${changes() - rows.uncounted}`,
    unlisted,
    uncounted,
    counted: <Result>(keys: readonly DataKey[], work: () => Result) => countedAs(keys, () => unlisted(work)),
    /** Like `uncounted`, for the state of the feeds, on which some answers depend. */
    ofFeeds: <Result>(keys: readonly DataKey[], work: () => Result) => countedAs(keys, () => uncounted(work)),
    /** Runs `work`, and returns what its writes have changed. */
    observed<Result>(work: () => Result): { readonly result: Result; readonly written: WrittenData } {
      const before = { ...rows, all: changes() };
      noted = new Set();
      try {
        const result = work();
        const [unlistedRows, uncountedRows] = [rows.unlisted - before.unlisted, rows.uncounted - before.uncounted];
        const isListed = changes() - before.all > unlistedRows + uncountedRows;
        const group = isListed ? 'others' : unlistedRows > 0 ? 'unlisted' : 'uncounted';
        return { result, written: { keys: [...noted], group } };
      } finally {
        noted = undefined;
      }
    },
    /** Runs a write that another store has observed, so that the counts change as they changed there. */
    repeated<Result>({ keys, group }: WrittenData, work: () => Result): Result {
      return countedAs(keys, () => (group === 'others' ? work() : measured(group, work)));
    },
    *unchanged<T>(steps: Generator<T, void>): Generator<T, void> {
      for (;;) {
        const { value, done } = uncounted(() => steps.next());
        if (done) return;
        yield value;
      }
    },
  };
}
