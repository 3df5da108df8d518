/** The shortest time that a second try is worth, and the longest that one waits. */
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 30_000;

/** How long to wait before trying again after so many failures: any time up to a bound that doubles ("full jitter"), ms. */
export function backoffMs(failures: number, random: () => number): number {
  return random() * Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** failures);
}

/** What a `Retry-After` header asks for, seconds or an HTTP date, as ms from now; undefined where it says nothing. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** `Fri, 20 Nov 2026 21:00:00 GMT`; other texts `Date.parse` would guess at. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
