import type { Replica, TrialServers } from './trial-servers.ts';

/** A fault. It resolves when nothing is wrong any more. `ms` is how long something is away. */
export type Fault = (trial: TrialServers, ms: number, which: number) => Promise<void>;

const sleep = (ms: number) => Bun.sleep(ms);

async function killAndRestart(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  await trial.kill(replica);
  await sleep(ms);
  await trial.startReplica(replica);
}

async function freeze(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  const { pid } = replica.server!;
  trial.disturb(replica);
  process.kill(pid, 'SIGSTOP');
  await sleep(ms);
  process.kill(pid, 'SIGCONT');
  trial.mended(replica);
}

async function cut(trial: TrialServers, replica: Replica, ms: number): Promise<void> {
  trial.disturb(replica);
  for (const link of replica.links) link.cut();
  await sleep(ms);
  for (const link of replica.links) link.heal();
  trial.mended(replica);
}

async function follower(trial: TrialServers, which: number): Promise<Replica> {
  const leader = await trial.nextLeader();
  return trial.replicas.filter((each) => each !== leader)[which % 2]!;
}

export const FAULTS = {
  'kill of the leader': async (trial, ms) => killAndRestart(trial, await trial.nextLeader(), ms),
  'kill of a follower': async (trial, ms, which) => killAndRestart(trial, await follower(trial, which), ms),
  'kill of the engine': async (trial, ms) => {
    trial.disturb(...trial.replicas);
    await trial.primary.kill();
    await sleep(ms);
    await trial.primary.resume();
    trial.mended(...trial.replicas);
  },
  'pause of the engine': async (trial, ms) => {
    trial.disturb(...trial.replicas);
    trial.primary.freeze();
    await sleep(ms);
    trial.primary.thaw();
    trial.mended(...trial.replicas);
  },
  'pause of the leader': async (trial, ms) => freeze(trial, await trial.nextLeader(), ms),
  'pause of a follower': async (trial, ms, which) => freeze(trial, await follower(trial, which), ms),
  'cut of the leader': async (trial, ms) => cut(trial, await trial.nextLeader(), ms),
  'cut of a follower': async (trial, ms, which) => cut(trial, await follower(trial, which), ms),
  'fail-over to a synchronous standby': async (trial) => {
    await trial.addStandby({ synchronous: true });
    await trial.failOver();
  },
  'fail-over to a standby that is behind': async (trial, ms) => {
    await trial.addStandby({ synchronous: false });
    await trial.standby!.query(`alter system set primary_conninfo = ''`);
    await trial.standby!.query('select pg_reload_conf()');
    await trial.primary.until('select count(*) = 0 as holds from pg_stat_replication');
    await sleep(ms);
    await trial.failOver();
  },
  'restart of one server after the other': async (trial) => {
    for (const replica of trial.replicas) {
      trial.disturb(replica);
      const { code, stderr } = await replica.server!.stop('SIGTERM');
      replica.server = undefined;
      if (code !== 0) throw new Error(`${replica.name} ended with ${code}: ${stderr}`);
      await trial.startReplica(replica);
    }
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
