import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Access } from './access/access.ts';
import type { App } from './app.ts';
import type { Ports, Settings } from './cli/ports.ts';
import type { ServeSettings } from './serve.ts';
import type { StdioSettings } from './serve-stdio.ts';
import type { Store } from './store/sqlite.ts';
import type { DataSettings } from './stored-data.ts';

/** What the command line can do on this machine. Each loads what it needs when it is asked for: most commands need no server. */
export const ports: Ports = {
  async serve(settings, { demo }) {
    const { serve } = await import('./serve.ts');
    await serve(settings as unknown as ServeSettings, demo ? welcomeDemo : undefined);
  },

  async serveStdio(settings) {
    const { serveStdio } = await import('./serve-stdio.ts');
    await serveStdio(settings as unknown as StdioSettings);
  },

  async bridge(server) {
    const { bridge } = await import('./mcp/stdio/bridge.ts');
    await bridge(server);
  },

  async *readFile(path) {
    const { deliveriesOf } = await import('./feeds/files/deliveries.ts');
    yield* deliveriesOf(dirname(path), { origin: basename(path) }, { nowMs: Date.now() }, true);
  },

  async load(settings, paths, reached) {
    const [{ loadFiles }, { createDataRoom }] = await Promise.all([
      import('./feeds/load-files.ts'),
      import('./feeds/data-room.ts'),
    ]);
    const { dataDir, dataMax } = settings as unknown as { dataDir: string; dataMax?: string };
    const room = createDataRoom({ dataDir, dataMax });
    return openedFor(settings, ({ store }) => loadFiles(paths, { store, nowMs: Date.now, room, reached }));
  },

  async withMarket(settings, work) {
    const { createContext, openData, openMemory, readUniverse } = await import('./stored-data.ts');
    const data = settings as unknown as DataSettings;
    // Asking a question makes no data folder: where there is none, nothing is stored.
    const store = existsSync(data.dataDir) ? openData(data.dataDir) : openMemory();
    try {
      // Real data where there is any: the simulated market answers only where nothing else can.
      const simulated = store.underlyings(false).length === 0;
      return work(createContext(data, store, readUniverse(data.universe), simulated));
    } finally {
      store.close();
    }
  },

  withStore: (settings, work) => openedFor(settings, ({ store }) => work(store)),

  withMembers: (settings, work) => openedFor(settings, ({ store, access }) => work(access(), store)),
};

interface Opened {
  readonly store: Store;
  readonly access: () => Access;
}

async function openedFor<T>(settings: Settings, work: (opened: Opened) => T | Promise<T>): Promise<T> {
  const { openAccess, openData } = await import('./stored-data.ts');
  const dataDir = String(settings.dataDir);
  const store = openData(dataDir);
  try {
    return await work({ store, access: () => openAccess(store, dataDir) });
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
