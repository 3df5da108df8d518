import { basename, dirname, resolve } from 'node:path';
import { version } from '../../package.json';
import { COMMIT } from '../core/commit.ts';
import { OperatorError } from '../core/errors.ts';
import { ownCommand } from '../core/own-command.ts';
import { shellLine } from '../core/shell-line.ts';
import type { HistoryDeps, HistoryRequest } from '../feeds/thetadata/thetadata-history.ts';
import type { Stated } from '../feeds/vendors/stated.ts';
import type { StatedFlags } from '../feeds/vendors/stated-flags.ts';
import type { Chain } from '../market/chain.ts';
import type { Print } from '../market/prints.ts';
import type { SettingValues } from '../settings/config.ts';
import type { SharedStore } from '../store/sqlite.ts';
import type { App } from './app.ts';
import type { CheckOptions } from './check-outcome.ts';
import type { ServeSettings } from './serve.ts';
import type { StdioSettings } from './serve-stdio.ts';
import type { DataPlace } from './stored-data.ts';

/** Number of shown digits of a commit. */
const COMMIT_DIGITS = 9;

/** What commands use of the server and the feeds. Each function loads its modules when it is called, because most commands need none. */
export type Ports = typeof PORTS;

export const PORTS = {
  /** Returns the version, the commit and the schema of the database, for example `0.2.0 (1a2b3c4, schema 9)`. */
  async versionLine() {
    const { SCHEMA } = await import('../store/folder/upgrade.ts');
    return `${version} (${COMMIT.slice(0, COMMIT_DIGITS)}, schema ${SCHEMA})`;
  },

  /** Returns everything that keeps a server from starting with these settings, whose values are valid. */
  async settingFaults(settings: SettingValues) {
    return (await import('./setting-faults.ts')).settingFaults(settings);
  },

  /** Runs the service until SIGTERM or SIGINT. `demo` adds the demo member and prints its key. */
  async serve(settings: ServeSettings, { demo }: { readonly demo: boolean }) {
    const { serve } = await import('./serve.ts');
    const { authorityPath } = await import('../http/internal-tls.ts');
    const authority = settings.tls === 'internal' ? resolve(authorityPath(settings.dataDir)) : undefined;
    const trial = { admit: admitTrial, welcome: (app: App, url: string) => welcomeDemo(app, url, authority) };
    await serve(settings, demo ? trial : undefined);
  },

  /** Serves MCP over standard input and output with the data of this machine, until the client disconnects. */
  async serveStdio(settings: StdioSettings) {
    await (await import('./serve-stdio.ts')).serveStdio(settings);
  },

  /** Relays MCP messages between standard input and output and a running server, until the client disconnects. */
  async bridge(server: { readonly url: URL; readonly key: string }) {
    await (await import('../mcp/stdio/bridge.ts')).bridge(server);
  },

  /** Returns what flags state about files. Rejects with `OperatorError` if a flag has no valid value. */
  async stated(flags: StatedFlags) {
    return (await import('../feeds/vendors/stated-flags.ts')).statedIn(flags);
  },

  /** Returns a draft of a mapping for a file, and the first contracts as they are read with it, or with the mapping that flags name. */
  async guess(path: string, flags: StatedFlags) {
    const { readFileSync, statSync } = await import('node:fs');
    const { FILE_BYTES_MAX } = await import('../feeds/files/deliveries.ts');
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX)
      throw new OperatorError(`${path} is no file of at most ${FILE_BYTES_MAX} bytes`, 'Cut some rows out of it.');
    const { guessMapping } = await import('../feeds/vendors/guess-mapping.ts');
    const { parseMapping } = await import('../feeds/vendors/mapping-file.ts');
    const { headOf } = await import('../feeds/files/read-market-file.ts');
    const head = headOf(readFileSync(path));
    const stated = await PORTS.stated(flags);
    const guessed = head && guessMapping(head, basename(path), stated.zone);
    if (guessed === undefined)
      throw new OperatorError(`${path} has no table and no JSON with rows`, 'Name a CSV or JSON file.');
    const mapping =
      stated.mapping ?? (guessed.vendor === undefined ? parseMapping(guessed.toml, 'the draft') : undefined);
    const contracts: string[] = [];
    let refusal: string | undefined;
    for await (const delivery of PORTS.readFile(path, { ...stated, mapping })) {
      if (delivery.kind === 'rejection') refusal = delivery.reason;
      if (delivery.kind === 'chain') contracts.push(...firstContracts(delivery.chain));
      if (delivery.kind === 'prints') contracts.push(...[...delivery.prints].slice(0, SHOWN_CONTRACTS).map(printLine));
      if (contracts.length >= SHOWN_CONTRACTS) break;
    }
    return {
      ...guessed,
      contracts: contracts.slice(0, SHOWN_CONTRACTS),
      ...(refusal === undefined ? {} : { refusal }),
    };
  },

  /**
   * Yields the market data of one file in one or more parts (`Delivery`). A tape has several parts. The mapping of the file's folder counts if none
   * is given.
   */
  async *readFile(path: string, given?: Stated) {
    const { deliveriesOf } = await import('../feeds/files/deliveries.ts');
    const { whyAhead, whyMisdated } = await import('../feeds/accept-delivery.ts');
    const { isSecondFile } = await import('../feeds/vendors/join-file.ts');
    const { folderMapping } = await import('../feeds/vendors/folder-mapping.ts');
    const origin = basename(path);
    const beside = await folderMapping(dirname(path));
    if (given?.mapping === undefined && beside.problem) {
      yield { kind: 'rejection', ...beside.problem } as const;
      return;
    }
    const stated = { ...given, ...(given?.mapping === undefined && beside.stated) };
    let isEmpty = true;
    for await (const delivery of deliveriesOf(dirname(path), { origin }, { nowMs: Date.now(), stated }, true)) {
      isEmpty = false;
      const why =
        delivery.kind === 'chain'
          ? (whyMisdated(delivery.chain, stated?.asOf) ?? whyAhead(delivery.chain, Date.now()))
          : undefined;
      yield why === undefined ? delivery : ({ kind: 'rejection', origin, reason: why } as const);
    }
    const reason =
      'the file is a second file, whose values belong to the contracts of a table beside it. Name the table';
    if (isEmpty && isSecondFile(origin, stated)) yield { kind: 'rejection', origin, reason } as const;
  },

  /**
   * Stores the market data of files and folders in a data folder, which a server may use at the same time. For each path, returns the files
   * that contain market data. Calls `onProgress` with the bytes read so far, the total bytes, and the rows read so far. If a path does not
   * exist, rejects with `OperatorError` before anything is loaded.
   */
  async load(
    settings: DataPlace & Pick<SettingValues, 'dataMax'>,
    paths: readonly string[],
    stated: Stated,
    onProgress: (bytes: number, ofBytes: number, rows: number) => void,
  ) {
    const { loadFiles } = await import('../feeds/load-files.ts');
    const { createDiskSpace } = await import('../feeds/disk-space.ts');
    const { withStore } = await import('./stored-data.ts');
    return await withStore(settings, 'create', (store) =>
      loadFiles(paths, { store, nowMs: Date.now, room: createDiskSpace(settings), stated, onProgress }),
    );
  },

  /** Stores past chains of a ticker from ThetaData's terminal in a data folder. See `loadHistory`. */
  async loadHistory(
    settings: DataPlace & Pick<SettingValues, 'dataMax' | 'thetadataUrl' | 'feedRate'>,
    request: HistoryRequest,
    onDay: HistoryDeps['onDay'],
  ) {
    const { loadHistory } = await import('../feeds/thetadata/thetadata-history.ts');
    const { createDiskSpace } = await import('../feeds/disk-space.ts');
    const { withStore } = await import('./stored-data.ts');
    const { thetadataUrl: baseUrl, feedRate: ratePerMinute } = settings;
    return await withStore(settings, 'create', (store) =>
      loadHistory(request, { baseUrl, ratePerMinute, store, room: createDiskSpace(settings), onDay }),
    );
  },

  /** Checks an installation. Yields the outcome of each check. */
  async *check(options: CheckOptions) {
    yield* (await import('./checks.ts')).runChecks(options);
  },

  /** Returns the certificate authority that `--tls internal` has created in a data folder. */
  async internalAuthority({ dataDir }: Pick<SettingValues, 'dataDir'>) {
    return (await import('../http/internal-tls.ts')).readInternalAuthority(dataDir);
  },
};

/** Throws `OperatorError` if the folder has real members, or if `zomma start` would add simulated data to recorded data. */
function admitTrial(store: SharedStore, simulated: boolean): void {
  const isReal = store.members().some(({ tier }) => tier !== 'demo');
  const isRecorded = simulated && store.underlyings(false).length > 0;
  if (!isReal && !isRecorded) return;
  throw new OperatorError(
    `the data folder has ${isReal ? 'members' : 'recorded market data'}, and \`zomma start\` is for trials`,
    'Serve it with `zomma serve`, or give `zomma start` another folder with --data-dir.',
  );
}

/**
 * Adds the demo member if the store has none. Prints an address that signs a browser in, the member's key, an example request, and the
 * command that connects an agent. `authority` is the path of the internal authority's certificate, which the example request trusts. The
 * address has its code in the fragment, which browsers never send and the page removes at once.
 */
async function welcomeDemo(
  { store, access, feeds, signInCodes }: App,
  url: string,
  authority: string | undefined,
): Promise<void> {
  const known = store.members().find(({ tier }) => tier === 'demo');
  const { member, apiKey } = await access.addMember({ uuid: known?.uuid ?? crypto.randomUUID(), tier: 'demo' });
  process.stdout.write(`open: ${url}/#code=${signInCodes.issue(member.uuid)} (signs in once)\n`);
  process.stdout.write(`demo key: ${apiKey}\n`);
  const trust = authority === undefined ? '' : `--cacert '${authority}' `;
  process.stdout.write(`try: curl ${trust}-H 'X-API-Key: ${apiKey}' ${url}/api/v1/nodes/gex/SPY\n`);
  if (feeds.every(({ simulated }) => simulated)) process.stdout.write('The market is simulated: no real quotes.\n');
  const connect = shellLine(...ownCommand(), 'connect', 'claude-code', '--url', url);
  const clients = 'claude-code, claude-desktop, cursor, vscode or codex';
  process.stdout.write(`connect an agent (${clients}): ZOMMA_KEY=${apiKey} ${connect}\n`);
}

const SHOWN_CONTRACTS = 3;

function firstContracts(chain: Chain): string[] {
  const { underlying, asOf, spot, series, seriesIndex, callPut, strike, bid, ask, openInterest, iv } = chain;
  const head = `${underlying} at ${new Date(asOf).toISOString()}, spot ${spot}`;
  return Array.from({ length: Math.min(SHOWN_CONTRACTS, chain.count) }, (_, i) => {
    const contract = `${series[seriesIndex[i]!]!.expiry} ${callPut[i] === 1 ? 'C' : 'P'} ${strike[i]}`;
    const [quoted, asked, open, volatility] = [bid, ask, openInterest, iv].map((column) => given(column[i]!));
    return `${head}: ${contract}, bid ${quoted}, ask ${asked}, open interest ${open}, IV ${volatility}`;
  });
}

function printLine({ at, underlying, expiry, callPut, strike, price, size }: Print): string {
  return `${new Date(at).toISOString()}: ${underlying} ${expiry} ${callPut === 1 ? 'C' : 'P'} ${strike}, ${size} at ${price}`;
}

function given(value: number): string {
  return Number.isNaN(value) ? 'not given' : String(value);
}
