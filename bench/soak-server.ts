import { heapStats } from 'bun:jsc';
import { randomUUID } from 'node:crypto';
import { serve } from '../src/server/serve.ts';
import { openAccess, openData } from '../src/server/stored-data.ts';
import { parseSettings } from '../test/support/parse-settings.ts';

/**
 * `bun bench/soak-server.ts DATA_DIR DROP_FOLDER MEMBERS EVERY_MS` serves a drop folder. First prints the keys of its members as JSON. Then
 * prints its memory after a forced collection every EVERY_MS, as JSON lines.
 */
const [dataDir, drop, members, everyMs] = process.argv.slice(2) as [string, string, string, string];
const store = openData(dataDir);
const access = openAccess(store, dataDir);
const keys = await Promise.all(
  Array.from(
    { length: Number(members) },
    async () => (await access.addMember({ uuid: randomUUID(), tier: 'pro' })).apiKey,
  ),
);
store.close();
console.log(JSON.stringify({ keys }));
setInterval(() => {
  Bun.gc(true);
  const { heapSize, extraMemorySize, objectCount } = heapStats();
  console.log(
    JSON.stringify({ at: Date.now(), heapSize, extraMemorySize, objectCount, rss: process.memoryUsage.rss() }),
  );
}, Number(everyMs));
await serve(
  parseSettings({
    dataDir,
    feed: `files:${drop}`,
    port: '0',
    ops: '127.0.0.1:0',
    rateLimit: 'off',
    logLevel: 'warning',
  }),
);
process.exit(0);
