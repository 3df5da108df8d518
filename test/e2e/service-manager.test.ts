import { expect, test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DatagramSocket, openDatagramSocket } from '../support/datagram-socket.ts';
import { PROGRAM, startServer } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** What systemd is told, by a real server over a real datagram socket. */
const folder = folderForTests();

const serveWith = (name: string, env: Record<string, string>, feed: string[] = []) =>
  startServer(PROGRAM, ['serve', '--port', '0', '--data-dir', join(folder, name), ...feed], env);

/** Waits until a message matches, and returns it. */
async function message(socket: DatagramSocket, pattern: RegExp, from = 0): Promise<string> {
  for (;;) {
    const found = socket
      .received()
      .slice(from)
      .find((each) => pattern.test(each));
    if (found !== undefined) return found;
    await Bun.sleep(10);
  }
}

const onLinux = process.platform === 'linux';
const where = onLinux ? '' : ' (skipped: this system has no systemd)';

test.skipIf(!onLinux).each([
  ['a path', join(folder, 'notify')],
  ['an abstract name', `@zomma-test-${process.pid}`],
])(`tells start, reload, watchdog and stop to %s${where}`, async (_, name) => {
  using socket = openDatagramSocket(name);
  const server = await serveWith(name.replaceAll('/', '_'), {
    NOTIFY_SOCKET: name,
    // 0.4 s: the server answers every 0.2 s.
    WATCHDOG_USEC: '400000',
  });
  await server.loaded;
  expect(await message(socket, /^READY=1/)).toBe(`READY=1\nSTATUS=Serving ${server.url}`);
  const told = () => socket.received().filter((each) => each !== 'WATCHDOG=1');
  expect(told().slice(0, 3)).toEqual([
    'STATUS=Opening the data folder\nEXTEND_TIMEOUT_USEC=900000000',
    'STATUS=Loading market data\nEXTEND_TIMEOUT_USEC=60000000',
    `READY=1\nSTATUS=Serving ${server.url}`,
  ]);

  const beforeReload = socket.received().length;
  const [uptimeS] = readFileSync('/proc/uptime', 'utf8').split(' ').map(Number);
  process.kill(server.pid, 'SIGHUP');
  const reloading = await message(socket, /^RELOADING=1/, beforeReload);
  const monotonicS = Number(/^RELOADING=1\nMONOTONIC_USEC=(\d+)$/.exec(reloading)![1]) / 1e6;
  // The two clocks differ by the time that the machine slept.
  expect(monotonicS).toBeGreaterThan(0);
  expect(monotonicS).toBeLessThan(uptimeS! + 60);
  await message(socket, /^READY=1$/, socket.received().indexOf(reloading));

  const count = () => socket.received().filter((each) => each === 'WATCHDOG=1').length;
  const answered = count();
  while (count() < answered + 3) await Bun.sleep(20);

  expect((await server.stop('SIGTERM')).code).toBe(0);
  expect(told().at(-1)).toBe('STOPPING=1\nSTATUS=Stopping');
});

test.skipIf(!onLinux)(
  `is ready only when the drop folder is read, and answers no watchdog of another process${where}`,
  async () => {
    const [name, drop] = [join(folder, 'notify-drop'), join(folder, 'drop')];
    mkdirSync(drop);
    const head = 'underlying,as_of,spot,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma\n';
    writeFileSync(
      join(drop, 'chain.csv'),
      `${head}SPY,2026-11-20T15:00:00Z,600,2026-12-18,C,600,10,10.2,10.1,5,100,0.2,0.5,0.01\n`,
    );
    using socket = openDatagramSocket(name);
    const env = { NOTIFY_SOCKET: name, WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' };
    const server = await serveWith('dropped', env, ['--feed', `files:${drop}`]);
    await message(socket, /^READY=1/);
    // The log is written before the message, and arrives through another pipe.
    await server.loaded;
    expect(socket.received().filter((each) => each === 'WATCHDOG=1')).toEqual([]);
    await server.stop('SIGTERM');
  },
);

test.each([
  ['nobody listens', join(folder, 'nobody')],
  ['the name is neither a path nor abstract', 'vsock:2:9999'],
])('says once that it cannot tell, and serves, if %s', async (_, name) => {
  const server = await serveWith('unheard', { NOTIFY_SOCKET: name });
  await server.loaded;
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  const { stderr } = await server.stop('SIGTERM');
  expect(stderr.split('\n').filter((line) => line.includes('"manager_unreachable"'))).toHaveLength(1);
});
