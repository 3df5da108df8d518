import { began } from '../../event-loop-watchdog.ts';

/** A turn of the event loop reads for so long and no longer; one page may take more. */
const TURN_MS = 4;
/** Each has a page to be written, whose time is not in that. */
const TURN_PIECES = 16;

/** Reading the log for streams that are behind. */
export interface ReplayTurns {
  /**
   * Does a piece of work when it is its account's turn: one piece of each account that waits, then the next of each. All together take half
   * of the time at most, however many streams wait.
   */
  take<Result>(accountId: string, work: () => Result): Promise<Result>;
}

export function createReplayTurns(): ReplayTurns {
  /** Pieces that wait, by account; whose turn is next, first. */
  const waiting = new Map<string, (() => void)[]>();
  let isDue = false;

  const run = (): void => {
    const startedAt = performance.now();
    let left = TURN_PIECES;
    began('live replay');
    for (const [accountId, pieces] of waiting) {
      waiting.delete(accountId);
      const piece = pieces.shift()!;
      // Behind the others, whom this very loop comes to first.
      if (pieces.length > 0) waiting.set(accountId, pieces);
      piece();
      if (--left === 0 || performance.now() - startedAt >= TURN_MS) break;
    }
    isDue = waiting.size > 0;
    // The rest of the service has as much time as this turn took.
    if (isDue) setTimeout(run, performance.now() - startedAt);
  };

  return {
    take(accountId, work) {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof work>>();
      const piece = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const pieces = waiting.get(accountId);
      if (pieces) pieces.push(piece);
      else waiting.set(accountId, [piece]);
      if (!isDue) setImmediate(run);
      isDue = true;
      return promise;
    },
  };
}
