import { began } from '../event-loop-watchdog.ts';

/** A turn of the event loop does so much work and no more: sockets and other requests come between. One piece may take longer. */
const TURN_MS = 2;
/** Each has an answer to be written, whose time is not in that. */
const TURN_PIECES = 16;

/** Work of many accounts on one core. */
export interface Turns {
  /** Does a piece of work when it is its account's turn: one piece of each account that waits, then the next of each. */
  take<Result>(accountId: string, work: () => Result): Promise<Result>;
}

export function createTurns(): Turns {
  /** Pieces that wait, by account; whose turn is next, first. */
  const waiting = new Map<string, (() => void)[]>();

  let isDue = false;

  const run = (): void => {
    const startedAt = performance.now();
    let left = TURN_PIECES;
    for (const [accountId, pieces] of waiting) {
      waiting.delete(accountId);
      const piece = pieces.shift()!;
      // Behind the others, whom this very loop comes to first.
      if (pieces.length > 0) waiting.set(accountId, pieces);
      began('mcp call');
      piece();
      if (--left === 0 || performance.now() - startedAt >= TURN_MS) break;
    }
    isDue = waiting.size > 0;
    if (isDue) setImmediate(run);
  };

  return {
    take(accountId, work) {
      return new Promise((resolve, reject) => {
        const piece = () => {
          try {
            resolve(work());
          } catch (error) {
            reject(error);
          }
        };
        if (!isDue) setImmediate(run);
        isDue = true;
        const pieces = waiting.get(accountId);
        if (pieces) pieces.push(piece);
        else waiting.set(accountId, [piece]);
      });
    },
  };
}
