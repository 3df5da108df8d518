import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type App, createContext, type DataSettings, openAccess, openData, readUniverse } from './app.ts';
import type { Ports, Settings } from './cli/ports.ts';
import { deliveriesOf } from './feeds/files/deliveries.ts';
import { loadFiles } from './feeds/load-files.ts';
import { bridge } from './mcp/stdio/bridge.ts';
import { type ServeSettings, serve } from './serve.ts';
import { type StdioSettings, serveStdio } from './serve-stdio.ts';
import { openStore, type Store } from './store/sqlite.ts';

/** What the command line can do on this machine. */
export const ports: Ports = {
  serve: (settings, { demo }) => serve(settings as unknown as ServeSettings, demo ? welcomeDemo : undefined),

  serveStdio: (settings) => serveStdio(settings as unknown as StdioSettings),

  bridge,

  readFile: (path) =>
    deliveriesOf(dirname(path), { origin: basename(path), stats: statSync(path) }, { nowMs: Date.now() }),

  load: (settings, paths, reached) =>
    openedFor(settings, (store) => loadFiles(paths, { store, nowMs: Date.now, reached })),

  async withMarket(settings, work) {
    const data = settings as unknown as DataSettings;
    // Asking a question makes no data folder: where there is none, nothing is stored.
    const store = existsSync(data.dataDir) ? openData(data.dataDir) : openStore(':memory:');
    try {
      // Real data where there is any: the simulated market answers only where nothing else can.
      const simulated = store.underlyings(false).length === 0;
      return work(createContext(data, store, readUniverse(data.universe), simulated));
    } finally {
      store.close();
    }
  },

  withStore: (settings, work) => openedFor(settings, (store) => work(store)),

  withMembers: (settings, work) => openedFor(settings, (store, dataDir) => work(openAccess(store, dataDir), store)),
};

async function openedFor<T>(settings: Settings, work: (store: Store, dataDir: string) => T | Promise<T>): Promise<T> {
  const dataDir = String(settings.dataDir);
  const store = openData(dataDir);
  try {
    return await work(store, dataDir);
  } finally {
    store.close();
  }
}

/** Makes the demo member where there is none yet, and prints its key with a first request. */
function welcomeDemo({ store, access, feeds }: App, url: string): void {
  const known = store.members().find(({ tier }) => tier === 'demo');
  const { apiKey } = access.addMember({ uuid: known?.uuid ?? crypto.randomUUID(), tier: 'demo' });
  process.stdout.write(`demo key: ${apiKey}\n`);
  process.stdout.write(`try: curl -H 'X-API-Key: ${apiKey}' ${url}/api/v1/nodes/gex/SPY\n`);
  if (feeds.every(({ simulated }) => simulated)) process.stdout.write('The market is simulated: no real quotes.\n');
}
