/** Time and random numbers. Tests pass their own. */
export interface Clock {
  /** ms since the epoch */
  now(): number;
  /** Waits for `ms`, or until `signal` is aborted, whichever comes first. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  random: Math.random,
  pause(ms, signal) {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    });
  },
};
