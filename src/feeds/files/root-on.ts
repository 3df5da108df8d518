import { nthWeekday } from '../../market/calendar.ts';
import { rootOfTicker } from '../../market/option-symbol.ts';

/** The root of an option without a symbol. Of the large indices' options, only those of the third Friday are AM-settled. */
export function rootOn(ticker: string, expiry: string): string {
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  return weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
