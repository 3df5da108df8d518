import type { Observe } from './events.ts';

/** A step that holds the event loop for longer delays every other request by as much. */
export const STEP_MS_MAX = 25;
/** Steps are timed to this, as long as anything is under way. */
const TICK_MS = 2;
/** After so long without a step the timer stops: a service at rest costs nothing. */
const REST_MS = 1_000;

/** Steps that were too long since the start. */
export interface Blocked {
  count: number;
  totalMs: number;
  longestMs: number;
}

export interface Watchdog {
  readonly blocked: Readonly<Blocked>;
  stop(): void;
}

let current: { mark(step?: string): void } | undefined;

/**
 * Says that a step of work begins: a request, a transaction, an analysis. If the event loop is then held for longer than STEP_MS_MAX,
 * this step is the one that is named. Does nothing in a process without a watchdog.
 */
export function began(step: string): void {
  current?.mark(step);
}

/**
 * Watches the event loop of this process, one watchdog at a time: each time that it was held for longer than STEP_MS_MAX is
 * counted and observed. A timer of TICK_MS runs from a step's begin until nothing has begun for REST_MS, so what is not announced is
 * noticed too, while anything else is under way.
 */
export function startWatchdog(observe: Observe): Watchdog {
  const blocked: Blocked = { count: 0, totalMs: 0, longestMs: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  /** When the loop was last seen to turn, or a step to begin. */
  let markedAt = 0;
  let beganAt = 0;
  let lastStep: string | undefined;
  /** Of this process, all threads, at the last tick, µs. */
  let cpuAtTick = 0;

  const mark = (step?: string): void => {
    const now = performance.now();
    if (timer === undefined) {
      timer = setInterval(tick, TICK_MS);
      cpuAtTick = cpuNow();
    } else {
      // The tick before may have been the whole of its pause ago.
      const held = now - markedAt - TICK_MS;
      if (held > STEP_MS_MAX) {
        blocked.count++;
        blocked.totalMs += held;
        blocked.longestMs = Math.max(blocked.longestMs, held);
        const cpuMs = Math.round((cpuNow() - cpuAtTick) / 1000);
        observe({ kind: 'event_loop_blocked', duration_ms: Math.round(held), cpu_ms: cpuMs, step: lastStep });
      }
    }
    markedAt = now;
    lastStep = step;
    if (step !== undefined) beganAt = now;
  };

  const tick = (): void => {
    mark();
    cpuAtTick = cpuNow();
    if (markedAt - beganAt < REST_MS) return;
    clearInterval(timer);
    timer = undefined;
  };

  const own = { mark };
  current = own;
  return {
    blocked,
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
