import { beforeAll, expect, test } from 'bun:test';
import { testNeeding } from '../support/needs.ts';
import { hasPostgres } from '../support/postgres.ts';
import { buildBinary } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';
import { type Findings, LEADER_FAULTS, LEASE_MS, runTrial } from './trial/trial.ts';
import { FAULTS, type FaultName, type Step, scheduleOf } from './trial/trial-faults.ts';

/**
 * Three servers of the compiled binary behind haproxy, with faults of servers, networks and Postgres, under load. A model checks all that they
 * did (trial/trial-model.ts). `bun run test:cluster` runs the long form. ZOMMA_CLUSTER_SEED=7 runs the schedule of a seed, and 7,8,9 those of
 * several on the same servers.
 */
const missing = [...(hasPostgres ? [] : ['postgresql']), ...(Bun.which('haproxy') === null ? ['haproxy'] : [])];
// Most of the time, servers wait, so the two quick trials run at once.
const form = IS_LONG ? test : test.concurrent;
const testTrial = testNeeding(missing.length === 0, `not installed: ${missing.join(', ')}`, form);
const SEEDS = process.env.ZOMMA_CLUSTER_SEED?.split(',').map(Number);

/** How long each fault lasts, ms: in the long form, and in the quick one. */
const LENGTHS: Readonly<Record<FaultName, readonly [long: number, quick: number]>> = {
  'kill of a follower': [2_000, 200],
  'kill of the leader': [8_000, 500],
  'kill of the engine': [20_000, 2_000],
  'pause of the engine': [10_000, 1_000],
  'fail-over to a synchronous standby': [0, 0],
  'pause of the leader': [30_000, 8_000],
  'pause of a follower': [30_000, 1_000],
  'cut of a follower': [15_000, 2_000],
  'fail-over to a standby that is behind': [2_000, 2_000],
  'cut of the leader': [15_000, 5_000],
  'restart of one server after the other': [0, 0],
  'cut of a follower, and later a kill of the leader': [15_000, 6_000],
};
/** Faults that only the long form has by themselves. The quick schedules have them. */
const LONG_ONLY: readonly FaultName[] = [
  'pause of the engine',
  'pause of a follower',
  'cut of the leader',
  'cut of a follower, and later a kill of the leader',
];

beforeAll(() => buildBinary() as Promise<void>, 240_000);

function show({ faults, steps, figures, log }: Findings): void {
  if (faults.length > 0) console.log(log);
  for (const each of steps) console.log(JSON.stringify(each));
  console.log(JSON.stringify(figures));
}

testTrial(
  'no read fails, no stream loses an event and nothing is stored twice, whatever fails',
  async () => {
    const names = (Object.keys(LENGTHS) as FaultName[]).filter((name) => IS_LONG || !LONG_ONLY.includes(name));
    expect(Object.keys(LENGTHS).toSorted()).toEqual(Object.keys(FAULTS).toSorted());
    const steps = names.map(
      (name): Step => ({
        faults: [{ name, ms: LENGTHS[name][IS_LONG ? 0 : 1], which: 0 }],
        restMs: IS_LONG ? 8_000 : 0,
      }),
    );
    const findings = await runTrial(steps);
    show(findings);
    expect(findings.faults).toEqual([]);
    for (const { faults, leaseMs } of findings.steps) {
      if (LEADER_FAULTS.some((name) => faults.startsWith(name)))
        expect([faults, leaseMs! < LEASE_MS]).toEqual([faults, true]);
    }
  },
  IS_LONG ? 600_000 : 120_000,
);

/** Numbers of schedules, and the length of one, ms. The quick ones run on the same servers. */
const [SCHEDULES, LENGTH_MS] = IS_LONG ? [60, 20_000] : [6, 2_000];
const chosen = SEEDS
  ? [SEEDS]
  : IS_LONG
    ? Array.from({ length: SCHEDULES }, (_, i) => [i + 1])
    : [Array.from({ length: SCHEDULES }, (_, i) => i + 1)];

for (const seeds of chosen) {
  testTrial(
    `the schedules of ZOMMA_CLUSTER_SEED=${seeds} do no harm`,
    async () => {
      const findings = await runTrial(seeds.flatMap((seed) => scheduleOf(seed, LENGTH_MS)));
      show(findings);
      expect({ seeds, faults: findings.faults }).toEqual({ seeds, faults: [] });
    },
    180_000,
  );
}
