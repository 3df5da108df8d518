import { DAY_MS } from '../market/calendar.ts';

/** From the first moment of the expiry date, UTC: its own day, and another for zones and late reports. */
export const AFTER_EXPIRY_MS_MAX = 2 * DAY_MS;
/** Dollars per share: no option costs more than what it is about, and no index with options stands as high. */
export const PRICE_MAX = 1e5;
/** Contracts: more than any open interest. */
export const SIZE_MAX = 1e7;
