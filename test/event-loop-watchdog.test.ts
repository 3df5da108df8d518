import { afterEach, beforeEach, expect, test } from 'bun:test';
import { began, blockedSteps, STEP_MS_MAX, startWatchdog, type Watchdog } from '../src/event-loop-watchdog.ts';
import type { Observation } from '../src/events.ts';

/** On the real event loop of this process. */
let told: Extract<Observation, { kind: 'event_loop_blocked' }>[];
let watchdog: Watchdog;
/** Asked for before anything blocks, so that a test need not guess when a step was told of. */
let observed: PromiseWithResolvers<void>;
beforeEach(() => {
  told = [];
  observed = Promise.withResolvers();
  watchdog = startWatchdog((observation) => {
    if (observation.kind !== 'event_loop_blocked') return;
    told.push(observation);
    observed.resolve();
  });
});
afterEach(() => watchdog.stop());

function work(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

const BLOCKING_MS = 3 * STEP_MS_MAX;

test('a step that holds the event loop is counted and told of, with its name and the work of the processors', async () => {
  began('a long step');
  work(BLOCKING_MS);
  await observed.promise;
  expect(told[0]).toMatchObject({ kind: 'event_loop_blocked', step: 'a long step' });
  expect(told[0]!.duration_ms).toBeGreaterThanOrEqual(BLOCKING_MS - STEP_MS_MAX);
  expect(told[0]!.cpu_ms).toBeGreaterThan(0);
  expect(blockedSteps().count).toBe(told.length);
  expect(blockedSteps().longestMs).toBeGreaterThanOrEqual(BLOCKING_MS - STEP_MS_MAX);
});

test('of several steps in one turn the longest is named, though each is short enough', async () => {
  began('first');
  work(0.1 * STEP_MS_MAX);
  began('longest');
  work(0.9 * STEP_MS_MAX);
  began('last');
  work(0.3 * STEP_MS_MAX);
  await observed.promise;
  expect(told[0]!.step).toBe('longest');
});

test('what is not announced is noticed while anything else is under way, and has no name', async () => {
  began('short');
  await Bun.sleep(10);
  work(BLOCKING_MS);
  await observed.promise;
  expect(told.at(-1)!.step).toBeUndefined();
});

test('work that lets the event loop turn is not told of', async () => {
  for (let turn = 0; turn < 20; turn++) {
    began('a short step');
    work(2);
    await new Promise(setImmediate);
  }
  // A machine that has no time for this process holds the loop too, without its working.
  expect(told.filter(({ cpu_ms }) => cpu_ms > STEP_MS_MAX)).toEqual([]);
});

test('once stopped, nothing is watched', async () => {
  watchdog.stop();
  began('a long step');
  work(BLOCKING_MS);
  await Bun.sleep(10);
  expect([told, blockedSteps().count]).toEqual([[], 0]);
});
