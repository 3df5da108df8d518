export const DAY_MS = 86_400_000;
/** T counts 365.25 days a year. */
export const YEAR_MS = 365.25 * DAY_MS;
/** Time to settlement never counts as less: Greeks explode in the last minutes, and quotes are that old anyway. */
export const TTE_FLOOR_MS = 15 * 60_000;
