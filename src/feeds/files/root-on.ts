import { nthWeekday } from '../../market/calendar.ts';
import { rootOfTicker } from '../../market/option-symbol.ts';

/** The root where no symbol says it: of the large indices only the third Friday's options are the AM-settled ones. */
export function rootOn(ticker: string, expiry: string): string {
  const thirdFriday = nthWeekday(Number(expiry.slice(0, 4)), Number(expiry.slice(5, 7)), 5, 3);
  const weekly = WEEKLY_ROOTS[ticker];
  return weekly === undefined || expiry === thirdFriday ? rootOfTicker(ticker) : weekly;
}

const WEEKLY_ROOTS: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW' };
