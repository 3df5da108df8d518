import type { Access } from '../../../src/access/access.ts';
import { visitCluster } from '../../../src/cluster/visit-cluster.ts';
import { openAccess } from '../../../src/server/stored-data.ts';
import { PASSWORD } from '../../support/postgres.ts';
import type { Replica, TrialServers } from './trial-servers.ts';

/** What was acknowledged of a member. `isUnknown`: a change failed, and the database may have it or not. */
interface KnownMember {
  readonly uuid: string;
  readonly keys: { readonly key: string; isValid: boolean }[];
  isUnknown: boolean;
  /** When changes were acknowledged, ms of `performance.now()`. */
  readonly changes: number[];
}

export interface Members {
  /** Keys of members who stay. */
  readonly keys: readonly string[];
  /** Answers to keys that were no longer or not yet right. */
  readonly faults: readonly string[];
  /** The numbers of changes: acknowledged, not acknowledged, and checked at a server a second later. `lost`: undone by a fail-over. */
  readonly counts: { changed: number; refused: number; checked: number; lost: number };
  /** Returns the keys whose acknowledged state a server does not have, without the lost ones. */
  differences(replica: Replica): Promise<string[]>;
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** A revoked key is refused everywhere within this time, ms. */
const EVERYWHERE_MS = 1_000;
/** A server that got no processor time for so long in these seconds proves nothing, ms. */
const STARVED_MS = 200;
/** Pause between two changes, ms. */
const PAUSE_MS = 500;

/** Adds, re-keys and revokes members as the commands do, until `stop`, and asks each server whether it knows. */
export async function changeMembers(trial: TrialServers, count: number): Promise<Members> {
  const dataDir = trial.makeFolder('command');
  const visit = await visitCluster({ dataDir, store: trial.store, storePassword: PASSWORD });
  const access: Access = openAccess(visit.store, dataDir);
  const faults: string[] = [];
  const members: KnownMember[] = [];
  const counts = { changed: 0, refused: 0, checked: 0, lost: 0 };
  let isStopped = false;
  const add = async (): Promise<KnownMember> => {
    const uuid = crypto.randomUUID();
    const { apiKey } = await access.addMember({ uuid });
    const member = { uuid, keys: [{ key: apiKey, isValid: true }], isUnknown: false, changes: [performance.now()] };
    members.push(member);
    return member;
  };
  const admits = async ({ url }: Replica, key: string): Promise<boolean | undefined> => {
    const response = await fetch(`${url}/api/v1/universe`, { headers: { 'X-API-Key': key } }).catch(() => undefined);
    await response?.text();
    return response === undefined || response.status >= 500 ? undefined : response.status === 200;
  };
  const isTorn = ({ changes }: KnownMember): boolean =>
    trial.tornTimes.some(([fromMs, toMs]) => changes.some((ms) => ms >= fromMs && ms <= toMs));
  /** Asks all servers that have been sound since a change, a second after it. */
  const check = async (member: KnownMember): Promise<void> => {
    const changedMs = member.changes.at(-1)!;
    await Bun.sleep(Math.max(0, changedMs + EVERYWHERE_MS - performance.now()));
    const asked = member.keys.flatMap(({ key, isValid }) =>
      trial.replicas.map(async (replica) => {
        if (replica.soundFromMs > changedMs) return;
        const { soundFromMs } = replica;
        const admitted = await admits(replica, key);
        if (admitted === undefined || replica.soundFromMs > changedMs || member.changes.at(-1) !== changedMs) return;
        counts.checked++;
        if (admitted === isValid || member.isUnknown || isTorn(member)) return;
        const at = new Date().toISOString();
        // A process without processor time reports it when it has some again.
        await Bun.sleep(EVERYWHERE_MS);
        const starvedMs = replica.starvedMs(Date.now() - 3 * EVERYWHERE_MS);
        if (starvedMs > STARVED_MS) return;
        const sinceMs = Math.round(changedMs - soundFromMs);
        const what = `${admitted ? 'admits' : 'refuses'} a key a second after its change`;
        faults.push(
          `${replica.name} ${what}, at ${at}, ${sinceMs} ms after the last disturbance, without ${starvedMs} ms of its processor`,
        );
      }),
    );
    await Promise.all(asked);
  };
  const keys = await Promise.all(Array.from({ length: count }, async () => (await add()).keys[0]!.key));
  const checking: Promise<void>[] = [];
  const change = async (n: number): Promise<void> => {
    const member = members.at(-1)!;
    let changed = member;
    try {
      if (n % 3 === 0) changed = await add();
      else if (n % 3 === 1) {
        const { apiKey } = await access.rekey(member.uuid);
        for (const each of member.keys) each.isValid = false;
        member.keys.push({ key: apiKey, isValid: true });
      } else {
        await access.revoke(member.uuid);
        for (const each of member.keys) each.isValid = false;
      }
      changed.changes.push(performance.now());
      counts.changed++;
      checking.push(check(changed));
    } catch {
      // The database is away. Whether it has the change is not known.
      if (n % 3 !== 0) member.isUnknown = true;
      counts.refused++;
    }
  };
  const running = (async () => {
    for (let n = 0; !isStopped; n++) {
      await change(n);
      await Bun.sleep(PAUSE_MS);
    }
  })();
  return {
    ...{ keys, faults, counts },
    async differences(replica) {
      const known = members.filter(({ isUnknown }) => !isUnknown);
      const wrong = await Promise.all(
        known.map(async (member) => {
          const states = await Promise.all(member.keys.map(({ key }) => admits(replica, key)));
          return member.keys.some(({ isValid }, i) => states[i] !== isValid);
        }),
      );
      const different = known.filter((_, i) => wrong[i]);
      counts.lost = different.filter(isTorn).length;
      return different
        .filter((member) => !isTorn(member))
        .map(({ uuid }) => `${replica.name} has another state of the member ${uuid}`);
    },
    async stop() {
      isStopped = true;
      await running;
      await Promise.all(checking);
    },
    close: () => visit.close(),
  };
}
