import { signal } from '@preact/signals';

/**
 * The connection to the server. `since` is the time of the last answer, or of the first failed request while the server does not answer.
 * Times are in ms since the epoch, by this computer's clock.
 */
export const connection = signal<{ isOnline: boolean; since: number; retryAt: number | null }>({
  isOnline: true,
  since: Date.now(),
  retryAt: null,
});

/** The server's clock minus this computer's clock, in ms. The page computes ages by the server's clock. */
export const clockOffsetMs = signal(0);

/** The current time by the server's clock, in ms since the epoch. The signal changes once a second while the page is visible. */
export const serverNow = signal(Date.now());

/** Smaller differences between the clocks are ignored, because the `Date` field is in seconds and the request takes time. */
const SAME_CLOCK_MS = 2_000;

export function noteServerTime(dateField: string | null): void {
  const at = Date.parse(dateField ?? '');
  if (!Number.isFinite(at)) return;
  const offset = at + 500 - Date.now();
  if (Math.abs(offset - clockOffsetMs.value) > SAME_CLOCK_MS)
    clockOffsetMs.value = Math.abs(offset) > SAME_CLOCK_MS ? offset : 0;
}

export function noteAnswered(): void {
  const { isOnline, since } = connection.value;
  // The time of the last answer changes at most every 10 s, because each change of the signal renders the status ribbon.
  if (!isOnline || Date.now() - since > 10_000) connection.value = { isOnline: true, since: Date.now(), retryAt: null };
}

/** Records a failed request. The next attempt is at `retryAt`, in ms since the epoch. */
export function noteUnanswered(retryAt: number | null = null): void {
  const { isOnline, since, retryAt: known } = connection.value;
  connection.value = { isOnline: false, since: isOnline ? Date.now() : since, retryAt: retryAt ?? known };
}

/** Starts the timer that updates the server time. A hidden page has no timer. */
export function startClock(): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = () => (serverNow.value = Date.now() + clockOffsetMs.value);
  const follow = () => {
    clearInterval(timer);
    if (document.hidden) return;
    tick();
    timer = setInterval(tick, 1_000);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}
