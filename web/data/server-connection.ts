import { signal } from '@preact/signals';

/** Whether the server answers. `since` is when it answered last, ms since the epoch by this computer's clock. */
export const connection = signal<{ isOnline: boolean; since: number; retryAt: number | null }>({
  isOnline: true,
  since: Date.now(),
  retryAt: null,
});

/** How far the server's clock is ahead of this computer's, ms. Ages are measured by the server's clock. */
export const clockOffsetMs = signal(0);

/** The present by the server's clock, ms since the epoch. It advances once a second while the page is visible. */
export const serverNow = signal(Date.now());

/** A difference below this is within the resolution of the Date field and the time that an answer takes. */
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
  // The moment of the last answer needs no precision, and every change of the signal draws the ribbon.
  if (!isOnline || Date.now() - since > 10_000) connection.value = { isOnline: true, since: Date.now(), retryAt: null };
}

/** `retryAt` is when the page tries again, ms since the epoch. */
export function noteUnanswered(retryAt: number | null = null): void {
  const { isOnline, since } = connection.value;
  connection.value = {
    isOnline: false,
    since: isOnline ? Date.now() : since,
    retryAt: retryAt ?? connection.value.retryAt,
  };
}

/** Starts the page's clock. A hidden page has no timer. */
export function startClock(): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = () => {
    serverNow.value = Date.now() + clockOffsetMs.value;
  };
  const follow = () => {
    clearInterval(timer);
    if (document.hidden) return;
    tick();
    timer = setInterval(tick, 1_000);
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}
