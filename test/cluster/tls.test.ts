import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEngine } from '../../src/cluster/postgres-engine.ts';
import { parseStoreUrl } from '../../src/cluster/store-url.ts';
import { testNeeding } from '../support/needs.ts';
import { hasPostgres, PASSWORD, PostgresServer, USER } from '../support/postgres.ts';
import { folderForTests } from '../support/test-folder.ts';

const isHere = hasPostgres && Bun.which('openssl') !== null;
const testTls = testNeeding(isHere, 'not installed: postgresql or openssl');
const folder = folderForTests();
const file = (name: string) => join(folder, name);
let server: PostgresServer;

function openssl(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['openssl', ...args], { cwd: folder });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Makes an authority: NAME.pem and NAME.key. */
function makeAuthority(name: string): void {
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
  );
}

/** Makes a certificate that an authority has signed: NAME.pem and NAME.key. */
function makeSigned(name: string, subject: string, alternative: string, authority: string): void {
  openssl('req', ...NEW_KEY, '-subj', `/CN=${subject}`, '-keyout', `${name}.key`, '-out', `${name}.csr`);
  writeFileSync(file(`${name}.ext`), `subjectAltName=${alternative}`);
  const by = ['-CA', `${authority}.pem`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
  openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.pem`);
  chmodSync(file(`${name}.key`), 0o600);
}

beforeAll(async () => {
  if (!isHere) return;
  for (const name of ['authority', 'other']) makeAuthority(name);
  makeSigned('server', 'localhost', 'DNS:localhost,IP:127.0.0.1', 'authority');
  makeSigned('elsewhere', 'db.example.com', 'DNS:db.example.com', 'authority');
  makeSigned('certified', 'certified', 'DNS:client', 'authority');
  server = await PostgresServer.start();
  await server.query('create role certified login');
}, 60_000);
afterAll(() => server?.[Symbol.asyncDispose]());

/** Returns whether a connection uses TLS, and the subject of its client certificate, or the message of the error. */
async function connect(parameters: string, user = USER, host = '127.0.0.1') {
  const engine = openEngine(
    parseStoreUrl(`postgres://${user}@${host}:${server.port}/${USER}?${parameters}`, { PGPASSWORD: PASSWORD }),
    {
      replica: 'r',
    },
  );
  try {
    return await engine.transaction(async (sql) => {
      const [row] = await sql`select ssl, client_dn as client from pg_stat_ssl where pid = pg_backend_pid()`;
      return row.client ?? row.ssl;
    });
  } catch (error) {
    const { name, reason, message } = error as Error & { reason: string };
    return `${name} ${reason}: ${message}`;
  } finally {
    await engine.close();
  }
}

const ca = `sslrootcert=${file('authority.pem')}`;
const otherCa = `sslrootcert=${file('other.pem')}`;
const client = `sslcert=${file('certified.pem')}&sslkey=${file('certified.key')}`;

describe('sslmode', () => {
  testTls('without TLS at the server', async () => {
    await server.useTls(undefined);
    expect(await connect('sslmode=disable')).toBe(false);
    expect(await connect('sslmode=prefer')).toBe(false);
    for (const parameters of ['sslmode=require', `sslmode=verify-full&${ca}`])
      expect(await connect(parameters)).toBe(`EngineRefused tls: ${server.address} does not offer TLS`);
    expect(await connect(`sslmode=verify-full&${ca}`, USER, encodeURIComponent(server.folder))).toBe(false);
  });

  testTls('with the certificate of an authority of the operator', async () => {
    await server.useTls(folder, 'server');
    expect(await connect('sslmode=disable')).toBe(false);
    for (const parameters of [
      'sslmode=prefer',
      'sslmode=require',
      `sslmode=verify-ca&${ca}`,
      `sslmode=verify-full&${ca}`,
    ])
      expect({ parameters, is: await connect(parameters) }).toEqual({ parameters, is: true });
    for (const parameters of ['sslmode=verify-full', `sslmode=verify-full&${otherCa}`, `sslmode=verify-ca&${otherCa}`])
      expect(await connect(parameters)).toContain(
        `EngineRefused tls: the certificate of ${server.address} is not accepted: self signed`,
      );
    expect(await connect(`sslmode=require&channel_binding=require`)).toBe(true);
  });

  testTls('with the variable of Node that turns the check off', async () => {
    await server.useTls(folder, 'server');
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await connect(`sslmode=verify-full&${otherCa}`)).toContain('is not accepted: self signed');
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });

  testTls('with the certificate of another name', async () => {
    await server.useTls(folder, 'elsewhere');
    expect(await connect(`sslmode=verify-ca&${ca}`)).toBe(true);
    expect(await connect(`sslmode=verify-full&${ca}`)).toContain(
      `the certificate of ${server.address} is not accepted: Hostname/IP`,
    );
  });

  testTls('with a certificate of the client in place of a password', async () => {
    await server.useTls(folder, 'server');
    expect(await connect(`sslmode=verify-full&${ca}&${client}`, 'certified')).toBe('/CN=certified');
    expect(await connect(`sslmode=verify-full&${ca}`, 'certified')).toContain('EngineRefused login');
  });
});
