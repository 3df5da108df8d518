import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FAULTS, type FaultName } from './trial-faults.ts';
import { writeDrops } from './trial-feed.ts';
import { startLoad } from './trial-load.ts';
import { changeMembers } from './trial-members.ts';
import { idsGivenTwice, invented, lacking, mirrorFaults, outdated, streamFaults } from './trial-model.ts';
import { TrialServers } from './trial-servers.ts';
import { startWitness } from './trial-witness.ts';

/** A fault of a trial, and the pause after it, ms. */
export interface Step {
  readonly fault: FaultName;
  readonly ms: number;
  readonly which?: number;
  readonly restMs: number;
}

/** What a trial has found. */
export interface Findings {
  /** What must not be. */
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, unknown>>;
}

const KEYS = 6;
/** Members and rows of the audit trail that a fail-over to a standby that is behind may lose are those of this time, ms. */
const POLL_MS = 5_000;

/** Runs three servers under load, with faults one after another, and checks all that they did. Leaves nothing behind. */
export async function runTrial(steps: readonly Step[], onFault: (text: string) => void = () => {}): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-trial-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  await using _ = stack;
  const trial = stack.use(await TrialServers.start(folder));
  const witness = stack.adopt(await startWitness(trial), (each) => each.stop().catch(() => {}));
  const drops = stack.adopt(writeDrops(trial.drops), (each) => each.stop());
  const members = stack.adopt(await changeMembers(trial, KEYS), (each) => each.close());
  await waitFor(() => new Set(witness.accepted.map(({ ticker }) => ticker)).size === 3, 20_000);
  await Bun.sleep(1_000);
  const load = stack.adopt(startLoad(trial.front, members.keys), (each) => each.stop());
  const soundness = watchSoundness(trial);
  stack.defer(() => soundness.stop());
  const faults: string[] = [];
  const perFault: Record<string, unknown>[] = [];
  let mayLose = false;
  await Bun.sleep(1_000);
  for (const { fault, ms, which = 0, restMs } of steps) {
    const beganMs = performance.now();
    const leases = witness.leases.length;
    const leaseFrom = await leaseMoves(trial);
    onFault(`${fault} ${ms}`);
    mayLose ||= fault === 'fail-over to a standby that is behind';
    await FAULTS[fault](trial, ms, which);
    const endedMs = performance.now();
    faults.push(...(await mirrorFaults(trial, trial.replicas, endedMs)).map((each) => `after ${fault}: ${each}`));
    const equalMs = Math.round(performance.now() - endedMs);
    await Bun.sleep(restMs);
    const taken = witness.leases[leases];
    const broken = load.streams.flatMap(({ breaks }) => breaks.filter(({ endedMs: at }) => at >= beganMs));
    const backMs = broken.map(({ endedMs: at, backMs: back }) => Math.round((back ?? Number.POSITIVE_INFINITY) - at));
    const figure = {
      fault,
      tookMs: Math.round(endedMs - beganMs),
      equalMs,
      leaseMs: taken && Math.round(taken.seenMs - beganMs),
      streams: broken.length,
      backMs: Math.max(0, ...backMs),
      failed: load.failures.length,
    };
    perFault.push(figure);
    onFault(JSON.stringify(figure));
    if (figure.backMs > 5_000) faults.push(`after ${fault}, a stream was back after ${figure.backMs} ms`);
    void leaseFrom;
  }
  await members.stop();
  await drops.stop();
  // The feed reads the last files at its next poll.
  for (let left = await lacking(trial, drops); left.length > 0; left = await lacking(trial, drops)) {
    if (performance.now() > (stopAt ??= performance.now() + 3 * POLL_MS)) {
      faults.push(...left.slice(0, 5), `${left.length} of the feed are lacking or double`);
      break;
    }
    await Bun.sleep(200);
  }
  stopAt = undefined;
  await Bun.sleep(1_500);
  faults.push(...(await mirrorFaults(trial, trial.replicas, performance.now())));
  if (process.env.TRIAL_DEBUG) {
    const rows = await trial.primary.query(
      "select underlying, as_of, seq::text, advanced, kept_at, log_place::text from zomma.levels where underlying='SPY' order by as_of",
      'zomma',
    );
    for (const r of rows) console.log(r.as_of, r.seq, r.advanced, r.kept_at, r.log_place);
    for (const a of witness.accepted.filter((x) => x.ticker === 'SPY'))
      console.log('acc', a.asOf, a.place, Math.round(a.seenMs));
  }
  await load.stop();
  await witness.stop();
  const differences = (await Promise.all(trial.replicas.map((each) => members.differences(each)))).flat();
  if (!mayLose) faults.push(...differences, ...members.faults);
  const lost = await witness.lost();
  if (!mayLose && lost > 0) faults.push(`${lost} appends were lost`);
  const events = load.streams.flatMap((each) => each.events);
  faults.push(...load.failures, ...witness.faults, ...idsGivenTwice(load.streams));
  faults.push(...invented(drops, [...load.answers, ...events]).slice(0, 5));
  const old = outdated(load.answers, witness.accepted, soundness.isSound);
  faults.push(...old.slice(0, 5), ...(old.length > 5 ? [`${old.length} outdated answers`] : []));
  load.streams.forEach((stream, i) =>
    faults.push(
      ...streamFaults(stream, witness.accepted, mayLose)
        .slice(0, 5)
        .map((each) => `stream ${i}: ${each}`),
    ),
  );
  return {
    faults,
    figures: {
      perFault,
      requests: load.counts,
      failed: load.failures.length,
      retriedMcp: load.retried(),
      answersChecked: load.answers.length,
      events: events.length,
      accepted: witness.accepted.length,
      lostAppends: lost,
      lostMembers: differences.length / 3,
      members: members.counts,
    },
  };
}

let stopAt: number | undefined;

async function leaseMoves(trial: TrialServers): Promise<string | undefined> {
  return (await trial.leader())?.name;
}

async function waitFor(holds: () => boolean, ms: number): Promise<void> {
  for (const untilMs = performance.now() + ms; !holds(); await Bun.sleep(50))
    if (performance.now() > untilMs) throw new Error('the feed has delivered nothing');
}

/** Records when servers were disturbed. */
function watchSoundness(trial: TrialServers) {
  const seen: { readonly atMs: number; readonly sound: ReadonlyMap<string, number> }[] = [];
  const look = () =>
    seen.push({ atMs: performance.now(), sound: new Map(trial.replicas.map((each) => [each.name, each.soundFromMs])) });
  look();
  const timer = setInterval(look, 50);
  return {
    /** Returns whether a server was sound from some seconds before a time until another. */
    isSound(server: string, fromMs: number, toMs: number): boolean {
      return seen
        .filter(({ atMs }) => atMs >= fromMs - 100 && atMs <= toMs + 100)
        .every(({ sound }) => sound.get(server)! + SETTLE_MS <= fromMs);
    },
    stop: () => clearInterval(timer),
  };
}

/** After a disturbance, a server has this time until it has what the database has, ms. */
const SETTLE_MS = 5_000;
