import { DAY_MS } from '../market/calendar.ts';

/** Maximum time from the start of a contract's expiry date (UTC) to a print, ms. The second day covers time zones and late reports. */
export const AFTER_EXPIRY_MS_MAX = 2 * DAY_MS;
/** Maximum price of a print, dollars per share. No option costs more than its underlying, and no index with options exceeds `PRICE_MAX`. */
export const PRICE_MAX = 1e5;
/** Maximum size of a print, contracts. This number is larger than any open interest. */
export const SIZE_MAX = 1e7;
