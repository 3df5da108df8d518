import { ClientError } from '../../core/errors.ts';
import { DAY_MS } from '../../market/calendar.ts';
import { unreadable } from '../rejections.ts';
import { instantReader, type TimeForms } from './date-forms.ts';

/**
 * Throws a `ClientError` if the stated time of quotes, ms since the epoch, is more than a day before the last trade of an option: then the stated
 * time is wrong. `texts` are the times of the last trades in a column. Times that cannot be read prove nothing.
 */
export function assertAfterTrades(asOf: number, column: string, texts: ReadonlySet<string>, forms: TimeForms): void {
  const newest = newestOf(column, texts, forms);
  if (newest === undefined || newest - asOf <= DAY_MS) return;
  throw unreadable(
    `the stated time of the quotes is ${isoOf(asOf)}, but the newest last trade in column ${column} is of ${isoOf(newest)}. State the time at which the quotes were taken`,
  );
}

/** Returns the newest time of a column, ms since the epoch, or `undefined` if the column has none whose form is certain. */
function newestOf(column: string, texts: ReadonlySet<string>, forms: TimeForms): number | undefined {
  try {
    const instantOf = instantReader(column, texts, { ...forms, zone: forms.zone ?? 'America/New_York' });
    const times = [...texts].flatMap((text) => instantOf(text) ?? []);
    return times.length === 0 ? undefined : times.reduce((most, each) => Math.max(most, each), 0) / 1_000;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return undefined;
  }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
