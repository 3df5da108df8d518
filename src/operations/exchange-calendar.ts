import { Type } from '@sinclair/typebox';
import { invalidArgument } from '../core/errors.ts';
import { closedDatesOf, FIRST_YEAR } from '../market/calendar.ts';
import { defineOperation } from './engine/operation.ts';
import { defaulted, integerField, objectOf } from './engine/schemas.ts';
import { dateColumn } from './engine/wrapped-schemas.ts';

const LAST_YEAR = 2100;
/** Maximum number of years of an answer. */
const YEARS_MAX = 60;

const year = (description: string, initial: number) =>
  defaulted(Type.Integer({ description, minimum: FIRST_YEAR, maximum: LAST_YEAR }), initial);

export const getExchangeCalendar = defineOperation({
  name: 'get_exchange_calendar',
  title: 'Calendar of the exchange',
  page: 'ticker',
  description:
    'The days other than Saturdays and Sundays on which the New York Stock Exchange is shut, and those on which it closes at 13:00, for whole ' +
    'years. On all other weekdays it is open from 09:30 to 16:00.',
  example: { from_year: 2026, to_year: 2027 },
  input: objectOf({
    from_year: year('First year.', 2000),
    to_year: year('Last year.', 2040),
  }),
  full: objectOf({
    from_year: integerField('First year.'),
    to_year: integerField('Last year.'),
    holidays: dateColumn('Weekdays without trading, YYYY-MM-DD, ascending.', 'holidays'),
    half_days: dateColumn('Days that close at 13:00 in New York, YYYY-MM-DD, ascending.', 'half_days'),
  }),
  rest: { method: 'GET', path: '/api/v1/calendar' },
  run({ from_year, to_year }) {
    if (to_year < from_year || to_year - from_year >= YEARS_MAX) {
      const expected = `must be a year from ${from_year} to ${Math.min(LAST_YEAR, from_year + YEARS_MAX - 1)}`;
      throw invalidArgument('/to_year', expected);
    }
    const years = Array.from({ length: to_year - from_year + 1 }, (_, i) => closedDatesOf(from_year + i));
    return {
      result: {
        from_year,
        to_year,
        holidays: years.flatMap(({ holidays }) => holidays),
        half_days: years.flatMap(({ halfDays }) => halfDays),
      },
    };
  },
});
