import { describe, expect, test } from 'bun:test';
import { OperatorError } from '../../src/core/errors.ts';
import { type OpsAddress, serveOps } from '../../src/ops/ops-server.ts';
import { until } from '../support/until.ts';
import { requestText, Wire } from '../support/wire.ts';

const REPORTS = { notReady: () => [], metrics: async () => ({ text: 'zomma_ready 1\n', type: 'text/plain' }) };

async function started(address: Partial<OpsAddress> = {}, reports = REPORTS) {
  const ops = await serveOps({ host: '127.0.0.1', port: 0, ...address }, reports);
  return { ...ops, [Symbol.dispose]: ops.stop };
}

/** Asks over a connection of its own, on loopback. */
async function ask(url: string, request: string) {
  const wire = await Wire.open(`http://127.0.0.1:${new URL(url).port}`);
  const answer = await wire.ask(request);
  wire.cut();
  return answer;
}

describe('the name in Host', () => {
  test.each<[string, Partial<OpsAddress>, number]>([
    ['evil.example', {}, 403],
    ['evil.example:9464', {}, 403],
    ['127.0.0.1.evil.example', {}, 403],
    ['localhost.evil.example', {}, 403],
    ['evil.example, 127.0.0.1', {}, 403],
    ['127.0.0.1:9464', {}, 200],
    ['LOCALHOST:9464', {}, 200],
    ['[::1]:9464', {}, 200],
    // A page cannot rebind an address, because there is no name to resolve.
    ['10.0.0.5:9464', {}, 200],
    ['', {}, 200],
    ['monitoring.internal', { allowedHosts: ['monitoring.internal'] }, 200],
    ['evil.example', { allowedHosts: ['monitoring.internal'] }, 403],
    ['any.example', { host: '0.0.0.0' }, 200],
    ['evil.example', { host: '0.0.0.0', allowedHosts: ['monitoring.internal'] }, 403],
    ['10.0.0.5:9464', { host: '0.0.0.0', allowedHosts: ['monitoring.internal'] }, 200],
  ])('%s with %o gets %i', async (name, address, status) => {
    using ops = await started(address);
    for (const path of ['/metrics', '/ready', '/live', '/other']) {
      const answer = await ask(ops.url, requestText('GET', path, { Host: name }));
      expect([path, answer.status]).toEqual([path, status === 200 && path === '/other' ? 404 : status]);
      if (status === 403) expect(answer.body).not.toContain('zomma_ready');
    }
  });
});

test('240 idle connections hold 50 at most, and the monitoring is still answered', async () => {
  using ops = await started();
  const idle: Wire[] = [];
  for (let i = 0; i < 240; i++) idle.push(await Wire.open(ops.url));
  await until(() => idle.filter(({ isEnded }) => isEnded).length >= 190);
  expect(idle.map(({ isEnded }) => isEnded)).toEqual(idle.map((_, i) => i < 190));
  const monitoring = await Wire.open(ops.url);
  for (let i = 0; i < 3; i++) {
    const { status, body } = await monitoring.ask(requestText('GET', '/metrics', {}));
    expect([status, body]).toEqual([200, 'zomma_ready 1\n']);
  }
  for (const wire of [...idle, monitoring]) wire.cut();
});

test.each([
  ['not HTTP', 'GARBAGE\r\n\r\n'],
  ['a header that is too large', `GET /live HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`],
])('closes a connection that sends %s', async (_what, request) => {
  using ops = await started();
  const wire = await Wire.open(ops.url);
  wire.send(request);
  await wire.closed.promise;
  expect((await ask(ops.url, requestText('GET', '/live', {}))).status).toBe(200);
});

test('answers metrics that fail with 500, and goes on', async () => {
  const failing = { ...REPORTS, metrics: () => Promise.reject(new Error('/data/zomma.sqlite is gone')) };
  using ops = await started({}, failing);
  const { status, body } = await ask(ops.url, requestText('GET', '/metrics', {}));
  expect([status, body]).toEqual([500, 'internal error\n']);
  expect((await ask(ops.url, requestText('GET', '/live', {}))).status).toBe(200);
});

test('an address that is taken is an error of the operator, and a stop closes every connection', async () => {
  const ops = await started();
  const { port } = new URL(ops.url);
  const second = serveOps({ host: '127.0.0.1', port: Number(port) }, REPORTS);
  expect(await second.catch((error) => error)).toBeInstanceOf(OperatorError);
  const wire = await Wire.open(ops.url);
  ops.stop();
  await wire.closed.promise;
});
