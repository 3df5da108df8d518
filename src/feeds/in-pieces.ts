import { announceStep } from '../core/event-loop-watchdog.ts';

/**
 * Work in pieces of some milliseconds each. The generator yields between two pieces, so that other work can run. The generator returns the
 * result of the work.
 */
export type InPieces<Result> = Generator<void, Result, void>;

/** Number of table rows that are read in one piece. */
export const PIECE_ROWS = 2_000;

/** Runs the work. The event loop gets a turn between two pieces. `step` is the name of the pieces for the watchdog. */
export async function inTurns<Result>(step: string, work: InPieces<Result>): Promise<Result> {
  for (;;) {
    announceStep(step);
    const { value, done } = work.next();
    if (done) return value;
    await new Promise(setImmediate);
  }
}

/** Runs all pieces of the work at once, without turns of the event loop. */
export function atOnce<Result>(work: InPieces<Result>): Result {
  for (;;) {
    const { value, done } = work.next();
    if (done) return value;
  }
}
