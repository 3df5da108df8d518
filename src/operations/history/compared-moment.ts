import { ClientError, invalidArgument } from '../../core/errors.ts';
import { closeOf, daysBetween, iso, lastQuoted, newYorkDate, previousTradingDay } from '../../market/calendar.ts';
import { momentOf } from '../engine/moment.ts';

/** The word for the close of the session before the compared data. */
export const PREVIOUS_CLOSE = 'previous_close';

/**
 * Parses the earlier moment of a comparison, and returns ms since the epoch. `afterMs` is the later moment, `what` is the compared data in the
 * plural, and `lastUntil` returns the moment of the last such data up to a moment. Throws `ClientError` if the text is invalid or not earlier.
 */
export function comparedMoment(
  text: string,
  argument: string,
  afterMs: number,
  what: string,
  lastUntil: (ms: number) => number | undefined,
): number {
  const previousClose = closeOf(previousTradingDay(newYorkDate(afterMs)));
  const beforeMs = text === PREVIOUS_CLOSE ? previousClose : momentOf(text, `/${argument}`, 'last', PREVIOUS_CLOSE);
  if (beforeMs < afterMs) return beforeMs;
  throw invalidArgument(
    `/${argument}`,
    `must be earlier than the compared ${what} of ${iso(afterMs)}`,
    lastUntil(previousClose) === undefined
      ? `No earlier ${what} are stored.`
      : `Use ${PREVIOUS_CLOSE} for the close before these ${what}.`,
  );
}

/**
 * Returns a note if the data of the moment `foundMs`, which a comparison uses, is one session older than the asked moment. Throws
 * `ClientError` if the data is older than that.
 *
 * A trader who asks for the previous close wants to know what a day has changed. Data of months ago answers another question, with figures that
 * look like the answer. The error therefore names the moment with which the caller can compare.
 */
export function reachNotes(name: string, argument: string, askedMs: number, foundMs: number, what: string): string[] {
  const [asked, found] = [sessionOf(askedMs), sessionOf(foundMs)];
  if (found < previousTradingDay(asked)) {
    const message = `No ${what} of ${name} are stored for ${asked}: the last ones before it are ${daysBetween(found, asked)} days older`;
    throw new ClientError('unprocessable', message, {
      hint: `To compare with them, set ${argument} to ${iso(foundMs)}.`,
    });
  }
  return found === asked ? [] : [`No ${what} are stored for ${asked}. The comparison is with those of ${found}.`];
}

/** Returns the date of the session whose quotes are the newest at a moment, YYYY-MM-DD. */
function sessionOf(ms: number): string {
  return newYorkDate(lastQuoted(ms));
}
