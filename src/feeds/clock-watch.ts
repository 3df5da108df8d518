import { uptime } from 'node:os';
import { isBusy } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { Ledger } from '../core/ledger.ts';
import type { FeedLedger, KnownFeeds } from '../market/feed-ledger.ts';
import { SYSTEM_CLOCK } from './clock.ts';

/** The shortest difference that counts as a step of the clock, ms. Time synchronization corrects smaller differences gradually. */
export const CLOCK_STEP_MS_MIN = 2_000;
/** Interval between two checks of the clock, ms. */
const CHECK_MS = 1_000;

/** Three clocks of one machine, ms. */
export interface MachineTime {
  /** Time since the epoch. This clock steps when somebody sets it. */
  readonly now: number;
  /** Time since an arbitrary moment. This clock never steps, but stands still while the machine sleeps. */
  readonly elapsed: number;
  /** Time since the machine started, with the time that it slept. In whole seconds. */
  readonly uptime: number;
}

/** Returns how far the clock was set between two readings, ms. Returns 0 if the clock was not set, even if the machine slept. */
export function clockStepMs(from: MachineTime, to: MachineTime): number {
  // The uptime is rounded, so a difference of less than a second is not a sleep.
  const passed = Math.max(to.elapsed - from.elapsed, to.uptime - from.uptime - 1_000);
  const step = to.now - from.now - passed;
  return Math.abs(step) < CLOCK_STEP_MS_MIN ? 0 : Math.round(step);
}

export interface ClockWatchOptions {
  readonly store: Pick<KnownFeeds, 'feedStates'> & Ledger<FeedLedger>;
  readonly observe: Observe;
  readonly read?: () => MachineTime;
}

/**
 * Watches the clock of the machine. When the clock was set, corrects the moments that the service has written since its start, so that all
 * ages stay true, and reports the step. At the start, forgets moments in the future, which another run wrote while the clock was ahead.
 */
export function startClockWatch({ store, observe, read = readClocks }: ClockWatchOptions): {
  /** Resolves when a step, if there is one, is stored. */
  check(): Promise<void>;
  stop(): void;
} {
  let last = read();
  // The first step is one that another run did not see. Its moments in the future are wrong by an unknown time, so no moment is shifted.
  let sinceMs = Number.MAX_SAFE_INTEGER;
  const ahead = newestMoment(store) - last.now;
  /** The sum of the steps that are not stored yet, because another process holds the lock of the database. */
  let pendingMs = ahead >= CLOCK_STEP_MS_MIN ? -ahead : 0;
  const record = async (): Promise<void> => {
    const step = { sinceMs, byMs: pendingMs, nowMs: last.now };
    try {
      await store.write((tx) => tx.clockStepped(step));
    } catch (error) {
      if (!isBusy(error)) throw error;
      return;
    }
    sinceMs = sinceMs === Number.MAX_SAFE_INTEGER ? step.nowMs : sinceMs + step.byMs;
    pendingMs -= step.byMs;
  };
  if (pendingMs !== 0) report(observe, pendingMs);
  /** The writes happen one after another. */
  let recorded = record();
  const check = async (): Promise<void> => {
    const time = read();
    const byMs = clockStepMs(last, time);
    last = time;
    if (byMs !== 0) report(observe, byMs);
    pendingMs += byMs;
    recorded = recorded.then(() => (pendingMs === 0 ? undefined : record()));
    await recorded;
  };
  const timer = setInterval(() => void check(), CHECK_MS).unref();
  return { check, stop: () => clearInterval(timer) };
}

function report(observe: Observe, byMs: number): void {
  const by_s = Math.round(Math.abs(byMs) / 1_000);
  observe(byMs < 0 ? { kind: 'clock_set_back', by_s } : { kind: 'clock_set_forward', by_s });
}

function newestMoment(store: Pick<KnownFeeds, 'feedStates'>): number {
  const moments = store
    .feedStates()
    .flatMap(({ polledAt, completedAt, dataAt, tickers }) => [
      ...[polledAt, completedAt, dataAt],
      ...tickers.map(({ attemptedAt }) => attemptedAt),
    ]);
  return moments.reduce<number>((newest, each) => Math.max(newest, each ?? 0), 0);
}

function readClocks(): MachineTime {
  return { now: SYSTEM_CLOCK.now(), elapsed: SYSTEM_CLOCK.elapsed(), uptime: uptime() * 1_000 };
}
