import { ClientError } from '../core/errors.ts';

/** Maximum length of a reason, characters. Some reasons quote input, which may be long. */
const REASON_CHARS_MAX = 300;

/** Returns the `ClientError` for unreadable market data. A long reason is cut. */
export function unreadable(reason: string): ClientError {
  return new ClientError(
    'unprocessable',
    reason.length > REASON_CHARS_MAX ? `${reason.slice(0, REASON_CHARS_MAX)}…` : reason,
  );
}

/** Adds rejected rows to the counts in `refused`, under the reason of their rejection. */
export function countRejected(refused: Record<string, number>, reason: string, rows = 1): void {
  refused[reason] = (refused[reason] ?? 0) + rows;
}
