import { ClientError } from '../errors.ts';

/** Some reasons quote the input, which may have any length. */
const REASON_CHARS_MAX = 300;

/** The `ClientError` for market data from which nothing can be read, with the reason. */
export function unreadable(reason: string): ClientError {
  return new ClientError(
    'unprocessable',
    reason.length > REASON_CHARS_MAX ? `${reason.slice(0, REASON_CHARS_MAX)}…` : reason,
  );
}

/** Counts a rejected row by its reason. */
export function countRejected(refused: Record<string, number>, reason: string): void {
  refused[reason] = (refused[reason] ?? 0) + 1;
}
