import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { cleanLine } from '../core/clean-text.ts';
import { errorCode } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { descriptorsMax } from '../http/connections/own-sockets.ts';
import { readTls } from '../http/tls.ts';
import { DAY_MS } from '../market/calendar.ts';
import { COMPILER_HINT, isWithoutCompiler, kernelNsPerOption } from '../math/kernel-speed.ts';
import { OPEN_OPS_HINT } from '../ops/ops-server.ts';
import type { SettingValues } from '../settings/config.ts';
import { lockHolder } from '../store/folder/folder-lock.ts';
import { MIRROR } from '../store/mirror-file.ts';
import { checkData } from './check-data.ts';
import { type CheckOptions, type CheckOutcome, failureOf, graded, isoTime } from './check-outcome.ts';
import { settingFaults } from './setting-faults.ts';
import { hasData, readUniverse } from './stored-data.ts';

const CERTIFICATE_DAYS_MIN = 30;
const DESCRIPTORS_MIN = 4_096;

/** Checks an installation: the data folder, the database, the disk, the clock, the feeds, the certificate, the port and the runtime. */
export async function* runChecks(options: CheckOptions): AsyncGenerator<CheckOutcome> {
  const { settings } = options;
  const { dataDir } = settings;
  const holder = hasData(dataDir) || hasData(dataDir, MIRROR) ? lockHolder(dataDir) : undefined;
  const faults = settingFaults(settings);
  const isWell = (subject: string) => faults.every(({ of }) => of !== subject);
  // The other checks also run if the universe file is unusable, because they need no universe.
  const usable = isWell('universe') ? settings : { ...settings, universe: undefined };
  if (isWell('universe'))
    yield { of: 'universe', state: 'ok', message: `${readUniverse(settings.universe).tickers.size} tickers` };
  yield* checkData({ ...options, settings: usable }, holder);
  if (settings.store !== 'sqlite') yield* (await import('./check-cluster.ts')).checkCluster(settings);
  if (isWell('feeds')) yield { of: 'feeds', state: 'ok', message: feedOf(options, holder !== undefined) };
  if (isWell('certificate')) yield await certificate(options);
  for (const { of, error } of faults) yield failureOf(of, error);
  if (holder === undefined) yield await port(settings);
  if (settings.ops) {
    const { host, port } = settings.ops;
    yield graded('operations', isLoopback(host), `--ops ${host}:${port}`, OPEN_OPS_HINT);
  }
  yield await compiler();
  yield descriptors();
}

/** Returns the feed of these settings. A server that uses the data has settings of its own, so a default of the check says nothing about it. */
function feedOf({ settings, given }: CheckOptions, isServed: boolean): string {
  const isOfServer = isServed || settings.store !== 'sqlite';
  if (given.has('feed') || !isOfServer) return `--feed ${settings.feed}`;
  return 'not examined: this check has no --feed, and the server may have one';
}

async function certificate({ settings, nowMs }: CheckOptions): Promise<CheckOutcome> {
  const { tlsCert, tlsKey, tlsClientCa, tls, host } = settings;
  if (tls === 'internal') return internalCertificate(settings);
  if (tlsCert === undefined || tlsKey === undefined)
    return { of: 'certificate', state: 'ok', message: `none: plain HTTP on ${host}` };
  const { subject, notAfterMs } = readTls({ cert: tlsCert, key: tlsKey, clientCa: tlsClientCa });
  const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
  return graded(
    'certificate',
    days >= CERTIFICATE_DAYS_MIN,
    `${cleanLine(subject)}, ${days < 0 ? 'expired at' : 'valid until'} ${isoTime(notAfterMs)}`,
    'Renew the certificate. A running server uses the new files by itself.',
    days < 0 ? 'failure' : 'warning',
  );
}

async function internalCertificate(settings: SettingValues): Promise<CheckOutcome> {
  const tls = await import('../http/internal-tls.ts');
  const well = 'made and renewed by the server (--tls internal)';
  if (!existsSync(tls.authorityPath(settings.dataDir))) return graded('certificate', true, well, '');
  try {
    const { names } = await tls.readInternalAuthority(settings.dataDir);
    const foreign = tls.foreignNames(settings, names);
    const fault =
      names === null
        ? 'the authority of --tls internal may sign every name, so who gets its key can pass for any site'
        : `the authority of --tls internal may not sign ${foreign.join(', ')}`;
    const isWell = names !== null && foreign.length === 0;
    return graded('certificate', isWell, isWell ? well : fault, tls.NEW_AUTHORITY_HINT);
  } catch (error) {
    return failureOf('certificate', error);
  }
}

/** Tries to listen on the address of the server. The check works only while no server runs. */
async function port({ host, port: wanted }: SettingValues): Promise<CheckOutcome> {
  const { promise, resolve } = Promise.withResolvers<CheckOutcome>();
  const server = createServer();
  server.once('error', (error) => {
    const hint = errorCode(error) === 'EADDRINUSE' ? 'Another program uses the port.' : 'Check --host and --port.';
    resolve({ of: 'port', state: 'failure', message: cleanLine(error.message), hint });
  });
  server.listen({ host, port: wanted }, () => {
    server.close(() => resolve({ of: 'port', state: 'ok', message: `${host}:${wanted} is free` }));
  });
  return promise;
}

async function compiler(): Promise<CheckOutcome> {
  const ns = Math.round(await kernelNsPerOption());
  const isOff = isWithoutCompiler(ns);
  const message = `${ns} ns for the Greeks of an option${isOff ? ': the runtime runs without its compiler' : ''}`;
  return graded('compiler', !isOff, message, COMPILER_HINT);
}

function descriptors(): CheckOutcome {
  const most = descriptorsMax();
  const hint = 'Raise the limit: LimitNOFILE= in the unit, or ulimit -n.';
  return graded('descriptors', most >= DESCRIPTORS_MIN, `${most} files and connections at once`, hint);
}
