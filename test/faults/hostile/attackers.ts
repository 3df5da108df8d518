import { openAccess, openData } from '../../../src/server/stored-data.ts';
import type { Battle } from './battle.ts';
import { FLOODS } from './floods.ts';
import { NONSENSE } from './nonsense.ts';
import { STREAM_ATTACKS } from './streams.ts';

/** How much longer attacks may take to get all answers that they must get. */
const GIVE_UP_MS = 30_000;

/**
 * `bun test/faults/hostile/attackers.ts URL DATA_DIR SECONDS ENDPOINT SESSION_ID` runs every attack at once from this process, each with
 * its own members. The last two arguments are the victim's sessions. It writes the results of the attacks to stdout as JSON.
 */
const [url, dataDir, seconds, endpoint, sessionId] = process.argv.slice(2) as [string, string, string, string, string];
const store = openData(dataDir);
const access = openAccess(store, dataDir);
const endsAt = performance.now() + 1_000 * Number(seconds);
const givesUpAt = endsAt + GIVE_UP_MS;
/** Attacks that have not got all answers that they must get. */
const unmet = new Map<string, Set<string>>();
const isOver = () => performance.now() >= (unmet.size === 0 ? endsAt : givesUpAt);

const attacks = [...STREAM_ATTACKS, ...FLOODS, ...NONSENSE].map(async ({ name, members, meets, run }, attack) => {
  const seen: Record<string, number> = {};
  const missing = new Set(meets);
  if (missing.size > 0) unmet.set(name, missing);
  const uuids = Array.from(
    { length: members },
    (_, i) => `00000000-0000-4000-9000-${String(100 * attack + i).padStart(12, '0')}`,
  );
  const battle: Battle = {
    url,
    targets: await Promise.all(uuids.map(async (uuid) => ({ url, key: (await access.addMember({ uuid })).apiKey }))),
    victim: { endpoint, sessionId },
    isOver,
    async revoke() {
      for (const uuid of uuids) await access.revoke(uuid);
    },
    count(what) {
      seen[what] = (seen[what] ?? 0) + 1;
      if (missing.delete(String(what)) && missing.size === 0) unmet.delete(name);
    },
  };
  await run(battle);
  return { name, seen };
});
console.log(JSON.stringify(await Promise.all(attacks)));
store.close();
process.exit(0);
