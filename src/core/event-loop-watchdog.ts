import type { Observe } from './events.ts';

/** The longest time for which a step may block the event loop, ms. A longer step delays every other request. */
export const STEP_MS_MAX = 25;
/** Default of `slowStepMs`, the duration above which a block of the event loop is logged, ms. */
export const SLOW_STEP_MS = 250;
/** Interval of the timer that measures the event loop, ms. The timer does not run while the service is idle. */
const TICK_MS = 2;
/** The timer stops if no step begins for this time, ms, so that an idle service uses no CPU. */
const REST_MS = 1_000;

/** Figures about the blocks of the event loop that were longer than STEP_MS_MAX, since the start of the watchdog. */
export interface Blocked {
  count: number;
  totalMs: number;
  longestMs: number;
}

let current: { announceStep(step: string): void; readonly blocked: Readonly<Blocked> } | undefined;

/**
 * Announces the start of a step of work: a request, a transaction, an analysis. If the step blocks the event loop for longer than
 * STEP_MS_MAX, the watchdog counts the block. Does nothing in a process without a watchdog.
 */
export function announceStep(step: string): void {
  current?.announceStep(step);
}

/** Returns the figures of this process's watchdog, or zeros if the process has no watchdog. */
export function blockedSteps(): Readonly<Blocked> {
  return current?.blocked ?? { count: 0, totalMs: 0, longestMs: 0 };
}

/**
 * Starts the one watchdog of this process. It counts every block of the event loop that is longer than STEP_MS_MAX, and reports a block
 * longer than `slowStepMs` with the longest step in it. Its timer runs from a step until no step has begun for REST_MS, so it also notices
 * work that was not announced in this time. `onTick` gets the delay of each tick, ms.
 */
export function startWatchdog(
  observe: Observe,
  {
    slowStepMs = SLOW_STEP_MS,
    onTick,
  }: { readonly slowStepMs?: number; readonly onTick?: (lateMs: number) => void } = {},
) {
  const blocked: Blocked = { count: 0, totalMs: 0, longestMs: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  /** The time of the last tick, ms. `cpuAtTick` is the CPU time that the process had used at the last tick, µs. */
  let tickedMs = 0;
  let cpuAtTick = 0;
  /** The current step, and the longest step after the last tick. */
  let step: { readonly name: string | undefined; readonly startedMs: number } = { name: undefined, startedMs: 0 };
  let longest: { readonly name: string | undefined; readonly ms: number } = { name: undefined, ms: 0 };
  let lastStepMs = 0;

  const beginStep = (name: string | undefined, now: number): void => {
    if (now - step.startedMs > longest.ms) longest = { name: step.name, ms: now - step.startedMs };
    step = { name, startedMs: now };
  };

  const resetInterval = (now: number): void => {
    tickedMs = now;
    cpuAtTick = cpuNow();
    longest = { name: undefined, ms: 0 };
  };

  const tick = (): void => {
    const now = performance.now();
    beginStep(undefined, now);
    // The wait of TICK_MS between two ticks does not count as blocked time.
    const blockedMs = now - tickedMs - TICK_MS;
    onTick?.(blockedMs);
    if (blockedMs > STEP_MS_MAX) {
      blocked.count++;
      blocked.totalMs += blockedMs;
      blocked.longestMs = Math.max(blocked.longestMs, blockedMs);
    }
    if (blockedMs > slowStepMs) {
      const cpuMs = Math.round((cpuNow() - cpuAtTick) / 1000);
      observe({ kind: 'event_loop_blocked', duration_ms: Math.round(blockedMs), cpu_ms: cpuMs, step: longest.name });
    }
    resetInterval(now);
    if (now - lastStepMs < REST_MS) return;
    clearInterval(timer);
    timer = undefined;
  };

  const watchdog = {
    blocked,
    announceStep(name: string): void {
      const now = performance.now();
      lastStepMs = now;
      if (timer === undefined) {
        timer = setInterval(tick, TICK_MS);
        step = { name: undefined, startedMs: now };
        resetInterval(now);
      }
      beginStep(name, now);
    },
  };
  current = watchdog;
  return {
    stop() {
      clearInterval(timer);
      if (current === watchdog) current = undefined;
    },
  };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
