/** The length of a day of 24 hours, in ms. */
export const DAY_LENGTH_MS = 86_400_000;

/** Returns the date (`YYYY-MM-DD`) that is `days` days after a date. If `days` is negative, returns an earlier date. */
export function shiftedDate(date: string, days: number): string {
  return new Date(Date.parse(date) + days * DAY_LENGTH_MS).toISOString().slice(0, 10);
}

const [MONDAY, THURSDAY, FRIDAY] = [1, 4, 5];

/**
 * Returns whether the New York Stock Exchange opens on a date, `YYYY-MM-DD`. The function applies the holiday rules that are valid from
 * 2022 on. Charts use this function to distinguish days without data from days without trading. The function does not know closures outside
 * the holiday rules, such as days of mourning.
 */
export function isExchangeDay(date: string): boolean {
  const noon = new Date(`${date}T12:00:00Z`);
  const weekday = noon.getUTCDay();
  if (weekday < MONDAY || weekday > FRIDAY) return false;
  const [year, month, day] = [noon.getUTCFullYear(), noon.getUTCMonth() + 1, noon.getUTCDate()];
  // If a holiday is a Saturday, the exchange closes on the Friday before, unless that Friday is in the previous month. If a holiday is a
  // Sunday, the exchange closes on the Monday after.
  const isFixed = (ofMonth: number, ofDay: number) =>
    month === ofMonth &&
    (day === ofDay || (weekday === FRIDAY && day === ofDay - 1) || (weekday === MONDAY && day === ofDay + 1));
  const isNth = (ofMonth: number, ofWeekday: number, nth: number) =>
    month === ofMonth && weekday === ofWeekday && Math.ceil(day / 7) === nth;
  return !(
    isFixed(1, 1) ||
    isNth(1, MONDAY, 3) ||
    isNth(2, MONDAY, 3) ||
    (weekday === FRIDAY && noon.getTime() === easterNoon(year) - 2 * DAY_LENGTH_MS) ||
    (month === 5 && weekday === MONDAY && day > 24) ||
    isFixed(6, 19) ||
    isFixed(7, 4) ||
    isNth(9, MONDAY, 1) ||
    isNth(11, THURSDAY, 4) ||
    isFixed(12, 25)
  );
}

/** Returns whether trading ends at 13:00. These days are the day after Thanksgiving, and the days before Christmas and Independence Day. */
export function closesEarly(date: string): boolean {
  const noon = new Date(`${date}T12:00:00Z`);
  const [month, day, weekday] = [noon.getUTCMonth() + 1, noon.getUTCDate(), noon.getUTCDay()];
  if (weekday === FRIDAY) return month === 11 && Math.ceil((day - 1) / 7) === 4;
  return weekday >= MONDAY && weekday <= THURSDAY && ((month === 12 && day === 24) || (month === 7 && day === 3));
}

/** Returns 12:00 UTC on Easter Sunday, in ms since the epoch. The algorithm is by Meeus, Jones and Butcher. */
function easterNoon(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100];
  const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const n = h + l - 7 * Math.floor((a + 11 * h + 22 * l) / 451) + 114;
  return Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1, 12);
}

/** Returns the trading days between two dates, without the two dates. */
export function exchangeDaysBetween(after: string, before: string): string[] {
  const days: string[] = [];
  for (let date = shiftedDate(after, 1); date < before; date = shiftedDate(date, 1)) {
    if (isExchangeDay(date)) days.push(date);
  }
  return days;
}
