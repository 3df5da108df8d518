import { began } from '../event-loop-watchdog.ts';

/** Work that stops where others may have their turn, each piece of some milliseconds, and gives its result in the end. */
export type InPieces<Result> = Generator<void, Result, void>;

/** Contracts of a piece. */
export const PIECE_ROWS = 2_000;

/** Does the work with a turn of the event loop between its pieces; `step` is their name for the watchdog. */
export async function inTurns<Result>(step: string, work: InPieces<Result>): Promise<Result> {
  for (;;) {
    began(step);
    const { value, done } = work.next();
    if (done) return value;
    await new Promise(setImmediate);
  }
}

/** Does all of it now. */
export function atOnce<Result>(work: InPieces<Result>): Result {
  for (;;) {
    const { value, done } = work.next();
    if (done) return value;
  }
}
