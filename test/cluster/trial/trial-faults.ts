import type { Replica, TrialServers } from './trial-servers.ts';

/** A fault. It resolves when it is over. `ms` is how long something is away, and `which` chooses among equal servers. */
type Fault = (trial: TrialServers, ms: number, which: number) => Promise<void>;

function killAndRestart(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  return trial.disturb([replica], async () => {
    await trial.kill(replica);
    await Bun.sleep(ms);
    await trial.startReplica(replica);
  });
}

function pause(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  const { pid } = replica.server!;
  return trial.disturb([replica], async () => {
    process.kill(pid, 'SIGSTOP');
    await Bun.sleep(ms);
    process.kill(pid, 'SIGCONT');
  });
}

function cut(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  return trial.disturb([replica], async () => {
    for (const link of replica.links) link.cut();
    await Bun.sleep(ms);
    for (const link of replica.links) link.heal();
  });
}

async function follower(trial: TrialServers, which: number): Promise<Replica> {
  const leader = await trial.nextLeader();
  return trial.replicas.filter((each) => each !== leader)[which % 2]!;
}

/** The faults of a server. */
export const SERVER_FAULTS = {
  'kill of the leader': async (trial, ms) => killAndRestart(trial, await trial.nextLeader(), ms),
  'kill of a follower': async (trial, ms, which) => killAndRestart(trial, await follower(trial, which), ms),
  'pause of the leader': async (trial, ms) => pause(trial, await trial.nextLeader(), ms),
  'pause of a follower': async (trial, ms, which) => pause(trial, await follower(trial, which), ms),
  'cut of the leader': async (trial, ms) => cut(trial, await trial.nextLeader(), ms),
  'cut of a follower': async (trial, ms, which) => cut(trial, await follower(trial, which), ms),
  async 'restart of one server after the other'(trial) {
    for (const replica of trial.replicas) {
      await trial.disturb([replica], async () => {
        const { code, stderr } = await replica.server!.stop('SIGTERM');
        replica.ended += stderr;
        replica.server = undefined;
        if (code !== 0) throw new Error(`${replica.name} ended with ${code}: ${stderr}`);
        await trial.startReplica(replica);
      });
    }
  },
  /** The streams of the leader move to a server that lacks the events of half the time. */
  async 'cut of a follower, and later a kill of the leader'(trial, ms, which) {
    const leader = await trial.nextLeader();
    const away = cut(trial, await follower(trial, which), ms);
    await Bun.sleep(ms / 2);
    await Promise.all([away, killAndRestart(trial, leader, ms / 2)]);
  },
} satisfies Record<string, Fault>;

/** The faults of Postgres. */
export const ENGINE_FAULTS = {
  'kill of the engine': (trial, ms) =>
    trial.disturb(trial.replicas, async () => {
      await trial.primary.kill();
      await Bun.sleep(ms);
      await trial.primary.resume();
    }),
  'pause of the engine': (trial, ms) =>
    trial.disturb(trial.replicas, async () => {
      trial.primary.freeze();
      await Bun.sleep(ms);
      trial.primary.thaw();
    }),
  async 'fail-over to a synchronous standby'(trial) {
    await trial.addStandby({ synchronous: true });
    await trial.failOver();
  },
  async 'fail-over to a standby that is behind'(trial, ms) {
    await trial.addStandby({ synchronous: false });
    const { primary, standby } = trial;
    const fromMs = performance.now();
    await standby!.query(`alter system set primary_conninfo = ''`);
    await standby!.query('select pg_reload_conf()');
    await primary.until('select count(*) = 0 as holds from pg_stat_replication');
    await Bun.sleep(ms);
    await trial.failOver();
    trial.tornTimes.push([fromMs, performance.now()]);
  },
} satisfies Record<string, Fault>;

export const FAULTS: Readonly<Record<FaultName, Fault>> = { ...SERVER_FAULTS, ...ENGINE_FAULTS };
export type FaultName = keyof typeof SERVER_FAULTS | keyof typeof ENGINE_FAULTS;

/** Faults that begin together, and the pause after them, ms. */
export interface Step {
  readonly faults: readonly { readonly name: FaultName; readonly ms: number; readonly which: number }[];
  readonly restMs: number;
}

/** Returns faults of some seconds, from a seed. */
export function scheduleOf(seed: number, lengthMs: number): Step[] {
  // SplitMix32: neighbouring seeds give unrelated numbers.
  let state = seed;
  const below = (n: number): number => {
    state = (state + 0x9e3779b9) | 0;
    let z = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) % n;
  };
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)]!;
  const names = { server: Object.keys(SERVER_FAULTS), engine: Object.keys(ENGINE_FAULTS) } as unknown as Names;
  const steps: Step[] = [];
  for (let leftMs = lengthMs; leftMs > 0; ) {
    const chosen = oneOf([[names.server], [names.server], [names.engine], [names.server, names.engine]]);
    const faults = chosen.map((each) => ({ name: oneOf(each), ms: 200 + below(lengthMs / 2), which: below(2) }));
    const restMs = below(4) * 500;
    steps.push({ faults, restMs });
    leftMs -= Math.max(...faults.map(({ ms }) => ms)) + restMs + 1_000;
  }
  return steps;
}

interface Names {
  readonly server: readonly (keyof typeof SERVER_FAULTS)[];
  readonly engine: readonly (keyof typeof ENGINE_FAULTS)[];
}
