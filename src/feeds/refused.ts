import { Failure } from '../errors.ts';

/** Some reasons quote what was offered, which may be of any length. */
const REASON_CHARS_MAX = 300;

/** Of something offered as market data nothing can be taken, for this reason. */
export function unreadable(reason: string): Failure {
  return new Failure(
    'unprocessable',
    reason.length > REASON_CHARS_MAX ? `${reason.slice(0, REASON_CHARS_MAX)}…` : reason,
  );
}

/** Counts rows left out, by reason. */
export function countRefused(refused: Record<string, number>, reason: string): void {
  refused[reason] = (refused[reason] ?? 0) + 1;
}
