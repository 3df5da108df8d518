import { Failure } from '../errors.ts';

/** Of something offered as market data nothing can be taken, for this reason. */
export function unreadable(reason: string): Failure {
  return new Failure('unprocessable', reason);
}

/** Counts rows left out, by reason. */
export function countRefused(refused: Record<string, number>, reason: string): void {
  refused[reason] = (refused[reason] ?? 0) + 1;
}
