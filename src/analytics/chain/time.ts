/** Time to settlement never counts as less: Greeks explode in the last minutes, and quotes are that old anyway. */
export const TTE_FLOOR_MS = 15 * 60_000;
