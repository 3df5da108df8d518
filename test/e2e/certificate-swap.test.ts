import { describe, expect, test } from 'bun:test';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { makeCertificate } from '../support/certificate.ts';
import { testWithProgram } from '../support/needs.ts';
import { PROGRAM, run, startServer } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

const server = withServer(PROGRAM, (folder) => {
  for (const name of ['a', 'b']) makeCertificate(folder, name);
  put('a');
  return ['start', '--port', '0', '--rate-limit', 'off', '--tls-cert', at('live.pem'), '--tls-key', at('live.key')];
});
const at = (name: string) => join(server.folder, name);
const portOf = () => Number(new URL(server.url).port);
/** Puts the pair of a name in the place of the pair in use. */
const put = (name: string) => {
  for (const kind of ['pem', 'key']) copyFileSync(at(`${name}.${kind}`), at(`live.${kind}`));
};
const logged = async (part: string) => {
  const deadline = Date.now() + 15_000;
  while (!server.log().includes(part)) {
    if (Date.now() > deadline) throw new Error(`the log has no ${part}`);
    await Bun.sleep(20);
  }
};

/** Opens a connection of its own, asks for /health, and returns the name of the certificate. */
function ask(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port: portOf(), rejectUnauthorized: false }, () => {
    const name = socket.getPeerCertificate().subject.CN;
    let answer = '';
    socket.on('data', (piece) => {
      answer += piece.toString();
      if (!answer.includes('online')) return;
      resolve(name as string);
      socket.destroy();
    });
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('closed without an answer')));
  return promise;
}

/** Opens a connection that stays open. Returns a function that sends a request over it and returns the status line of the answer. */
async function keepAlive() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: '127.0.0.1', port: portOf(), rejectUnauthorized: false }, resolve);
  socket.on('error', reject);
  await promise;
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  return {
    async ask(): Promise<string> {
      if (isClosed) return 'closed';
      const answered = Promise.withResolvers<string>();
      socket.once('data', (piece) => answered.resolve(piece.toString().split('\r\n')[0]!));
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
      return answered.promise;
    },
    end: () => socket.destroy(),
  };
}

/** A stream of live levels that stays open. `ended` is true as soon as it has ended. */
async function openStream() {
  const response = await fetch(`${server.url}/api/v1/stream/gex/SPY`, {
    headers: { 'X-API-Key': server.key },
    tls: { rejectUnauthorized: false },
  });
  expect(response.status).toBe(200);
  const state = { ended: false, bytes: 0 };
  const reader = response.body!.getReader();
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) break;
      state.bytes += value!.length;
    }
    state.ended = true;
  })();
  return { state, cancel: () => reader.cancel() };
}

describe('a certificate that changes while the server runs', () => {
  test('is used for new connections after SIGHUP: no connection fails, and no stream is cut', async () => {
    const streams = await Promise.all([openStream(), openStream(), openStream()]);
    // Between two requests these connections are idle, and the swaps must not close them either.
    const kept = await Promise.all([keepAlive(), keepAlive()]);
    for (const { ask: askAgain } of kept) expect(await askAgain()).toBe('HTTP/1.1 200 OK');
    let isSwapping = true;
    const names: string[] = [];
    const failures: unknown[] = [];
    const clients = Array.from({ length: 8 }, async () => {
      while (isSwapping || names.length < 200) {
        await ask().then(
          (name) => names.push(name),
          (error) => failures.push(error),
        );
      }
    });
    for (const name of ['b', 'a', 'b']) {
      const asked = names.length;
      const before = server.log().split('"certificate_used"').length;
      put(name);
      process.kill(server.pid, 'SIGHUP');
      while (server.log().split('"certificate_used"').length === before || names.length < asked + 30)
        await Bun.sleep(5);
    }
    isSwapping = false;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(new Set(names)).toEqual(new Set(['a', 'b']));
    expect(await ask()).toBe('b');
    for (const { ask: askAgain, end } of kept) {
      expect(await askAgain()).toBe('HTTP/1.1 200 OK');
      end();
    }
    expect(streams.map(({ state }) => state.ended)).toEqual([false, false, false]);
    for (const { cancel } of streams) await cancel();
  }, 60_000);

  test('is found without a signal too', async () => {
    put('a');
    while ((await ask()) !== 'a') await Bun.sleep(50);
  }, 30_000);

  test('stays if the new pair cannot be used, and the log names the file and the fault', async () => {
    writeFileSync(at('live.pem'), 'junk');
    process.kill(server.pid, 'SIGHUP');
    await logged('"certificate_refused"');
    expect(server.log()).toMatch(/live\.pem is no PEM text/);
    expect(await ask()).toBe('a');
  }, 30_000);
});

testWithProgram('openssl')(
  'only suites with authenticated encryption and forward secrecy are offered',
  async () => {
    const tries = [
      '-tls1_2 -cipher AES128-SHA',
      '-tls1_2 -cipher ECDHE-ECDSA-AES128-SHA',
      '-tls1_2 -cipher AES128-GCM-SHA256',
    ];
    const handshake = async (options: string) =>
      (await run(['openssl', 's_client'], [...options.split(' '), '-connect', `127.0.0.1:${portOf()}`], '')).stdout;
    for (const options of tries)
      expect([options, await handshake(options)]).toEqual([options, expect.stringContaining('Cipher is (NONE)')]);
    for (const options of ['-tls1_2', '-tls1_3'])
      expect([options, await handshake(options)]).toEqual([
        options,
        expect.stringMatching(/Cipher is (?:TLS_|ECDHE-ECDSA-).*(?:GCM|POLY1305)/),
      ]);
  },
  30_000,
);

test('SIGHUP does not end a server without TLS', async () => {
  const plain = await startServer(PROGRAM, ['serve', '--port', '0', '--data-dir', at('plain')]);
  process.kill(plain.pid, 'SIGHUP');
  expect((await fetch(`${plain.url}/health`)).status).toBe(200);
  const { code, stderr } = await plain.stop('SIGTERM');
  expect([code, stderr]).toEqual([0, expect.stringContaining('"reloaded"')]);
}, 30_000);
