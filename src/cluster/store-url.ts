import { userInfo } from 'node:os';
import { SettingError } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import { readNamedFile } from '../settings/setting-sources.ts';
import { storeOf } from '../settings/setting-values.ts';
import { passwordIn } from './password-file.ts';

/** A server of a store: a name or an address, or the folder of a Unix socket. */
export interface StoreHost {
  readonly host: string;
  readonly port: number;
  /** The host and the port for messages, e.g. `db1:5432`. */
  readonly text: string;
}

/** The ways to use TLS, as libpq defines them. `prefer` uses TLS if the server offers it, and checks no certificate. */
export const TLS_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

/** What a connection proves itself with, and what it checks the server by. */
export interface StoreCredentials {
  /** Empty if there is none. */
  readonly password: string;
  /** PEM texts. Undefined if the URL names no file. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** A parsed URL of a store. */
export interface StoreUrl {
  readonly hosts: readonly StoreHost[];
  readonly user: string;
  readonly database: string;
  readonly tls: TlsMode;
  readonly channelBinding: 'disable' | 'prefer' | 'require';
  /** The URL for messages. */
  readonly text: string;
  /** Reads the files of the credentials anew, so that a new password needs no restart. Throws `SettingError` if it cannot. */
  credentials(host: StoreHost): StoreCredentials;
}

const FORM = 'Use postgres://USER@HOST1:5432,HOST2:5432/DATABASE, and write special characters as %XX.';
const PARAMETERS = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'channel_binding', 'target_session_attrs'];
const DEFAULT_PORT = 5432;

/**
 * Parses `postgres://USER@HOST1:PORT,HOST2:PORT/DATABASE?PARAMETERS`. The password is in PGPASSWORD, or in the file that PGPASSFILE names.
 * Reads each file that the URL names once, to report a wrong one at the start. Throws `SettingError` with a message that does not repeat the
 * URL, because a wrong one can contain a password.
 */
export function parseStoreUrl(text: string, env: Readonly<Record<string, string | undefined>> = process.env): StoreUrl {
  const [, userText = '', authority = '', path = '', query = ''] =
    /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/.exec(storeOf(text)) ??
    refuse('--store is not a URL of Postgres');
  const parameters = parametersOf(query);
  const user = decoded(userText);
  if (authority !== '' && parameters.has('host')) refuse('--store names hosts in two places', 'Name them in one.');
  const hosts = hostsOf(authority === '' ? (parameters.get('host') ?? '') : authority);
  const database = decoded(path);
  if (database === '') refuse('--store names no database');
  const tls = choice(parameters, 'sslmode', TLS_MODES, 'prefer');
  const files = certificateFiles(parameters, tls);
  choice(parameters, 'target_session_attrs', ['any', 'read-write', 'primary'], 'primary');
  const url: Omit<StoreUrl, 'credentials' | 'text'> = {
    hosts,
    user: user || env.PGUSER || userInfo().username,
    database,
    tls,
    channelBinding: choice(parameters, 'channel_binding', ['disable', 'prefer', 'require'], 'disable'),
  };
  const passwordFor = (host: StoreHost): string => {
    if (env.PGPASSWORD) return env.PGPASSWORD;
    if (!env.PGPASSFILE) return '';
    return passwordIn(readNamedFile(env.PGPASSFILE, 'PGPASSFILE', 'credential'), { ...host, ...url }) ?? '';
  };
  const parsed: StoreUrl = {
    ...url,
    text: shownUrl(url),
    credentials: (host) => ({
      password: passwordFor(host),
      ca: files.sslrootcert && readNamedFile(files.sslrootcert, 'sslrootcert', 'settings'),
      cert: files.sslcert && readNamedFile(files.sslcert, 'sslcert', 'settings'),
      key: files.sslkey && readNamedFile(files.sslkey, 'sslkey', 'credential'),
    }),
  };
  parsed.credentials(hosts[0]!);
  return parsed;
}

function refuse(message: string, hint = FORM): never {
  throw new SettingError(message, hint);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('--store has a % that is not followed by two hexadecimal digits', 'Write % itself as %25.');
  }
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  const entries = query.split('&').filter(Boolean);
  return new Map(
    entries.map((entry) => {
      const [name = '', value = ''] = entry.split(/=(.*)/s).map((part) => decoded(part));
      if (PARAMETERS.includes(name)) return [name, value];
      // The name of an unknown parameter can be a part of a password with a `?` or a `&`.
      return refuse('--store has an unknown parameter', `Use ${PARAMETERS.join(', ')}. ${nearest(name)}`);
    }),
  );
}

function nearest(name: string): string {
  return name === 'password'
    ? 'Write the password to a file that only this user may read.'
    : `Perhaps ${nearestNames(name, PARAMETERS)[0]}.`;
}

function hostsOf(list: string): StoreHost[] {
  if (list === '')
    refuse('--store names no host', 'Name one before the database, or the folder of a socket: ?host=/run/postgresql.');
  return list.split(',').map((each) => {
    const [, inBrackets, name, digits] =
      /^(?:\[([\da-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(each) ??
      refuse('--store has a host that is neither a name nor an address', FORM);
    const host = decoded(inBrackets ?? name ?? '');
    const port = digits === undefined ? DEFAULT_PORT : Number(digits);
    if (port < 1 || port > 65_535) refuse('--store has a port that is not one of 1 to 65535');
    return { host, port, text: `${inBrackets === undefined ? host : `[${host}]`}:${port}` };
  });
}

function choice<const Value extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  values: readonly Value[],
  absent: Value,
): Value {
  const given = parameters.get(name);
  if (given === undefined) return absent;
  return (
    values.find((value) => value === given) ?? refuse(`--store: ${name} is not known`, `Use ${values.join(', ')}.`)
  );
}

/** Returns the files of certificates. A certificate that no connection would check is an error, because it suggests that one does. */
function certificateFiles(parameters: ReadonlyMap<string, string>, tls: TlsMode) {
  const [sslrootcert, sslcert, sslkey] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => parameters.get(name));
  if (sslrootcert !== undefined && !tls.startsWith('verify')) {
    refuse('--store names sslrootcert, but its sslmode checks no certificate', 'Add sslmode=verify-full.');
  }
  if ((sslcert === undefined) !== (sslkey === undefined))
    refuse('--store names only one of sslcert and sslkey', 'Name both.');
  if (sslcert !== undefined && (tls === 'disable' || tls === 'prefer')) {
    refuse('--store names sslcert, but its sslmode does not require TLS', 'Add sslmode=verify-full.');
  }
  return { sslrootcert, sslcert, sslkey };
}

function shownUrl({ hosts, user, database, tls }: Pick<StoreUrl, 'hosts' | 'user' | 'database' | 'tls'>): string {
  const list = hosts.map(({ text }) => text).join(',');
  const isSocket = list.startsWith('/');
  const end = `/${encodeURIComponent(database)}?${isSocket ? `host=${list}&` : ''}sslmode=${tls}`;
  return `postgres://${encodeURIComponent(user)}@${isSocket ? '' : list}${end}`;
}
