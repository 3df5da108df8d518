import { newYorkDate } from '../../market/calendar.ts';

/** A snapshot in a file, and its number of rows. */
interface CountedSnapshot {
  readonly underlying: string;
  /** Time of the quotes, ms since the epoch. */
  readonly asOf: number;
  readonly count: number;
}

/** A snapshot is stray if it has less than this share of the rows of a neighbour in time. */
const STRAY_SHARE = 0.1;
/** A snapshot of another day than its neighbour is stray only below this number of rows. A day may have few options, as of a young ticker. */
const STRAY_ROWS_MAX = 10;

/**
 * Returns the stray snapshots, each with its neighbour. A wrong digit in the times of a few rows makes a snapshot that nobody took, which might
 * count as the newest. Only neighbours in time are compared, because a history may begin with a young ticker that has few options.
 */
export function straysOf<Snapshot extends CountedSnapshot>(snapshots: readonly Snapshot[]): Map<Snapshot, Snapshot> {
  const strays = new Map<Snapshot, Snapshot>();
  for (const ofTicker of Map.groupBy(snapshots, ({ underlying }) => underlying).values()) {
    const inTime = ofTicker.toSorted((a, b) => a.asOf - b.asOf);
    for (const [i, snapshot] of inTime.entries()) {
      const neighbour = [inTime[i - 1], inTime[i + 1]].find(
        (each) => each !== undefined && isStrayBeside(snapshot, each),
      );
      if (neighbour !== undefined) strays.set(snapshot, neighbour);
    }
  }
  return strays;
}

function isStrayBeside(snapshot: CountedSnapshot, neighbour: CountedSnapshot): boolean {
  if (snapshot.count >= STRAY_SHARE * neighbour.count) return false;
  return snapshot.count < STRAY_ROWS_MAX || newYorkDate(snapshot.asOf) === newYorkDate(neighbour.asOf);
}
