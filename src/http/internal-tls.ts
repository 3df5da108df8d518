import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../core/errors.ts';
import type { SettingValues } from '../settings/config.ts';
import type { IssuedPair } from './local-authority.ts';
import { readTls, type TlsFiles, type TlsPair } from './tls.ts';

const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3_650;
/** Validity of a server certificate, days. Some clients reject a certificate that is valid for more than 398 days. */
const SERVER_DAYS = 90;
/** Remaining validity below which a certificate is renewed, ms. The certificate is renewed before the service would warn of its expiry. */
const RENEW_BEFORE_MS = 40 * DAY_MS;
/** The validity of a certificate begins this long before its creation, ms, so that clients with a slow clock accept the certificate. */
const BACKDATED_MS = 3_600_000;

export type InternalTlsSettings = Pick<SettingValues, 'dataDir' | 'host' | 'allowedHosts'>;

/**
 * Returns the files of the internal certificate in a data folder, whose lock the caller holds. Certificate and key are in one file, to be
 * replaced in one step. Creates a missing authority, and a certificate if there is none, or if it expires soon or lacks a name of this
 * server. `nowMs` is the wall clock. `onForeign` gets the names that the authority may not sign. Throws `OperatorError` if the authority is
 * missing in part or damaged.
 */
export async function ensureInternalTls(
  settings: InternalTlsSettings,
  nowMs: number,
  onForeign: (names: readonly string[]) => void = () => {},
): Promise<TlsFiles> {
  const { folder, authorityCert, authorityKey, server } = pathsIn(settings.dataDir);
  const files = { cert: server, key: server };
  const make = await import('./local-authority.ts');
  if (!existsSync(authorityCert) && !existsSync(authorityKey)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const period = { fromMs: nowMs - BACKDATED_MS, untilMs: nowMs + AUTHORITY_DAYS * DAY_MS };
    const { cert, key } = make.makeLocalAuthority(`Zomma at ${hostname()}`, namesOf(settings), period);
    writePrivate(authorityKey, key);
    writePrivate(authorityCert, cert);
  }
  const authority = readAuthority(authorityCert, authorityKey);
  const foreign = foreignNames(settings, make.permittedNames(authority.cert));
  if (foreign.length > 0) onForeign(foreign);
  const names = namesOf(settings).filter((name) => !foreign.includes(name));
  if (!isFit(presentPair(files), authority, names, nowMs)) {
    const untilMs = Math.min(nowMs + SERVER_DAYS * DAY_MS, authority.notAfterMs);
    const period = { fromMs: nowMs - BACKDATED_MS, untilMs };
    const { cert, key } = make.issueServerCertificate(authority, `Zomma on ${hostname()}`, names, period);
    writePrivate(server, `${cert}${key}`);
  }
  return files;
}

/** Returns the path of the authority's certificate in a data folder. The file is missing until a server has made it. */
export function authorityPath(dataDir: string): string {
  return pathsIn(dataDir).authorityCert;
}

/**
 * Reads the authority of a data folder: the path of its certificate, the PEM text, the SHA-256 in hex with colons, the expiry, and the host
 * names that it may sign. `names` is null if it may sign every name. Rejects with `OperatorError` if the folder has no authority.
 */
export async function readInternalAuthority(dataDir: string) {
  const path = authorityPath(dataDir);
  if (!existsSync(path)) {
    throw new OperatorError(
      `${dataDir} has no certificate authority`,
      'Start a server on the folder with --tls internal, which makes one.',
    );
  }
  const pem = readFileSync(path, 'utf8');
  const { fingerprint256: fingerprint, validTo } = new X509Certificate(pem);
  const { permittedNames } = await import('./local-authority.ts');
  return { path, pem, fingerprint, notAfterMs: Date.parse(validTo), names: permittedNames(pem) };
}

/** Returns the host names of a server that an authority may not sign. `permitted` is null if the authority may sign every name. */
export function foreignNames(settings: InternalTlsSettings, permitted: readonly string[] | null): string[] {
  const isPermitted = (name: string) => permitted?.some((each) => name === each || name.endsWith(`.${each}`)) ?? true;
  return namesOf(settings).filter((name) => isIP(name) === 0 && !isPermitted(name));
}

export const NEW_AUTHORITY_HINT =
  'For a new authority, stop the server, remove the folder tls of the data folder and start it again. Every client has to trust it anew.';

function pathsIn(dataDir: string) {
  const folder = join(dataDir, 'tls');
  return {
    folder,
    authorityCert: join(folder, 'authority.pem'),
    authorityKey: join(folder, 'authority.key'),
    server: join(folder, 'server.pem'),
  };
}

/** Returns the names and addresses at which clients reach the server. If the server uses all interfaces, returns all addresses. */
function namesOf({ host, allowedHosts }: InternalTlsSettings): string[] {
  const isEveryAddress = host === '0.0.0.0' || host === '::';
  const addresses = isEveryAddress
    ? Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? [])
    : [host];
  const given = (allowedHosts ?? []).map((name) => name.replace(/^\[(.*)\]$/, '$1'));
  const names = ['localhost', '127.0.0.1', '::1', hostname().toLowerCase(), ...addresses, ...given];
  // Link-local addresses contain a zone, but a certificate cannot contain a zone.
  return [...new Set(names)].filter((name) => /^[\w.:-]+$/.test(name) && !/^fe80:/i.test(name));
}

function readAuthority(cert: string, key: string): IssuedPair & { readonly notAfterMs: number } {
  try {
    return readTls({ cert, key });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    throw new OperatorError(
      `the certificate authority of --tls internal cannot be used: ${error.message.replace(/^--tls-\w+: /, '')}`,
      'Restore both files. Or remove them for a new authority, which every client has to trust anew.',
      { cause: error },
    );
  }
}

function presentPair(files: TlsFiles): TlsPair | undefined {
  try {
    return readTls(files);
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

function isFit(pair: TlsPair | undefined, authority: IssuedPair, names: readonly string[], nowMs: number): boolean {
  if (pair === undefined || pair.notAfterMs - nowMs < RENEW_BEFORE_MS) return false;
  const certificate = new X509Certificate(pair.cert);
  if (!certificate.checkIssued(new X509Certificate(authority.cert))) return false;
  return names.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)));
}

/** Replaces a file in one step. The new file has the mode 0600. */
function writePrivate(path: string, text: string): void {
  const draft = `${path}.partial`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, path);
}
