import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULTS, type FaultName, type Step } from './trial-faults.ts';
import { TICKERS, writeDrops } from './trial-feed.ts';
import { type Load, startLoad } from './trial-load.ts';
import { changeMembers } from './trial-members.ts';
import { idsGivenTwice, invented, lacking, mirrorFaults, outdated, streamFaults } from './trial-model.ts';
import { TrialServers } from './trial-servers.ts';
import { startWitness } from './trial-witness.ts';

/** What a trial has found. */
export interface Findings {
  /** What must not be. */
  readonly faults: readonly string[];
  readonly steps: readonly StepFigures[];
  readonly figures: Readonly<Record<string, unknown>>;
  /** The logs of the servers, without single requests. */
  readonly log: string;
}

/** What a step has caused. Times are ms since its beginning, if they name no other. */
export interface StepFigures {
  readonly faults: string;
  readonly at: string;
  readonly tookMs: number;
  /** Time after the end of the faults until all mirrors were equal. */
  readonly equalAfterMs: number;
  /** When another process was seen to hold the lease. Undefined if none did. */
  readonly leaseMs: number | undefined;
  readonly brokenStreams: number;
  /** The longest time of a stream from its end until it was back. */
  readonly backAfterMs: number;
  /** When the last stream was back. */
  readonly allBackMs: number;
}

/** Accounts, each with a reader and a stream. */
const ACCOUNTS = 9;
/** What a server logs after a fail-over that lost changes of members. */
const LOST = /"message":"writes_lost".*?"members":(\d+)/g;
/** The limit of the time for which a stream is away, ms. */
const BACK_MS = 5_000;
/** Time in which the feed reads the last files, ms: it looks every five seconds. */
const READ_MS = 15_000;
/** Of one kind of finding, this many are shown. */
const SHOWN = 4;

/** Runs three servers under load, with faults one after another, and checks all that they did. Leaves nothing behind. */
export async function runTrial(steps: readonly Step[]): Promise<Findings> {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'zomma-trial-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const trial = resources.use(await TrialServers.start(folder));
  const witness = resources.adopt(await startWitness(trial), (each) => each.stop());
  const drops = resources.adopt(writeDrops(trial.drops), (each) => each.stop());
  const members = resources.adopt(await changeMembers(trial, ACCOUNTS), (each) => each.close());
  await holds(READ_MS, async () => TICKERS.every((ticker) => witness.accepted.some((each) => each.ticker === ticker)));
  // Snapshots are there, and all servers have them.
  await mirrorFaults(trial, performance.now());
  const load = resources.adopt(startLoad(trial.front, members.keys), (each) => each.stop());
  const soundness = resources.adopt(watchSoundness(trial), (each) => each.stop());
  const faults: string[] = [];
  const stepFigures: StepFigures[] = [];
  const report = (kind: string, found: readonly string[]): void => {
    faults.push(...found.slice(0, SHOWN).map((each) => `${kind}: ${each}`));
    if (found.length > SHOWN) faults.push(`${kind}: ${found.length} in all`);
  };
  for (const { faults: given, restMs } of steps) {
    const beganMs = performance.now();
    const at = new Date().toISOString();
    const leases = witness.leases.length;
    await Promise.all(given.map(({ name, ms, which }) => FAULTS[name](trial, ms, which)));
    const endedMs = performance.now();
    const names = given.map(({ name, ms }) => `${name} (${ms} ms)`).join(' with ');
    report(`mirrors after ${names}`, await mirrorFaults(trial, endedMs));
    const equalAfterMs = Math.round(performance.now() - endedMs);
    await Bun.sleep(restMs);
    if (given.some(({ name }) => /of the leader$|^fail-over/.test(name)))
      await holds(LEASE_MS - (performance.now() - beganMs), async () => witness.leases.length > leases);
    const leaseAt = witness.leases[leases]?.seenMs;
    await holds(BACK_MS, async () =>
      load.streams.every(({ breaks }) => breaks.every((each) => each.backMs !== undefined)),
    );
    const broken = breaksSince(load, beganMs);
    stepFigures.push({
      faults: names,
      at,
      tookMs: Math.round(endedMs - beganMs),
      equalAfterMs,
      leaseMs: leaseAt && Math.round(leaseAt - beganMs),
      brokenStreams: broken.length,
      backAfterMs: Math.round(Math.max(0, ...broken.map((each) => each.backMs - each.endedMs))),
      allBackMs: Math.round(Math.max(0, ...broken.map((each) => each.backMs - beganMs))),
    });
  }
  await members.stop();
  await drops.stop();
  await holds(READ_MS, async () => (await lacking(trial, drops)).length === 0);
  report('feed', await lacking(trial, drops));
  await holds(BACK_MS, async () => (await unseen()).length === 0);
  report('mirrors at the end', await mirrorFaults(trial, performance.now()));
  await load.stop();
  await witness.stop();
  soundness.stop();
  report('members', [
    ...members.faults,
    ...(await Promise.all(trial.replicas.map((each) => members.differences(each)))).flat(),
  ]);
  const reported = trial.replicas.flatMap(({ log }) => [...log.matchAll(LOST)].map(([, count]) => Number(count)));
  const { lost: lostMembers } = members.counts;
  if (lostMembers > 0 && !reported.some((count) => count > 0))
    report('members', [`the log says nothing of ${lostMembers} lost changes`]);
  const lostAppends = await witness.lost();
  const mayLose = trial.tornTimes.length > 0;
  if (!mayLose && lostAppends > 0) report('log', [`${lostAppends} appends were lost`]);
  report('log', witness.faults);
  report('streams', [...idsGivenTwice(load.streams), ...(await unseen())]);
  report('requests', load.failures);
  const events = load.streams.flatMap((each) => each.events);
  report('answers', invented(drops, [...load.answers, ...events]));
  const kept = await witness.kept();
  report('answers', outdated(load.answers, kept, soundness.isSound));
  report(
    'streams',
    stepFigures
      .filter((each) => each.backAfterMs > BACK_MS)
      .map((each) => `back after ${each.backAfterMs} ms: ${each.faults}`),
  );
  return {
    faults,
    log: trial.replicas.map((each) => `${each.name}:\n${each.log}`).join('\n'),
    steps: stepFigures,
    figures: {
      ...{ requests: load.counts, failed: load.failures.length, postsOfMcpThatFailedOnce: load.retried() },
      ...{ answersChecked: load.answers.length, events: events.length, snapshots: kept.length },
      ...{ lostAppends, members: members.counts },
    },
  };

  async function unseen(): Promise<string[]> {
    const stored = await witness.kept();
    return load.streams.flatMap((each, i) =>
      streamFaults(each, stored, trial.tornTimes.length > 0).map((text) => `${i}: ${text}`),
    );
  }
}

/** Time in which another server leads after the loss of the leader, ms. */
export const LEASE_MS = 10_000;

/** The faults after which another server has to lead. */
export const LEADER_FAULTS: readonly FaultName[] = ['kill of the leader', 'pause of the leader', 'cut of the leader'];

function breaksSince({ streams }: Load, sinceMs: number) {
  return streams.flatMap(({ breaks }) =>
    breaks
      .filter(({ endedMs }) => endedMs >= sinceMs)
      .map(({ endedMs, backMs }) => ({ endedMs, backMs: backMs ?? Number.POSITIVE_INFINITY })),
  );
}

/** Waits until a condition holds, for at most some time. */
async function holds(ms: number, condition: () => Promise<boolean>): Promise<void> {
  for (const untilMs = performance.now() + ms; !(await condition()) && performance.now() < untilMs; )
    await Bun.sleep(50);
}

/** After a disturbance, a server has this time until it has what the database has, ms. */
const SETTLE_MS = 5_000;
const LOOK_MS = 50;

/** Records when servers were disturbed. */
function watchSoundness({ replicas }: TrialServers) {
  const looks: { readonly atMs: number; readonly soundFromMs: ReadonlyMap<string, number> }[] = [];
  const look = () =>
    looks.push({
      atMs: performance.now(),
      soundFromMs: new Map(replicas.map((each) => [each.name, each.soundFromMs])),
    });
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    /** Returns whether nothing disturbed a server between two times, nor some seconds before. */
    isSound: (server: string, fromMs: number, toMs: number): boolean =>
      looks
        .filter(({ atMs }) => atMs >= fromMs - 2 * LOOK_MS && atMs <= toMs + 2 * LOOK_MS)
        .every(({ soundFromMs }) => soundFromMs.get(server)! + SETTLE_MS <= fromMs),
    stop: () => clearInterval(timer),
  };
}
