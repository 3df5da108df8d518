/** Maximum time that background work waits for the answers to clients, ms. Because of the maximum, the work completes on a busy server. */
const BUSY_PAUSE_MS = 2_000;
const BUSY_CHECK_MS = 20;

export interface BackgroundOptions {
  /** Time between the call of this function and the first run, ms. If omitted, the first run begins at once. */
  readonly afterMs?: number;
  /** Interval between the starts of two runs, ms. The first interval begins with the call of this function. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/** Runs `work` repeatedly, never twice at once. It must end soon after `isStopped` is true. `stop` waits for the current run. */
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

/** Resolves when no client is waiting for an answer. Also resolves after BUSY_PAUSE_MS, or when the work is stopped. */
export async function untilIdle(isAnswering: () => boolean, isStopped: () => boolean): Promise<void> {
  const until = performance.now() + BUSY_PAUSE_MS;
  while (isAnswering() && !isStopped() && performance.now() < until) await Bun.sleep(BUSY_CHECK_MS);
}
