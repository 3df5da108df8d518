/** Maximum random wait before the next try if `failures` is 0, ms. */
const BACKOFF_MS = 1_000;
/** Maximum random wait before the next try after many failures, ms. */
const BACKOFF_MS_MAX = 30_000;

/** Returns the wait before the next try, ms. The wait is random, below a bound that doubles with each failure ("full jitter"). */
export function backoffMs(failures: number, random: () => number): number {
  return random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** failures);
}

/** Returns the wait from a `Retry-After` header, ms. Returns `undefined` if the header contains neither seconds nor an HTTP date. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** The format of an HTTP date: `Fri, 20 Nov 2026 21:00:00 GMT`. `Date.parse` also accepts other formats, and guesses their meaning. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
