import { describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { ensureInternalTls } from '../../src/http/internal-tls.ts';
import { issueServerCertificate } from '../../src/http/local-authority.ts';
import { makeAuthority, makeSigned, makeUnconstrainedAuthority } from '../support/certificate.ts';
import { testWithProgram } from '../support/needs.ts';
import { PROGRAM, run } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** Servers with `--tls internal`, and clients that trust their authority. */
const DAY_MS = 86_400_000;
const server = withServer(PROGRAM, () => ['start', '--port', '0', '--tls', 'internal']);
const { dataDir, folder } = server;
const inTls = (name: string, from = dataDir) => join(from, 'tls', name);

const trusted = async () => {
  const { stdout } = await run(PROGRAM, ['tls', 'trust', '--json', '--data-dir', dataDir]);
  return JSON.parse(stdout) as { path: string; sha256: string; not_after: string; pem: string };
};
/** The certificate that the server presents to a client that trusts its authority. */
function presented(url = server.url): Promise<X509Certificate> {
  const { promise, resolve, reject } = Promise.withResolvers<X509Certificate>();
  const ca = readFileSync(inTls('authority.pem'));
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ca }, () => {
    resolve(new X509Certificate(socket.getPeerCertificate().raw));
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

test('a client that trusts the authority reaches every local name, and any other client none', async () => {
  const { path, sha256, not_after: notAfter, pem } = await trusted();
  expect(pem).toBe(readFileSync(path, 'utf8'));
  expect((Date.parse(notAfter) - Date.now()) / DAY_MS).toBeWithin(3_649, 3_651);
  expect(new X509Certificate(pem).fingerprint256).toBe(sha256);
  const { port } = new URL(server.url);
  for (const host of ['127.0.0.1', 'localhost']) {
    const url = `https://${host}:${port}/health`;
    expect([host, await (await fetch(url, { tls: { ca: pem } })).text()]).toEqual([host, '{"status":"online"}']);
    await expect(fetch(url)).rejects.toThrow(/certificate/);
  }
});

testWithProgram('openssl')('the certificates are valid by the strict rules of X.509', async () => {
  const { path } = await trusted();
  const verified = await run(['openssl'], ['verify', '-x509_strict', '-CAfile', path, inTls('server.pem')]);
  expect(verified.stdout).toContain('OK');
  const { stdout } = await run(['openssl'], ['x509', '-in', path, '-noout', '-ext', 'nameConstraints']);
  expect(stdout).toMatch(/critical\s+Permitted:\s+DNS:localhost\s+DNS:/);
});

describe('with the key of the authority', () => {
  /** Certificates that a thief of the key could make. */
  const stolen = () => ({
    cert: readFileSync(inTls('authority.pem'), 'utf8'),
    key: readFileSync(inTls('authority.key'), 'utf8'),
  });
  const forged = (names: readonly string[], commonName = 'forged') =>
    issueServerCertificate(stolen(), commonName, names, { fromMs: Date.now() - 60_000, untilMs: Date.now() + DAY_MS });
  const OWN = ['localhost', '127.0.0.1', '::1', hostname().toLowerCase()];
  const CASES: [string, string[], boolean][] = [
    ['the own names', OWN, true],
    ['a name below an own name', ['zomma.localhost'], true],
    ['another address', ['198.51.100.7'], true],
    ['a foreign name', ['bank.example'], false],
    ['a foreign name beside the own names', [...OWN, 'bank.example'], false],
    ['a name that only ends like an own name', ['evillocalhost'], false],
    ['a wildcard', ['*.example'], false],
  ];

  test.each(CASES)('a client in Bun: %s', async (_what, names, isValid) => {
    const { cert, key } = forged(names);
    using site = Bun.serve({ port: 0, hostname: '127.0.0.1', tls: { cert, key }, fetch: () => new Response('site') });
    const ca = stolen().cert;
    // The name is checked after the chain, so this client shows the chain alone.
    const tls = { ca, checkServerIdentity: () => undefined };
    const answer = fetch(`https://127.0.0.1:${site.port}`, { tls, keepalive: false }).then((response) =>
      response.text(),
    );
    if (isValid) expect(await answer).toBe('site');
    else expect(await answer.catch(({ code }) => code)).toBe('PERMITTED_VIOLATION');
  });

  for (const [what, names, isValid] of CASES) {
    testWithProgram('openssl')(`OpenSSL: ${what}`, async () => {
      const file = join(folder, 'forged.pem');
      writeFileSync(file, forged(names).cert);
      const { code, stderr } = await run(
        ['openssl'],
        ['verify', '-x509_strict', '-CAfile', inTls('authority.pem'), file],
      );
      expect([code === 0, stderr.includes('permitted subtree violation')]).toEqual([isValid, !isValid]);
    });
  }

  testWithProgram('node')('Node.js reaches the server by its names', async () => {
    const { port } = new URL(server.url);
    const script = `for (const host of ['localhost', '127.0.0.1']) console.log((await fetch('https://' + host + ':${port}/health')).status)`;
    const node = ['env', `NODE_EXTRA_CA_CERTS=${inTls('authority.pem')}`, 'node', '--input-type=module', '-e', script];
    expect((await run(node, [])).stdout).toBe('200\n200\n');
  });
});

testWithProgram('curl')('the request that `zomma start` prints works as it stands', async () => {
  const [, request] = /^try: (.*)$/m.exec(server.before.join('\n'))!;
  const { code, stdout } = await run(['sh', '-c'], [`${request} -s`]);
  expect([code, stdout]).toEqual([0, expect.stringContaining('"ticker":"SPY"')]);
});

test('an authority of an earlier version is named by the check and in the instructions, and still signs every name', async () => {
  const own = join(folder, 'old');
  mkdirSync(join(own, 'tls'), { recursive: true, mode: 0o700 });
  makeUnconstrainedAuthority(join(own, 'tls'), 'authority');
  const { cert } = await ensureInternalTls(
    { dataDir: own, host: '127.0.0.1', allowedHosts: ['any.example'] },
    Date.now(),
  );
  expect(new X509Certificate(readFileSync(cert)).subjectAltName).toContain('any.example');
  const { stdout } = await run(PROGRAM, ['check', '--json', '--tls', 'internal', '--data-dir', own]);
  expect(JSON.parse(stdout).checks.find(({ of }: { of: string }) => of === 'certificate')).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('may sign every name'),
    hint: expect.stringContaining('remove the folder tls'),
  });
  expect((await run(PROGRAM, ['tls', 'trust', '--data-dir', own])).stdout).toContain('can pass for every name');
});

test('the instructions name the file, and only the owner can read the keys', async () => {
  const { path, sha256, pem } = await trusted();
  const { stdout } = await run(PROGRAM, ['tls', 'trust', '--data-dir', dataDir]);
  for (const part of [
    'This whole machine (risk: ',
    'may sign    localhost, ',
    sha256,
    `curl --cacert ${path}`,
    `NODE_EXTRA_CA_CERTS=${path}`,
    'update-ca-certificates',
  ])
    expect(stdout).toContain(part);
  expect((await run(PROGRAM, ['tls', 'trust', '--pem', '--data-dir', dataDir])).stdout).toBe(pem);
  expect(stdout + pem).not.toContain('PRIVATE KEY');
  expect(statSync(join(dataDir, 'tls')).mode & 0o777).toBe(0o700);
  for (const name of ['authority.pem', 'authority.key', 'server.pem'])
    expect([name, statSync(inTls(name)).mode & 0o777]).toEqual([name, 0o600]);
});

test('`zomma mcp --url` trusts the authority by NODE_EXTRA_CA_CERTS', async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const trusting = ['env', `NODE_EXTRA_CA_CERTS=${inTls('authority.pem')}`, ...PROGRAM];
  const { stdout } = await run(trusting, ['mcp', '--url', server.url, '--key', server.key], `${request}\n`);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { serverInfo: { name: expect.any(String) } } });
});

test('a certificate that ends soon is renewed by the running server, under the same authority', async () => {
  const authority = readFileSync(inTls('authority.pem'), 'utf8');
  const lines = () => server.log().split('"certificate_used"').length;
  let before = lines();
  // As if the server had run for 60 of the 90 days.
  rmSync(inTls('server.pem'));
  await ensureInternalTls({ dataDir, host: '127.0.0.1', allowedHosts: undefined }, Date.now() - 60 * DAY_MS);
  while (lines() === before) await Bun.sleep(20);
  const old = await presented();
  expect((Date.parse(old.validTo) - Date.now()) / DAY_MS).toBeWithin(29, 31);
  before = lines();
  process.kill(server.pid, 'SIGHUP');
  while (lines() === before) await Bun.sleep(5);
  const renewed = await presented();
  expect((Date.parse(renewed.validTo) - Date.now()) / DAY_MS).toBeWithin(89, 91);
  expect(renewed.serialNumber).not.toBe(old.serialNumber);
  expect(readFileSync(inTls('authority.pem'), 'utf8')).toBe(authority);
}, 30_000);

test('a restart keeps the certificate, unless it lacks a name', async () => {
  const { serialNumber } = await presented();
  await server.restart();
  expect((await presented()).serialNumber).toBe(serialNumber);
  await server.restart('--allowed-hosts', 'zomma.localhost');
  const named = await presented();
  expect(named.serialNumber).not.toBe(serialNumber);
  expect(named.subjectAltName).toContain('DNS:zomma.localhost');
}, 60_000);

test('a name that the authority may not sign is left out, told, and signed by a new authority', async () => {
  const name = 'zomma.example.com';
  const args = ['--allowed-hosts', name];
  const check = async () => {
    const { stdout } = await run(PROGRAM, ['check', '--json', '--tls', 'internal', '--data-dir', dataDir, ...args]);
    return JSON.parse(stdout).checks.find(({ of }: { of: string }) => of === 'certificate');
  };
  await server.restart(...args);
  expect((await presented()).subjectAltName).not.toContain(name);
  expect(server.log()).toMatch(/"names_uncertified"[^\n]*"names":\["zomma\.example\.com"\]/);
  expect(await check()).toMatchObject({
    state: 'warning',
    message: `the authority of --tls internal may not sign ${name}`,
  });
  rmSync(inTls(''), { recursive: true });
  await server.restart(...args);
  expect((await presented()).subjectAltName).toContain(`DNS:${name}`);
  expect(server.log().slice(server.log().lastIndexOf('"started"'))).not.toContain('names_uncertified');
  expect(await check()).toMatchObject({ state: 'ok' });
}, 60_000);

test('clients need a certificate of --tls-client-ca here too', async () => {
  makeAuthority(folder, 'staff');
  makeSigned(folder, 'member', 'staff');
  await server.restart('--tls-client-ca', join(folder, 'staff.pem'));
  const text = (path: string) => readFileSync(path, 'utf8');
  const ca = text(inTls('authority.pem'));
  const member = { cert: text(join(folder, 'member.pem')), key: text(join(folder, 'member.key')) };
  const ask = (own: object) => fetch(`${server.url}/health`, { tls: { ca, ...own }, keepalive: false });
  expect(await (await ask(member)).text()).toBe('{"status":"online"}');
  await expect(ask({})).rejects.toThrow();
}, 30_000);

describe('the files of a folder', () => {
  const settings = (name: string, host = '127.0.0.1') => {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    return { dataDir: own, host, allowedHosts: ['[2001:db8::7]', '203.0.113.7', 'z.example'] };
  };

  test('are made within two seconds, for the addresses of this machine', async () => {
    const startedAt = performance.now();
    const { cert } = await ensureInternalTls(settings('all', '0.0.0.0'), Date.now());
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const before = readFileSync(cert, 'utf8');
    await ensureInternalTls(settings('all', '0.0.0.0'), Date.now());
    expect(readFileSync(cert, 'utf8')).toBe(before);
    const certificate = new X509Certificate(readFileSync(cert));
    expect(certificate.checkHost('z.example')).toBe('z.example');
    for (const address of ['127.0.0.1', '::1', '203.0.113.7', '2001:db8::7'])
      expect([address, certificate.checkIP(address)]).toEqual([address, address]);
    expect(certificate.checkIP('203.0.113.8')).toBeUndefined();
  });

  test('are made again if the certificate is damaged, but never if the authority is', async () => {
    const own = settings('damaged');
    const { cert } = await ensureInternalTls(own, Date.now());
    writeFileSync(cert, 'junk');
    await ensureInternalTls(own, Date.now());
    expect(readFileSync(cert, 'utf8')).toContain('BEGIN CERTIFICATE');
    const authority = readFileSync(inTls('authority.pem', own.dataDir), 'utf8');
    rmSync(inTls('authority.key', own.dataDir));
    await expect(ensureInternalTls(own, Date.now())).rejects.toThrow(
      /the certificate authority of --tls internal cannot be used: cannot read .*authority\.key: ENOENT/,
    );
    expect(readFileSync(inTls('authority.pem', own.dataDir), 'utf8')).toBe(authority);
  });
});

test.each([
  ['another mode', ['serve', '--tls', 'magic'], /--tls "magic" is not known/, 78],
  ['files too', ['serve', '--tls', 'internal', '--tls-cert', 'a', '--tls-key', 'b'], /exclude each other/, 78],
  ['a folder without an authority', ['tls', 'trust'], /has no certificate authority/, 1],
])('%s is refused', async (_, args, message, exitCode) => {
  const { code, stderr } = await run(PROGRAM, [...args, '--data-dir', join(folder, 'none')]);
  expect([code, stderr]).toEqual([exitCode, expect.stringMatching(message)]);
});
