/** Time to settlement counts as at least this. Greeks explode in the last minutes, and quotes are that old anyway. */
export const TTE_FLOOR_MS = 15 * 60_000;
