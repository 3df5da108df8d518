import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observation } from '../../src/core/events.ts';
import { type PastFillDeps, startPastFill } from '../../src/feeds/past-fill.ts';
import { createSimulatedFeed } from '../../src/feeds/simulated/simulated-feed.ts';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { openData } from '../../src/server/stored-data.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { childrenOf } from '../support/process.ts';

/** The process that fills the past, with small tickers, beside a service that has the same data folder open. */
const UNIVERSE = '{"themes":{"few":["UUP","CHPT"]}}';
const ALWAYS = [0, Number.MAX_SAFE_INTEGER] as const;

let folder: string;
let store: Store;
let observations: Observation[];
let fill: ReturnType<typeof startPastFill> | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zomma-past-'));
  writeFileSync(join(folder, 'universe.json'), UNIVERSE);
  store = openData(join(folder, 'data'));
  store.openFeeds([createSimulatedFeed({ seed: 1, universe: loadUniverse(UNIVERSE) })]);
  store.sumPrintsFrom(100_000);
  observations = [];
});
afterEach(async () => {
  await fill?.stop();
  fill = undefined;
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(deps: Partial<PastFillDeps> = {}): void {
  const job = { dataDir: join(folder, 'data'), dataMax: undefined, seed: 1, universe: join(folder, 'universe.json') };
  fill = startPastFill({
    job: { ...job, largePrintMinUsd: 100_000 },
    tickerInView: () => 'CHPT',
    loaded: Promise.resolve(),
    observe: (each) => observations.push(each),
    ...deps,
  });
}

const kinds = () => observations.map(({ kind }) => kind);
const rowsOf = (ticker: string) => store.levels(ticker, store.levelTimes(ticker, ...ALWAYS, 'snapshot', true), true);
const idsOf = (ticker: string) => rowsOf(ticker).map(({ asOf }) => store.chainIdAt(ticker, true, asOf));
/** Waits until a condition holds, which the process brings about. */
async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !holds(); await Bun.sleep(5)) {
    if (Date.now() > deadline) throw new Error(`not reached: ${JSON.stringify(observations)}`);
  }
}
/** The fillers are the only child processes of the test. */
const fillers = () => childrenOf(process.pid);

test('fills the past beside the service, logs its progress and ends; a later start has nothing to do', async () => {
  const total = 2 * pastMoments(newestSimulated(Date.now())).length;
  start();
  await until(() => rowsOf('CHPT').length > 0);
  // A terminal sends the signal of Ctrl+C to the filler too. The service ends the filler, so the filler ignores the signal.
  for (const pid of fillers()) process.kill(pid, 'SIGINT');
  await until(() => kinds().includes('past_filled'));
  expect(kinds()).not.toContain('past_failed');
  expect(observations.at(-1)).toMatchObject({ kind: 'past_filled', snapshots: total });
  const filling = observations.filter((each) => each.kind === 'past_filling');
  expect(filling[0]).toMatchObject({ total });
  expect(filling.length).toBeLessThanOrEqual(10);
  expect(rowsOf('UUP').length + rowsOf('CHPT').length).toBe(total);
  expect(rowsOf('UUP').every(({ atmIv30d }) => atmIv30d !== null)).toBe(true);
  await until(() => fillers().length === 0);
  await fill!.stop();

  observations = [];
  let version = store.version();
  start();
  await until(() => store.version() !== version);
  version = store.version();
  await fill!.stop();
  expect(kinds()).toEqual([]);
});

test('a filler that is killed is reported, and the next start continues without writing a snapshot twice', async () => {
  start();
  await until(() => rowsOf('CHPT').length > 0);
  for (const pid of fillers()) process.kill(pid, 'SIGKILL');
  await until(() => kinds().includes('past_failed'));
  expect(observations.at(-1)).toMatchObject({ kind: 'past_failed', error: 'the process ended (SIGKILL)' });
  const ids = idsOf('CHPT');
  await fill!.stop();
  start();
  await until(() => kinds().includes('past_filled'));
  expect(idsOf('CHPT').filter((id) => ids.includes(id))).toEqual(ids);
});

test('writes nothing before the feed has delivered the present, and stops at once', async () => {
  const loaded = Promise.withResolvers<void>();
  start({ loaded: loaded.promise });
  await until(() => existsSync(join(folder, 'data/zomma.sqlite')));
  const [pid] = fillers();
  expect(pid).toBeNumber();
  await fill!.stop();
  expect([fillers(), store.snapshots(), kinds()]).toEqual([[], [], []]);
});

test('the reason of a failure is reported', async () => {
  rmSync(join(folder, 'universe.json'));
  start();
  await until(() => kinds().includes('past_failed'));
  expect(observations).toMatchObject([{ kind: 'past_failed', error: expect.stringContaining('universe.json') }]);
});
