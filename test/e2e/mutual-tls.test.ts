import { describe, expect, test } from 'bun:test';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { makeAuthority, makeSigned } from '../support/certificate.ts';
import { testWithProgram } from '../support/needs.ts';
import { PROGRAM, run } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** A server that only clients with a certificate of its authority can reach. The server's own authority is another one. */
const server = withServer(PROGRAM, (folder) => {
  for (const name of ['web', 'staff', 'next', 'foreign']) makeAuthority(folder, name);
  for (const [name, authority] of [
    ['server-a', 'web'],
    ['server-b', 'web'],
    ['member', 'staff'],
    ['later', 'next'],
    ['stranger', 'foreign'],
    // The authority of the server's own certificate gives no access to clients.
    ['neighbour', 'web'],
  ] as const) {
    makeSigned(folder, name, authority);
  }
  put('server-a', 'staff');
  return [
    ...['start', '--port', '0'],
    ...['--tls-cert', at('live.pem'), '--tls-key', at('live.key'), '--tls-client-ca', at('clients.pem')],
  ];
});
const at = (name: string) => join(server.folder, name);
const pem = (name: string) => readFileSync(at(name), 'utf8');

function put(name: string, authority: string): void {
  for (const kind of ['pem', 'key']) copyFileSync(at(`${name}.${kind}`), at(`live.${kind}`));
  writeFileSync(
    at('clients.pem'),
    authority
      .split(' ')
      .map((each) => pem(`${each}.pem`))
      .join(''),
  );
}

/** Opens a connection with the certificate of a client, asks for /health, and returns the answer's status or `refused`. */
function ask(client: string | undefined, version: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const own = client === undefined ? {} : { cert: pem(`${client}.pem`), key: pem(`${client}.key`) };
  const at = { host: '127.0.0.1', port: Number(new URL(server.url).port), ca: pem('web.pem'), servername: 'localhost' };
  const socket = connect({ ...at, ...own, minVersion: version, maxVersion: version }, () =>
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
  );
  socket.on('data', (piece) => {
    resolve(piece.toString().split(' ')[1]!);
    socket.destroy();
  });
  socket.on('error', () => resolve('refused'));
  socket.on('close', () => resolve('refused'));
  return promise;
}

const REQUESTS = [
  ['member', '200'],
  [undefined, 'refused'],
  ['stranger', 'refused'],
  ['neighbour', 'refused'],
  ['later', 'refused'],
] as const;

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('over %s', (version) => {
  test.each(REQUESTS)('the client %p gets %s, also from /health', async (client, expected) => {
    expect(await ask(client, version)).toBe(expected);
  });
});

test.each([
  ['member', 200],
  [undefined, 'refused'],
  ['stranger', 'refused'],
])('over HTTP/2, the client %p gets %p', async (client, expected) => {
  expect(await askOverHttp2(client)).toBe(expected);
});

/** Asks for /health over HTTP/2. Returns the status of the answer or `refused`. */
function askOverHttp2(client: string | undefined): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const own = client === undefined ? {} : { cert: pem(`${client}.pem`), key: pem(`${client}.key`) };
  const session = connectHttp2(server.url, { ca: pem('web.pem'), servername: 'localhost', ...own });
  session.on('error', () => resolve('refused')).on('close', () => resolve('refused'));
  const request = session.request({ ':path': '/health' });
  request.on('error', () => resolve('refused')).on('response', ({ ':status': status }) => resolve(status));
  return promise.finally(() => session.destroy());
}

testWithProgram('openssl')('a session that a stranger began cannot be resumed', async () => {
  const address = ['-connect', `127.0.0.1:${new URL(server.url).port}`, '-ign_eof'];
  const request = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const askOver = async (version: string, client: string) => {
    const session = at(`${client}${version}.session`);
    const own = ['-cert', at(`${client}.pem`), '-key', at(`${client}.key`)];
    const answers: string[] = [];
    for (const part of [
      [...own, '-sess_out', session],
      ['-sess_in', session],
    ]) {
      answers.push((await run(['openssl', 's_client'], [version, ...address, ...part], request)).stdout);
    }
    return answers;
  };
  for (const version of ['-tls1_2', '-tls1_3']) {
    const [first, resumed] = await askOver(version, 'member');
    expect(first).toContain('online');
    expect(resumed).toMatch(/Reused[\s\S]*online/);
    for (const answer of await askOver(version, 'stranger')) expect(answer).not.toContain('online');
  }
});

test('the demand stays when the certificate is replaced, and changes with the file of the authorities', async () => {
  const swaps = () => server.log().split('"certificate_used"').length;
  const swapTo = async (name: string, authority: string) => {
    const before = swaps();
    put(name, authority);
    process.kill(server.pid, 'SIGHUP');
    while (swaps() === before) await Bun.sleep(5);
  };
  await swapTo('server-b', 'staff');
  for (const [client, expected] of REQUESTS) expect([client, await ask(client)]).toEqual([client, expected]);
  // While authorities change, both are in the file.
  await swapTo('server-b', 'staff next');
  for (const client of ['member', 'later']) expect([client, await ask(client)]).toEqual([client, '200']);
  await swapTo('server-b', 'next');
  expect([await ask('member'), await ask('later'), await ask(undefined)]).toEqual(['refused', '200', 'refused']);
  writeFileSync(at('clients.pem'), 'junk');
  process.kill(server.pid, 'SIGHUP');
  while (!server.log().includes('"certificate_refused"')) await Bun.sleep(5);
  expect(server.log()).toContain('clients.pem is no PEM text');
  expect([await ask('later'), await ask(undefined), await ask('stranger')]).toEqual(['200', 'refused', 'refused']);
}, 60_000);

test.each([
  [
    'a certificate of a server',
    'member.pem',
    /--tls-client-ca: .*member\.pem holds a certificate that is not of an authority/,
  ],
  ['a key', 'staff.key', /--tls-client-ca: .*staff\.key is a private key, not a certificate/],
  ['no file', 'none.pem', /--tls-client-ca: cannot read .*none\.pem: ENOENT/],
])('%s as authority stops the start', async (_, file, message) => {
  const tls = ['--tls-cert', at('server-a.pem'), '--tls-key', at('server-a.key'), '--tls-client-ca', at(file)];
  const { code, stderr } = await run(PROGRAM, ['serve', '--port', '0', '--data-dir', at('other'), ...tls]);
  expect([code, stderr]).toEqual([78, expect.stringMatching(message)]);
});

test('without a certificate of the server, authorities of clients stop the start', async () => {
  const args = ['serve', '--port', '0', '--data-dir', at('other'), '--tls-client-ca', at('staff.pem')];
  const { code, stderr } = await run(PROGRAM, args);
  expect([code, stderr]).toEqual([78, expect.stringContaining('--tls-client-ca needs --tls-cert and --tls-key')]);
});
