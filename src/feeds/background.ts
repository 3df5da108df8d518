/** Maximum time that background work waits for clients to be answered, ms. It then completes on a busy server too. */
const BUSY_PAUSE_MS = 2_000;
const BUSY_CHECK_MS = 20;

export interface BackgroundOptions {
  /** Time from the call to the first run, ms. If omitted, the first run begins at once. */
  readonly afterMs?: number;
  /** Time from one run to the next, counted from the call, ms. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs `work` again and again. No run begins while another is in progress. `work` ends soon after `isStopped` returns true. `stop` resolves
 * when the current run has ended.
 */
export function runEvery(
  work: (isStopped: () => boolean) => Promise<unknown>,
  { afterMs, everyMs, onError }: BackgroundOptions,
): { stop(): Promise<void> } {
  let hasStopped = false;
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= Promise.try(work, () => hasStopped)
      .then(() => {}, onError)
      .finally(() => {
        running = undefined;
      });
  };
  let first: ReturnType<typeof setTimeout> | undefined;
  if (afterMs === undefined) run();
  else first = setTimeout(run, afterMs);
  const timer = setInterval(run, everyMs);
  return {
    async stop() {
      hasStopped = true;
      clearTimeout(first);
      clearInterval(timer);
      await running;
    },
  };
}

/** Resolves when no client waits for an answer. Also resolves after BUSY_PAUSE_MS, or when the work is stopped. */
export async function untilIdle(isAnswering: () => boolean, isStopped: () => boolean): Promise<void> {
  const until = performance.now() + BUSY_PAUSE_MS;
  while (isAnswering() && !isStopped() && performance.now() < until) await Bun.sleep(BUSY_CHECK_MS);
}
