import type { Observe } from './events.ts';

/** A step that holds the event loop for longer delays every other request by as much. */
export const STEP_MS_MAX = 25;
/** Interval of the timer that measures the loop. It runs only while work is under way. */
const TICK_MS = 2;
/** The timer stops after this long without a step, so that an idle service uses no CPU. */
const REST_MS = 1_000;

/** Steps longer than STEP_MS_MAX since the watchdog started. */
export interface Blocked {
  count: number;
  totalMs: number;
  longestMs: number;
}

export interface Watchdog {
  stop(): void;
}

let current: { began(step: string): void; readonly blocked: Readonly<Blocked> } | undefined;

/**
 * Says that a step of work begins: a request, a transaction, an analysis. If the event loop is then held for longer than STEP_MS_MAX,
 * this step is the one that is named. Does nothing in a process without a watchdog.
 */
export function began(step: string): void {
  current?.began(step);
}

/** What the watchdog of this process has counted; nothing without one. */
export function blockedSteps(): Readonly<Blocked> {
  return current?.blocked ?? { count: 0, totalMs: 0, longestMs: 0 };
}

/**
 * Watches the event loop of this process, one watchdog at a time: each time that it did not turn for longer than STEP_MS_MAX is counted
 * and observed, with the step that took most of that. A timer of TICK_MS runs from a step's begin until nothing has begun for REST_MS, so
 * that what is not announced is noticed too, while anything else is under way.
 */
export function startWatchdog(observe: Observe): Watchdog {
  const blocked: Blocked = { count: 0, totalMs: 0, longestMs: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  /** When the loop was last seen to turn, with what the process had used of the processors then, µs. */
  let tickedAt = 0;
  let cpuAtTick = 0;
  /** The step that is under way, and the longest since that tick. */
  let step: { readonly name: string | undefined; readonly at: number } = { name: undefined, at: 0 };
  let longest: { readonly name: string | undefined; readonly ms: number } = { name: undefined, ms: 0 };
  let lastBeganAt = 0;

  const enter = (name: string | undefined, now: number): void => {
    if (now - step.at > longest.ms) longest = { name: step.name, ms: now - step.at };
    step = { name, at: now };
  };

  const beginTurn = (now: number): void => {
    tickedAt = now;
    cpuAtTick = cpuNow();
    longest = { name: undefined, ms: 0 };
  };

  const tick = (): void => {
    const now = performance.now();
    enter(undefined, now);
    // The loop may have turned the whole of the timer's pause ago.
    const held = now - tickedAt - TICK_MS;
    if (held > STEP_MS_MAX) {
      blocked.count++;
      blocked.totalMs += held;
      blocked.longestMs = Math.max(blocked.longestMs, held);
      const cpuMs = Math.round((cpuNow() - cpuAtTick) / 1000);
      observe({ kind: 'event_loop_blocked', duration_ms: Math.round(held), cpu_ms: cpuMs, step: longest.name });
    }
    beginTurn(now);
    if (now - lastBeganAt < REST_MS) return;
    clearInterval(timer);
    timer = undefined;
  };

  const own = {
    blocked,
    began(name: string): void {
      const now = performance.now();
      lastBeganAt = now;
      if (timer === undefined) {
        timer = setInterval(tick, TICK_MS);
        step = { name: undefined, at: now };
        beginTurn(now);
      }
      enter(name, now);
    },
  };
  current = own;
  return {
    stop() {
      clearInterval(timer);
      if (current === own) current = undefined;
    },
  };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
