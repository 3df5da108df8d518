import { setTimeout } from 'node:timers/promises';

/** The source of time and of random numbers. Tests pass their own clock. */
export interface Clock {
  /** Returns the present time, ms since the epoch. */
  now(): number;
  /** Returns the time since an arbitrary moment, ms. Unlike `now`, this time never steps when the clock of the machine is set. */
  elapsed(): number;
  /** Waits for `ms` milliseconds, or until `signal` is aborted. Never rejects. */
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /** Returns a random number in [0, 1). */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  random: Math.random,
  // The promise of `setTimeout` rejects if the signal is aborted.
  pause: (ms, signal) => setTimeout(ms, undefined, signal && { signal }).catch(() => {}),
};
