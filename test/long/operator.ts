import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { SCHEMA } from '../../src/store/folder/upgrade.ts';
import { schemaOf } from '../../src/store/migrations.ts';
import { makeCertificate } from '../support/certificate.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { FROM_SOURCE, keyOf, NEXT_VERSION, run, startServer } from '../support/process.ts';
import { steadyClient } from '../support/steady-client.ts';

/** What an operator relies on, at full size: `bun run test:operator`, some ten minutes on an idle machine. The everyday tests have it small. */
const CONNECTIONS = 1_000;
const SWAPS = 10;
const UPGRADES_KILLED = 50;
const BACKUPS = 12;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zomma-operator-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (...names: string[]) => join(folder, ...names);
const until = async (holds: () => boolean, patienceMs = 60_000) => {
  const deadline = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('it has not come to be in time');
    await Bun.sleep(10);
  }
};

test(`a certificate that changes ${SWAPS} times under ${CONNECTIONS} connections: none fails, no stream is cut`, async () => {
  for (const name of ['a', 'b']) makeCertificate(folder, name);
  const put = (name: string) => {
    for (const kind of ['pem', 'key']) copyFileSync(at(`${name}.${kind}`), at(`live.${kind}`));
  };
  put('a');
  const server = await startServer(FROM_SOURCE, [
    ...['start', '--port', '0', '--data-dir', at('tls'), '--rate-limit', 'off'],
    ...['--tls-cert', at('live.pem'), '--tls-key', at('live.key')],
    // Otherwise the limit on connections of one address that have sent no key yet ends some of a thousand that begin at once.
    '--behind-proxy',
  ]);
  await server.loaded;
  const port = Number(new URL(server.url).port);
  const headers = `Host: localhost\r\nX-API-Key: ${keyOf(server)}\r\n\r\n`;
  const tally = { answers: 0, opened: 0, failures: [] as string[], names: new Set<string>(), cut: 0, events: 0 };
  let isDone = false;

  /** Keeps a connection for a while with a request a second, then opens another one. */
  const keep = async (i: number) => {
    for (let round = 0; !isDone; round++) {
      const socket = await opened().catch((error) => void tally.failures.push(`open: ${error}`));
      if (!socket) continue;
      for (let request = 0; request < 3 + ((i + round) % 5) && !isDone; request++) {
        const answer = await exchange(socket, `GET /api/v1/universe HTTP/1.1\r\n${headers}`).catch((error) =>
          String(error),
        );
        if (answer.startsWith('HTTP/1.1 200')) tally.answers++;
        else tally.failures.push(answer.slice(0, 80));
        await Bun.sleep(800 + ((i * 37) % 400));
      }
      socket.destroy();
    }
  };
  const opened = () => {
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      tally.opened++;
      tally.names.add(socket.getPeerCertificate().subject.CN as string);
      resolve(socket);
    });
    // After the connection is open, this changes nothing, and keeps an error without a listener from ending the process.
    socket.on('error', reject);
    return promise;
  };
  const exchange = (socket: TLSSocket, request: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let buffer = '';
    const onData = (piece: Buffer) => {
      buffer += piece.toString('latin1');
      const head = buffer.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(buffer)?.[1] ?? Number.NaN);
      if (head >= 0 && buffer.length >= head + 4 + length) end();
    };
    const onClose = () => end(new Error('closed without an answer'));
    if (socket.destroyed) return Promise.reject(new Error('closed while it was idle'));
    const end = (error?: Error) => {
      socket.off('data', onData).off('close', onClose).off('error', end);
      if (error) reject(error);
      else resolve(buffer);
    };
    socket.on('data', onData).on('close', onClose).on('error', end);
    socket.write(request);
    return promise;
  };
  const streams = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const response = await fetch(`${server.url}/api/v1/stream/gex/SPY`, {
        headers: { 'X-API-Key': keyOf(server) },
        tls: { rejectUnauthorized: false },
      });
      expect(response.status).toBe(200);
      const reader = response.body!.getReader();
      const state = { isEnded: false };
      void (async () => {
        while (!(await reader.read().catch(() => ({ done: true }))).done) tally.events++;
        state.isEnded = true;
      })();
      return { state, cancel: () => reader.cancel() };
    }),
  );
  const clients = Array.from({ length: CONNECTIONS }, (_, i) => keep(i));
  await until(() => tally.opened >= CONNECTIONS);
  for (let swap = 0; swap < SWAPS; swap++) {
    const before = server.log().split('"certificate_used"').length;
    put(swap % 2 === 0 ? 'b' : 'a');
    process.kill(server.pid, 'SIGHUP');
    const answers = tally.answers;
    await until(
      () => server.log().split('"certificate_used"').length > before && tally.answers > answers + CONNECTIONS,
    );
  }
  const answers = tally.answers;
  await until(() => tally.answers > answers + 5 * CONNECTIONS);
  tally.cut = streams.filter(({ state }) => state.isEnded).length;
  isDone = true;
  await Promise.all(clients);
  console.log(
    `certificate: ${tally.opened} connections, ${tally.answers} answers, ${tally.failures.length} failures, ${tally.cut} streams cut`,
  );
  expect([tally.failures.slice(0, 5), tally.cut]).toEqual([[], 0]);
  expect(tally.names).toEqual(new Set(['a', 'b']));
  for (const { cancel } of streams) await cancel();
  await server.stop('SIGTERM');
}, 400_000);

test('SIGTERM under load, four times with 200 streams: no request is lost that was sent before, and the exit code is 0', async () => {
  for (let round = 0; round < 4; round++) {
    const server = await startServer(FROM_SOURCE, [
      'start',
      '--port',
      '0',
      '--data-dir',
      at(`drain-${round}`),
      '--rate-limit',
      'off',
    ]);
    await server.loaded;
    const key = keyOf(server);
    const port = Number(new URL(server.url).port);
    const uuids = Array.from({ length: 9 }, () => crypto.randomUUID());
    const keys = [key];
    for (const uuid of uuids) {
      const { stdout } = await run(FROM_SOURCE, [
        'members',
        'add',
        '--uuid',
        uuid,
        '--json',
        '--data-dir',
        at(`drain-${round}`),
      ]);
      keys.push(JSON.parse(stdout).api_key);
    }
    const streams = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const response = await fetch(`${server.url}/api/v1/stream/gex/${i % 2 ? 'SPY' : 'QQQ'}`, {
          headers: { 'X-API-Key': keys[i % keys.length]! },
        });
        expect(response.status).toBe(200);
        return { ended: response.text() };
      }),
    );
    const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
    const paths = ['/api/v1/nodes/gex/SPY/profile', '/api/v1/nodes/gex/QQQ', '/health'];
    const clients = Array.from({ length: 12 }, (_, i) => steadyClient(port, head(paths[i % paths.length]!)));
    await until(() => clients.every(({ answers }) => answers.length >= 50));
    const signaledAt = performance.now();
    const { code, durationMs } = await server.stop('SIGTERM');
    for (const each of clients) each.stop();
    const early = clients.flatMap(({ sent }) => sent).filter(({ at: sentAt }) => sentAt < signaledAt);
    const lost = early.filter(({ isAnswered }) => !isAnswered).length;
    console.log(
      `drain ${round + 1}: ${early.length} requests, ${lost} lost, exit ${code} after ${Math.round(durationMs)} ms`,
    );
    expect([lost, code, durationMs < 10_000]).toEqual([0, 0, true]);
    for (const { ended } of streams) expect(await ended).toEndWith('retry: 2000\n\n');
  }
}, 200_000);

test(`an upgrade that is killed at ${UPGRADES_KILLED} random moments leaves the old database or the new one`, async () => {
  const outcomes = { old: 0, new: 0 };
  const make = (dataDir: string) => {
    const db = new Database(join(makeDataFolder(dataDir), 'zomma.sqlite'), { readwrite: true });
    const insert = db.prepare("INSERT INTO closes (simulated, ticker, date, close) VALUES (0, ?, '2026-08-21', 500)");
    db.transaction(() => {
      for (let i = 0; i < 200_000; i++) insert.run(`T${i}`);
    })();
    db.close(true);
  };
  make(at('whole'));
  const began = performance.now();
  expect((await run(NEXT_VERSION, ['upgrade', '--data-dir', at('whole')])).code).toBe(0);
  const wholeMs = performance.now() - began;
  for (let i = 0; i < UPGRADES_KILLED; i++) {
    const dataDir = at(`killed-${i}`);
    make(dataDir);
    const child = Bun.spawn([...NEXT_VERSION, 'upgrade', '--data-dir', dataDir], {
      stdout: 'ignore',
      stderr: 'ignore',
    });
    await Bun.sleep((wholeMs * (i + Math.random())) / UPGRADES_KILLED);
    child.kill('SIGKILL');
    await child.exited;
    const db = new Database(join(dataDir, 'zomma.sqlite'), { readwrite: true });
    const schema = schemaOf(db);
    const isNew = schema === SCHEMA + 1;
    const { count } = db.query(`SELECT count(*) AS count FROM ${isNew ? 'marks' : 'closes'}`).get() as {
      count: number;
    };
    const { integrity_check } = db.query('PRAGMA integrity_check').get() as { integrity_check: string };
    db.close(true);
    expect([i, isNew || schema === SCHEMA, count, integrity_check]).toEqual([i, true, 200_000, 'ok']);
    outcomes[isNew ? 'new' : 'old']++;
    expect((await run(NEXT_VERSION, ['upgrade', '--data-dir', dataDir])).code).toBe(0);
    rmSync(dataDir, { recursive: true });
  }
  console.log(`upgrade: ${outcomes.old} old, ${outcomes.new} new, of ${UPGRADES_KILLED}`);
  expect(outcomes.old > 0 && outcomes.new > 0).toBe(true);
}, 400_000);

test(`${BACKUPS} backups under ingest: each is restored, and has what was committed before it`, async () => {
  const server = await startServer(FROM_SOURCE, ['start', '--port', '0', '--past', 'on', '--data-dir', at('data')]);
  await server.loaded;
  for (let i = 0; i < BACKUPS; i++) {
    const uuid = crypto.randomUUID();
    await run(FROM_SOURCE, ['members', 'add', '--uuid', uuid, '--data-dir', at('data')]);
    expect(await run(FROM_SOURCE, ['backup', at(`b${i}`), '--data-dir', at('data')])).toMatchObject({ code: 0 });
    expect(await run(FROM_SOURCE, ['restore', at(`b${i}`), '--unverified', '--data-dir', at(`r${i}`)])).toMatchObject({
      code: 0,
    });
    const [copy, restored] = [at(`b${i}`, 'zomma.sqlite'), at(`r${i}`, 'zomma.sqlite')].map(rowsOf);
    // The restore is recorded in the audit trail.
    expect(restored).toEqual({ ...copy!, audit: copy!.audit! + 1 });
    expect((await run(FROM_SOURCE, ['members', 'list', '--data-dir', at(`r${i}`)])).stdout).toContain(uuid);
  }
  const rows = Array.from({ length: BACKUPS }, (_, i) => rowsOf(at(`r${i}`, 'zomma.sqlite')).snapshots!);
  console.log(`backups: snapshots ${rows.join(', ')}`);
  expect(await run(FROM_SOURCE, ['restore', at('b1'), '--data-dir', at('data')])).toMatchObject({ code: 1 });
  await server.stop('SIGTERM');
}, 300_000);

/** Returns the number of rows of each table. */
function rowsOf(path: string): Record<string, number> {
  const db = new Database(path, { readonly: true });
  try {
    const names = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
    return Object.fromEntries(
      names.map(({ name }) => [
        name,
        (db.query(`SELECT count(*) AS count FROM "${name}"`).get() as { count: number }).count,
      ]),
    );
  } finally {
    db.close(true);
  }
}

const canMount = process.getuid?.() === 0 && Bun.spawnSync(['sh', '-c', 'command -v mount']).exitCode === 0;
test.skipIf(!canMount)(
  'a full disk (tmpfs, needs root): requests are answered, nothing is damaged, and room lets the data in',
  async () => {
    const disk = at('disk');
    mkdirSync(disk);
    expect(Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]).exitCode).toBe(0);
    try {
      const drop = at('drop');
      mkdirSync(drop);
      const dataDir = join(disk, 'data');
      const server = await startServer(FROM_SOURCE, [
        'serve',
        '--port',
        '0',
        '--feed',
        `files:${drop}`,
        '--data-dir',
        dataDir,
      ]);
      const uuid = crypto.randomUUID();
      const added = await run(FROM_SOURCE, ['members', 'add', '--uuid', uuid, '--json', '--data-dir', dataDir]);
      const headers = { 'X-API-Key': JSON.parse(added.stdout).api_key as string };
      // Files go on until the disk is full.
      let files = 0;
      await until(() => {
        if (files < 2_000) writeFileSync(join(drop, `${files}.csv`), chainText(files++));
        return server.log().includes('"data_full"');
      }, 120_000);
      // Somebody else takes what is left.
      writeFileSync(join(disk, 'ballast'), '');
      Bun.spawnSync(['sh', '-c', `dd if=/dev/zero of=${join(disk, 'ballast')} bs=64k 2>/dev/null`]);
      const health = await fetch(`${server.url}/health`);
      const gex = await fetch(`${server.url}/api/v1/universe`, { headers });
      const feeds = (await (await fetch(`${server.url}/api/v1/feeds`, { headers })).json()) as {
        feeds: { state: string }[];
      };
      expect([health.status, gex.status, feeds.feeds[0]!.state]).toEqual([200, 200, 'down']);
      const added2 = await run(FROM_SOURCE, ['members', 'add', '--uuid', crypto.randomUUID(), '--data-dir', dataDir]);
      console.log(`full disk: ${files} files; a command says: ${added2.stderr.split('\n')[0] || 'done'}`);
      expect(added2.stderr).not.toMatch(/\n\s+at /);
      rmSync(join(disk, 'ballast'));
      expect(Bun.spawnSync(['mount', '-o', 'remount,size=400m', disk]).exitCode).toBe(0);
      await until(() => server.log().includes('"data_has_room"'), 60_000);
      const stored = () => rowsOf(join(dataDir, 'zomma.sqlite')).snapshots!;
      await until(() => stored() === files, 120_000);
      expect((await server.stop('SIGTERM')).code).toBe(0);
      const db = new Database(join(dataDir, 'zomma.sqlite'), { readwrite: true });
      expect(db.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      db.close(true);
    } finally {
      Bun.spawnSync(['umount', '-l', disk]);
    }
  },
  400_000,
);

/** A chain of 2,000 contracts at a moment of its own. */
function chainText(minute: number): string {
  const asOf = new Date(Date.UTC(2026, 7, 3, 14) + minute * 60_000).toISOString();
  const lines = ['underlying,as_of,spot,expiry,put_call,strike,bid,ask,open_interest'];
  for (let strike = 1; strike <= 1_000; strike++)
    for (const side of ['C', 'P'])
      lines.push(
        `TEST,${asOf},500,2026-12-18,${side},${strike},${(Math.random() * 9).toFixed(2)},,${Math.round(Math.random() * 9e5)}`,
      );
  return `${lines.join('\n')}\n`;
}
