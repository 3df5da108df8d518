import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { clockStepMs, type MachineTime, startClockWatch } from '../../src/feeds/clock-watch.ts';
import { openStore } from '../../src/store/sqlite.ts';

const HOUR_MS = 3_600_000;
const START = Date.parse('2026-11-24T15:00:00Z');

/** A machine whose clock can be set and that can sleep. Time passes only when the test says so. */
function machine() {
  const time = { now: START, elapsed: 5_000, up: 900_400 };
  return {
    read: (): MachineTime => ({ ...time, uptime: Math.floor(time.up / 1_000) * 1_000 }),
    pass: (ms: number) => {
      for (const key of ['now', 'elapsed', 'up'] as const) time[key] += ms;
    },
    set: (byMs: number) => {
      time.now += byMs;
    },
    sleep: (ms: number) => {
      time.now += ms;
      time.up += ms;
    },
  };
}

test.each<[string, number, (each: ReturnType<typeof machine>) => void]>([
  ['that nobody sets', 0, () => {}],
  ['that is synchronized gradually', 0, (each) => each.set(400)],
  ['of a machine that slept for an hour', 0, (each) => each.sleep(HOUR_MS)],
  ['that is set back', -2 * HOUR_MS, (each) => each.set(-2 * HOUR_MS)],
  ['that is set forward', 24 * HOUR_MS, (each) => each.set(24 * HOUR_MS)],
])('a clock %s steps by %d ms', (_, expected, change) => {
  const each = machine();
  const from = each.read();
  each.pass(1_700);
  change(each);
  expect(clockStepMs(from, each.read())).toBe(expected);
});

function watched(prepare: (store: ReturnType<typeof openStore>) => void = () => {}) {
  const clock = machine();
  const store = openStore(':memory:', () => clock.read().now);
  store.openFeeds([{ name: 'files', simulated: false, tickers: ['SPY'] }]);
  prepare(store);
  const seen: Observation[] = [];
  const watch = startClockWatch({ store, observe: (each) => void seen.push(each), read: clock.read });
  watch.stop();
  const poll = () => {
    const at = clock.read().now;
    const fresh = { asOf: START - HOUR_MS, isFresh: true, expected: 9, received: 9, refused: {} };
    store.pollBegan('files', at);
    store.snapshotReceived({ feed: 'files', ticker: 'SPY', at, ...fresh });
    store.rejected({ feed: 'files', origin: 'b.csv', reason: 'garbled', ticker: null, at });
    store.connection('files', true, at, null);
    store.pollEnded({ feed: 'files', beganAt: at, endedAt: at, nextAt: at + 5_000, error: null });
  };
  /** The ages of all recorded moments, ms. */
  const ages = () => {
    const { polledAt, completedAt, nextAt, dataAt, connection, refusals, tickers } = store.feedStates()[0]!;
    const { attemptedAt, freshAt } = tickers[0]!;
    return [polledAt, completedAt, nextAt! - 5_000, dataAt, connection!.at, refusals[0]!.at, attemptedAt, freshAt].map(
      (moment) => moment && clock.read().now - moment,
    );
  };
  return { clock, store, seen, watch, poll, ages };
}

test.each([-5, -2, -30, 24])(
  'the age of every recorded moment stays true if the clock is set by %d hours',
  async (hours) => {
    const { clock, store, seen, watch, poll, ages } = watched();
    poll();
    clock.pass(7_000);
    clock.set(hours * HOUR_MS);
    await watch.check();
    clock.pass(3_000);
    await watch.check();
    expect(ages()).toEqual(Array(8).fill(10_000));
    const by_s = Math.abs(hours) * 3_600;
    expect(seen).toEqual([{ kind: hours < 0 ? 'clock_set_back' : 'clock_set_forward', by_s }]);
    expect(store.clockSteps()).toEqual([{ at: START + 7_000 + hours * HOUR_MS, byMs: hours * HOUR_MS }]);
    // A second step moves the same moments again.
    clock.set(-hours * HOUR_MS);
    await watch.check();
    expect(ages()).toEqual(Array(8).fill(10_000));
  },
);

test('moments that another run wrote in the future are forgotten at the start, and the step is told', () => {
  const { store, seen } = watched((before) => {
    const at = START + 5 * HOUR_MS;
    const fresh = { asOf: START - HOUR_MS, isFresh: true, expected: 9, received: 9, refused: {} };
    before.snapshotReceived({ feed: 'files', ticker: 'SPY', at, ...fresh });
    before.pollEnded({ feed: 'files', beganAt: at, endedAt: at, nextAt: at, error: null });
  });
  expect(seen).toEqual([{ kind: 'clock_set_back', by_s: 18_000 }]);
  expect(store.feedStates()).toMatchObject([
    { polledAt: null, completedAt: null, dataAt: null, tickers: [{ attemptedAt: null, freshAt: null, received: 9 }] },
  ]);
});

test('moments from before the start stay, because the clock may have been right then', async () => {
  const before = START - 600_000;
  const { clock, store, watch } = watched((each) =>
    each.pollEnded({ feed: 'files', beganAt: before, endedAt: before, nextAt: before, error: null }),
  );
  clock.set(-60_000);
  await watch.check();
  expect(store.feedStates()[0]!.polledAt).toBe(before);
});

test('a step during a lock of the database is stored at the next check', async () => {
  const { clock, store, watch, poll, ages } = watched();
  poll();
  let [isLocked, hasStarted] = [true, false];
  const busy = startClockWatch({
    store: {
      feedStates: store.feedStates,
      async write(work) {
        if (isLocked && hasStarted) throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
        return work(store);
      },
    },
    observe: () => {},
    read: clock.read,
  });
  hasStarted = true;
  busy.stop();
  watch.stop();
  clock.pass(1_000);
  clock.set(-HOUR_MS);
  await busy.check();
  isLocked = false;
  clock.pass(1_000);
  await busy.check();
  expect(ages()).toEqual(Array(8).fill(2_000));
});
