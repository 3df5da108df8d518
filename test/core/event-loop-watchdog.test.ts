import { afterEach, beforeEach, expect, mock, spyOn, test } from 'bun:test';
import { announceStep, blockedSteps, STEP_MS_MAX, startWatchdog } from '../../src/core/event-loop-watchdog.ts';
import type { Observation } from '../../src/core/events.ts';

/**
 * These tests run on the real event loop of this process. Where a test compares durations, the clock is the test's own, so that a busy machine
 * cannot lengthen a step.
 */
let reported: Extract<Observation, { kind: 'event_loop_blocked' }>[];
let watchdog: ReturnType<typeof startWatchdog>;
/** The latest tick. */
let mostLateMs: number;
let ticks = 0;
/** Resolves at the first reported step. Created before anything blocks, so that a test does not guess the moment. */
let observed: PromiseWithResolvers<void>;
beforeEach(() => {
  reported = [];
  mostLateMs = 0;
  observed = Promise.withResolvers();
  watchdog = startWatchdog(
    (observation) => {
      if (observation.kind !== 'event_loop_blocked') return;
      reported.push(observation);
      observed.resolve();
    },
    { slowStepMs: STEP_MS_MAX, onTick: noteTick },
  );
});
afterEach(() => {
  watchdog.stop();
  mock.restore();
});

function noteTick(lateMs: number): void {
  mostLateMs = Math.max(mostLateMs, lateMs);
  ticks++;
}

/** Waits until the watchdog has looked at the clock once more. */
async function ticked(): Promise<void> {
  for (const before = ticks; ticks === before; ) await Bun.sleep(1);
}

/** Stops the clock. Returns a function that advances it, ms. */
function stopClock(): (ms: number) => void {
  let now = performance.now();
  spyOn(performance, 'now').mockImplementation(() => now);
  return (ms) => {
    now += ms;
  };
}

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

const BLOCKING_MS = 3 * STEP_MS_MAX;
/** The time between two looks, which does not count as blocked. */
const TICK_MS = 2;

test('counts and reports a step that blocks the event loop, with its name and CPU time', async () => {
  announceStep('a long step');
  work(BLOCKING_MS);
  await observed.promise;
  expect(reported[0]).toMatchObject({ kind: 'event_loop_blocked', step: 'a long step' });
  expect(reported[0]!.duration_ms).toBeGreaterThanOrEqual(BLOCKING_MS - STEP_MS_MAX);
  expect(reported[0]!.cpu_ms).toBeGreaterThan(0);
  expect(blockedSteps().count).toBe(reported.length);
  expect(blockedSteps().longestMs).toBeGreaterThanOrEqual(BLOCKING_MS - STEP_MS_MAX);
});

test('tells how late each tick is, and reports only steps that are slow enough', async () => {
  const advance = stopClock();
  watchdog.stop();
  watchdog = startWatchdog(() => observed.resolve(), {
    slowStepMs: 10 * BLOCKING_MS,
    onTick: noteTick,
  });
  announceStep('a long step');
  advance(BLOCKING_MS);
  await ticked();
  expect(mostLateMs).toBe(BLOCKING_MS - TICK_MS);
  expect(blockedSteps().count).toBe(1);
  // Would be resolved by now, because the watchdog reports in the tick that counts.
  expect(await Promise.race([observed.promise.then(() => 'reported'), 'not reported'])).toBe('not reported');
});

test('names the longest of several steps in one turn, though each step is short enough', async () => {
  const advance = stopClock();
  announceStep('first');
  advance(0.1 * STEP_MS_MAX);
  announceStep('longest');
  advance(0.9 * STEP_MS_MAX);
  announceStep('last');
  advance(0.3 * STEP_MS_MAX);
  await observed.promise;
  expect(reported[0]!.step).toBe('longest');
});

test('notices unannounced work while other work runs, and reports it without a name', async () => {
  const advance = stopClock();
  announceStep('short');
  await ticked();
  advance(BLOCKING_MS);
  await observed.promise;
  expect(reported).toMatchObject([{ duration_ms: BLOCKING_MS - TICK_MS }]);
  expect(reported[0]!.step).toBeUndefined();
});

test('does not report work that lets the event loop turn', async () => {
  for (let turn = 0; turn < 20; turn++) {
    announceStep('a short step');
    work(2);
    await new Promise(setImmediate);
  }
  // A machine that gives this process no CPU time also blocks the loop, but the process does no work then.
  expect(reported.filter(({ cpu_ms }) => cpu_ms > STEP_MS_MAX)).toEqual([]);
});

test('watches nothing once it is stopped', async () => {
  watchdog.stop();
  announceStep('a long step');
  work(BLOCKING_MS);
  await Bun.sleep(10);
  expect([reported, blockedSteps().count]).toEqual([[], 0]);
});
