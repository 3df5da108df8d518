import { type TObject, Type } from '@sinclair/typebox';
import { invalidArgument } from '../../core/errors.ts';
import { isDate, newYorkInstant } from '../../market/calendar.ts';
import { type Context, hasPassed, type Operation } from './operation.ts';
import { documented, objectOf, textField } from './schemas.ts';

const MOMENT = 'a date YYYY-MM-DD of New York, or an instant such as 2026-11-20T16:00:00-05:00';

/** Matches times with an offset. Temporal also accepts years of six digits and names of time zones, which the calendar does not support. */
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Returns the schema of a text field for an instant or a date. `momentOf` parses the text. */
export const moment = (description: string) => momentText(`${description}: ${MOMENT}.`);

/** Returns the schema of an argument for an instant or a date, or one of some words in their place. */
export const momentText = (description: string, ...words: readonly string[]) =>
  documented(textField(description), words.length === 0 ? MOMENT_FORM : { anyOf: [{ enum: words }, MOMENT_FORM] });

const MOMENT_FORM = { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]{5,18}(Z|[+-][0-9]{2}:[0-9]{2}))?$' };

/** Parses an instant or a date, whose first or last moment is `end`. Throws `ClientError` (`invalid_parameter`), which names the `word` too. */
export function momentOf(text: string, field: string, end: 'first' | 'last', word?: string): number {
  if (isDate(text)) return newYorkInstant(text, end === 'first' ? '00:00' : '23:59:59.999');
  const instantMs = INSTANT.test(text) ? parseInstant(text) : undefined;
  if (instantMs === undefined)
    throw invalidArgument(field, `must be ${word ? `${word}, ` : ''}${MOMENT}`, offsetHint(text));
  return instantMs;
}

/** Returns the first and the last moment of a period, ms since the epoch. The first moment is undefined if `from` is undefined. */
export function rangeOf({ from, to }: { from?: string; to?: string }) {
  const fromMs = from === undefined ? undefined : momentOf(from, '/from', 'first');
  const toMs = to === undefined ? Number.MAX_SAFE_INTEGER : momentOf(to, '/to', 'last');
  if (fromMs !== undefined && fromMs > toMs) throw invalidArgument('/from', 'must not lie after /to');
  return { fromMs, toMs };
}

/** Returns a hint for a time with a space in place of the `+` of its offset. In a query, `+` stands for a space. */
function offsetHint(text: string): string | undefined {
  const [, offset] = WITHOUT_PLUS.exec(text) ?? [];
  return offset && `Write the offset as +${offset}, and in a query as %2B${offset}.`;
}

const WITHOUT_PLUS = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18} ([0-9]{2}:[0-9]{2})$/;

function parseInstant(text: string): number | undefined {
  try {
    // Temporal rejects 30 February, but Date accepts it.
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return undefined;
  }
}

/** The schema of a replay's moment. The description is short, because models read this text once per market tool. */
const at = Type.Optional(momentText('Past moment: ISO 8601 or New York date (its end).'));

/** Returns the schema of an operation's arguments, with the moment of a replay, `at`, if the operation reads the market. */
export function withMoment(operation: Operation, input: TObject): TObject {
  if (!operation.ofMarket) return input;
  return objectOf({ ...input.properties, at });
}

/**
 * Returns the context of a replay, without data or time after the moment `at`, so that its answers never change. Throws `ClientError`
 * (`invalid_parameter`) if `at` is invalid or in the future.
 */
export function contextAt(context: Context, at: string): Context {
  const instantMs = momentOf(at, '/at', 'last');
  if (!hasPassed(instantMs, context))
    throw invalidArgument('/at', 'must not be in the future; a date means the end of that day');
  return { ...context, market: context.market.at(instantMs), nowMs: () => instantMs, cacheClock: undefined };
}
