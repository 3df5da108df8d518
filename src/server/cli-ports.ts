import { basename, dirname, resolve } from 'node:path';
import { version } from '../../package.json';
import type { Access } from '../access/access.ts';
import type { Ports } from '../cli/ports.ts';
import { COMMIT } from '../core/commit.ts';
import { OperatorError } from '../core/errors.ts';
import { ownCommand } from '../core/own-command.ts';
import { shellLine } from '../core/shell-line.ts';
import type { Store } from '../store/sqlite.ts';
import type { App } from './app.ts';

/** Number of shown digits of a commit. */
const COMMIT_DIGITS = 9;

/**
 * Creates the ports: the functions through which the commands use the server, the feeds and the store. A port loads its modules when it is
 * called, because most commands need no server. `nowMs` is the wall clock, ms since the epoch.
 */
export function createPorts(nowMs: () => number): Ports {
  return {
    nowMs,

    async versionLine() {
      const { SCHEMA } = await import('../store/folder/upgrade.ts');
      return `${version} (${COMMIT.slice(0, COMMIT_DIGITS)}, schema ${SCHEMA})`;
    },

    async settingFaults(settings) {
      return (await import('./setting-faults.ts')).settingFaults(settings);
    },

    async serve(settings, { demo }) {
      const { serve } = await import('./serve.ts');
      const { authorityPath } = await import('../http/internal-tls.ts');
      const authority = settings.tls === 'internal' ? resolve(authorityPath(settings.dataDir)) : undefined;
      const trial = { admit: admitTrial, welcome: (app: App, url: string) => welcomeDemo(app, url, authority) };
      await serve(settings, demo ? trial : undefined);
    },

    async serveStdio(settings) {
      const { serveStdio } = await import('./serve-stdio.ts');
      await serveStdio(settings);
    },

    async bridge(server) {
      const { bridge } = await import('../mcp/stdio/bridge.ts');
      await bridge(server);
    },

    async *readFile(path) {
      const { deliveriesOf } = await import('../feeds/files/deliveries.ts');
      yield* deliveriesOf(dirname(path), { origin: basename(path) }, { nowMs: nowMs() }, true);
    },

    async load(settings, paths, onProgress) {
      const { loadFiles } = await import('../feeds/load-files.ts');
      const { createDiskSpace } = await import('../feeds/disk-space.ts');
      const room = createDiskSpace(settings);
      return openedFor(settings.dataDir, undefined, ({ store }) =>
        loadFiles(paths, { store, nowMs, room, onProgress }),
      );
    },

    async withMarket(data, work) {
      const { createContext, hasData, openData, openMemory, readUniverse } = await import('./stored-data.ts');
      // A command that only reads does not create a folder. If the folder has no data, the market is empty.
      using store = hasData(data.dataDir) ? openData(data.dataDir, 'read') : openMemory();
      // The simulated market is used only if there is no recorded data.
      const simulated = store.underlyings(false).length === 0;
      return work(createContext(data, store, readUniverse(data.universe), simulated));
    },

    async *check(options) {
      const { runChecks } = await import('./checks.ts');
      yield* runChecks({ ...options, nowMs: nowMs() });
    },

    async backup({ dataDir }, to, passphrase) {
      return (await import('./stored-data.ts')).backUpData(dataDir, to, { nowMs: nowMs(), passphrase });
    },

    async rehearseRestore(from, proof) {
      return (await import('./stored-data.ts')).rehearseRestore(from, proof);
    },

    async restore(from, options) {
      return (await import('./stored-data.ts')).restoreData(from, options);
    },

    async backupsIn(folder) {
      return (await import('../store/folder/backup.ts')).backupsIn(folder);
    },

    async compact({ dataDir, keepChains: chains, keepIntraday: intraday, keepPrints: prints, keepLevels: levels }) {
      return (await import('./stored-data.ts')).compactData(dataDir, { chains, intraday, prints, levels });
    },

    async upgrade({ dataDir }) {
      return (await import('./stored-data.ts')).upgradeData(dataDir);
    },

    async undoUpgrade({ dataDir }) {
      return (await import('./stored-data.ts')).undoDataUpgrade(dataDir);
    },

    async audit({ dataDir }, sinceMs) {
      return (await import('./stored-data.ts')).readAudit(dataDir, sinceMs);
    },

    async internalAuthority({ dataDir }) {
      return (await import('../http/internal-tls.ts')).readInternalAuthority(dataDir);
    },

    withStore: ({ dataDir }, mode, work) => openedFor(dataDir, mode, ({ store }) => work(store)),

    withMembers: ({ dataDir }, mode, work) => openedFor(dataDir, mode, ({ store, access }) => work(access(), store)),
  };
}

/** Opens a data folder and calls `work`. Without a mode, the folder is open for writing and is created if missing. */
async function openedFor<T>(
  dataDir: string,
  mode: 'read' | 'write' | undefined,
  work: (opened: { readonly store: Store; readonly access: () => Access }) => T | Promise<T>,
): Promise<T> {
  const { createOrOpenData, openAccess, openData } = await import('./stored-data.ts');
  using store = mode ? openData(dataDir, mode) : createOrOpenData(dataDir);
  return await work({ store, access: () => openAccess(store, dataDir) });
}

/** Throws `OperatorError` if the folder has real members, or if `zomma start` would add simulated data to recorded data. */
function admitTrial(store: Store, simulated: boolean): void {
  const isReal = store.members().some(({ tier }) => tier !== 'demo');
  const isRecorded = simulated && store.underlyings(false).length > 0;
  if (!isReal && !isRecorded) return;
  throw new OperatorError(
    `the data folder has ${isReal ? 'members' : 'recorded market data'}, and \`zomma start\` is for trials`,
    'Serve it with `zomma serve`, or give `zomma start` another folder with --data-dir.',
  );
}

/**
 * Adds the demo member if the store has none. Prints an address that opens the web terminal and signs the demo member in, the key of the
 * demo member, an example request, and the command that connects an agent. If the server has an internal certificate authority, `authority` is the path of its certificate, and
 * the example request trusts this certificate. The address of the web terminal contains the key in its fragment. Browsers never send the
 * fragment to a server, and the page removes the fragment at once.
 */
function welcomeDemo({ store, access, feeds, signInCodes }: App, url: string, authority: string | undefined): void {
  const known = store.members().find(({ tier }) => tier === 'demo');
  const { member, apiKey } = access.addMember({ uuid: known?.uuid ?? crypto.randomUUID(), tier: 'demo' });
  process.stdout.write(`open: ${url}/#code=${signInCodes.issue(member.uuid)} (signs in once)\n`);
  process.stdout.write(`demo key: ${apiKey}\n`);
  const trust = authority === undefined ? '' : `--cacert '${authority}' `;
  process.stdout.write(`try: curl ${trust}-H 'X-API-Key: ${apiKey}' ${url}/api/v1/nodes/gex/SPY\n`);
  if (feeds.every(({ simulated }) => simulated)) process.stdout.write('The market is simulated: no real quotes.\n');
  const connect = shellLine(...ownCommand(), 'connect', 'claude-code', '--url', url);
  const clients = 'claude-code, claude-desktop, cursor, vscode or codex';
  process.stdout.write(`connect an agent (${clients}): ZOMMA_KEY=${apiKey} ${connect}\n`);
}
