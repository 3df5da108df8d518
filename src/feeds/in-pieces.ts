import { announceStep } from '../event-loop-watchdog.ts';

/**
 * Work in pieces of some milliseconds each. The generator yields between the pieces, so that other work can run, and returns the result.
 */
export type InPieces<Result> = Generator<void, Result, void>;

/** Rows per piece. */
export const PIECE_ROWS = 2_000;

/** Runs the work, with a turn of the event loop between its pieces. `step` is the name of the pieces for the watchdog. */
export async function inTurns<Result>(step: string, work: InPieces<Result>): Promise<Result> {
  for (;;) {
    announceStep(step);
    const { value, done } = work.next();
    if (done) return value;
    await new Promise(setImmediate);
  }
}

/** Runs all of the work at once. */
export function atOnce<Result>(work: InPieces<Result>): Result {
  for (;;) {
    const { value, done } = work.next();
    if (done) return value;
  }
}
