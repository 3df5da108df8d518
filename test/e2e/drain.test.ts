import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { keyOf, PROGRAM, type Server, startLoaded } from '../support/process.ts';
import { steadyClient } from '../support/steady-client.ts';
import { testFolder } from '../support/test-folder.ts';

const at = testFolder();

async function started(): Promise<{ server: Server; key: string }> {
  const server = await startLoaded(PROGRAM, ['start', '--port', '0', '--data-dir', at(), '--rate-limit', 'off']);
  return { server, key: keyOf(server) };
}

test('SIGTERM under load: every request that was sent before is answered, streams end with a time to return, and the exit code is 0', async () => {
  const { server, key } = await started();
  const port = Number(new URL(server.url).port);
  const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
  const streams = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const response = await fetch(`${server.url}/api/v1/stream/gex/${i % 2 ? 'SPY' : 'QQQ'}`, {
        headers: { 'X-API-Key': key },
      });
      expect(response.status).toBe(200);
      return { ended: response.text() };
    }),
  );
  const paths = ['/api/v1/nodes/gex/SPY/profile', '/api/v1/nodes/gex/QQQ', '/health'];
  const clients = Array.from({ length: 12 }, (_, i) => steadyClient(port, head(paths[i % paths.length]!)));
  while (clients.some(({ answers }) => answers.length < 20)) await Bun.sleep(5);
  const signaledAt = performance.now();
  const { code, durationMs } = await server.stop('SIGTERM');
  for (const each of clients) each.stop();
  const early = clients.flatMap(({ sent }) => sent).filter(({ at }) => at < signaledAt);
  expect(early.length).toBeGreaterThan(200);
  expect(early.filter(({ isAnswered }) => !isAnswered)).toEqual([]);
  expect(code).toBe(0);
  expect(durationMs).toBeLessThan(10_000);
  expect(
    clients.flatMap(({ answers }) => answers).filter((answer) => /connection: close/i.test(answer)).length,
  ).toBeGreaterThan(0);
  for (const { ended } of streams) expect(await ended).toEndWith('retry: 2000\n\n');
}, 60_000);

test('a second SIGTERM ends the process at once', async () => {
  const { server, key } = await started();
  // A client that reads nothing holds the server until its deadline.
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  const body = `{"jsonrpc":`;
  await new Promise((sent) =>
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Length: 99\r\n\r\n${body}`,
      sent,
    ),
  );
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  process.kill(server.pid, 'SIGTERM');
  while (!server.log().includes('"stopping"')) await Bun.sleep(5);
  const { code, durationMs } = await server.stop('SIGTERM');
  expect([code, durationMs < 1_000]).toEqual([0, true]);
  socket.destroy();
}, 30_000);
