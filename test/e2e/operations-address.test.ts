import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { testWithProgram } from '../support/needs.ts';
import { ALL_TICKERS, PROGRAM, ROOT, run, type Server, startLoaded } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** Promtool checks the metrics and the alerts. */
const testWithPromtool = testWithProgram('promtool');

/** The operations address of a running server. */
const ARGS = ['start', '--port', '0', '--rate-limit', 'off', '--ops', '127.0.0.1:0'];
const server = withServer(PROGRAM, () => ARGS, ALL_TICKERS);
const { dataDir, folder } = server;
const addressOf = ({ log }: Server) => /"operations_served"[^\n]*"address":"([^"]+)"/.exec(log())![1]!;
let ops: string;
beforeAll(() => {
  ops = addressOf(server);
});

const get = async (path: string) => {
  const response = await fetch(ops + path);
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};
/** Returns the value of a sample, by its name with labels. */
const sample = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1) ?? Number.NaN,
  );

test('tells that the process lives and that it is ready', async () => {
  expect(await get('/live')).toMatchObject({ status: 200, text: 'live\n' });
  expect(await get('/ready')).toMatchObject({ status: 200, text: 'ready\n' });
  expect(await get('/other')).toMatchObject({ status: 404 });
  expect((await fetch(`${ops}/live`, { method: 'POST' })).status).toBe(405);
});

test('the address of members has only readiness, without the reasons', async () => {
  for (const path of ['/live', '/metrics']) expect((await fetch(server.url + path)).status).toBe(401);
});

describe('metrics', () => {
  test('count requests by route and status, and describe feeds, streams and disk', async () => {
    const headers = { 'X-API-Key': server.key };
    const stream = await fetch(`${server.url}/api/v1/stream/gex/SPY`, { headers });
    for (let i = 0; i < 3; i++) await fetch(`${server.url}/api/v1/nodes/gex/SPY`, { headers });
    await fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': 'ZOMMA_AAAAAAAAAAAAAAAA' } });
    const { text, type } = await get('/metrics');
    expect(type).toStartWith('text/plain; version=0.0.4');
    const count = 'zomma_http_request_duration_seconds_count';
    expect(sample(text, `${count}{method="GET",route="/api/v1/nodes/gex/{ticker}",status="200"}`)).toBe(3);
    expect(sample(text, `${count}{method="GET",route="/api/v1/universe",status="403"}`)).toBe(1);
    expect(text).toMatch(/^zomma_build_info\{version="[\d.]+",commit="\w+",schema="\d+"\} 1$/m);
    expect(sample(text, 'zomma_feed_state{feed="simulated",state="ok"}')).toBe(1);
    expect(sample(text, 'zomma_feed_state{feed="simulated",state="down"}')).toBe(0);
    expect(sample(text, 'zomma_feed_tickers{feed="simulated",state="fresh"}')).toBe(61);
    expect(sample(text, 'zomma_feed_contracts_received{feed="simulated"}')).toBeGreaterThan(10_000);
    expect(sample(text, 'zomma_live_streams')).toBe(1);
    for (const name of ['zomma_db_bytes', 'zomma_disk_free_bytes', 'zomma_resident_memory_bytes'])
      expect([name, sample(text, name) > 1e5]).toEqual([name, true]);
    expect(sample(text, 'zomma_ready')).toBe(1);
    expect(sample(text, 'zomma_levels_due')).toBeGreaterThanOrEqual(0);
    expect(sample(text, 'zomma_db_present')).toBe(1);
    expect(sample(text, 'zomma_data_full')).toBe(0);
    expect(sample(text, 'zomma_keys_refused_total')).toBe(1);
    expect(sample(text, 'zomma_open_descriptors')).toBeGreaterThan(5);
    expect(sample(text, 'zomma_descriptors_max')).toBeGreaterThan(sample(text, 'zomma_open_descriptors'));
    expect(sample(text, 'zomma_event_loop_delay_seconds_count')).toBeGreaterThan(10);
    expect(sample(text, 'zomma_cpu_seconds_total')).toBeGreaterThan(0);
    for (const secret of [server.key, 'ZOMMA_AAAA']) expect(text).not.toContain(secret);
    await stream.body!.cancel();
  });

  testWithPromtool('pass the check of Prometheus', async () => {
    const { text } = await get('/metrics');
    expect(await run(['promtool'], ['check', 'metrics'], text)).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('each metric is on the dashboard', async () => {
    const { text } = await get('/metrics');
    const dashboard = readFileSync(join(ROOT, 'docs/monitoring/zomma-dashboard.json'), 'utf8');
    const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    expect(names.filter((name) => !dashboard.includes(name))).toEqual([]);
  });

  describe.each(['zomma-alerts.yml', 'zomma-dashboard.json'])('docs/monitoring/%s', (file) => {
    const page = readFileSync(join(ROOT, 'docs/monitoring', file), 'utf8');

    test('names only metrics that there are', async () => {
      const { text } = await get('/metrics');
      const named = [...new Set([...page.matchAll(/\bzomma_\w+/g)].map(([name]) => name))];
      expect(named.length).toBeGreaterThan(20);
      expect(named.filter((name) => !hasMetric(text, name))).toEqual([]);
    });

    test('names only labels that there are', async () => {
      const { text } = await get('/metrics');
      const labels = [...page.matchAll(/(zomma_\w+)\{([^}]*)\}/g)].flatMap(([, name, inside]) =>
        [...inside!.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label]) => [name!, label!] as const),
      );
      expect(labels.length).toBeGreaterThan(3);
      // Prometheus adds these labels itself.
      const own = labels.filter(([, label]) => !['instance', 'job'].includes(label));
      expect(own.filter(([name, label]) => !new RegExp(`^${name}\\{[^}]*\\b${label}="`, 'm').test(text))).toEqual([]);
    });

    test('groups only by labels that there are', async () => {
      const { text } = await get('/metrics');
      const grouped = [...page.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names!.split(/, ?/));
      const shown = [...page.matchAll(/\{\{(?: ?\$labels\.)?(\w+) ?\}\}/g)].map(([, name]) => name!);
      expect([grouped.length, shown.length].every((count) => count > 5)).toBe(true);
      // No row of the simulated market is refused, so its counter has no sample, but other counters have reasons too.
      const missingLabels = [...new Set([...grouped, ...shown])].filter(
        (label) => !new RegExp(`[{,]${label}="`).test(text),
      );
      // Prometheus itself adds these two.
      expect(missingLabels.filter((label) => label !== 'instance' && label !== 'job')).toEqual([]);
    });
  });

  testWithPromtool('Prometheus accepts the alerts, and they fire as their test says', async () => {
    const folderOf = join(ROOT, 'docs/monitoring');
    const checked = await run(['promtool'], ['check', 'rules', join(folderOf, 'zomma-alerts.yml')]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining('SUCCESS')]);
    const tested = await run(['promtool'], ['test', 'rules', join(folderOf, 'zomma-alerts-test.yml')]);
    expect([tested.code, tested.stdout + tested.stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});

/** Returns whether an answer has a metric, by its name or, for a histogram, by the name of a sample. */
function hasMetric(text: string, name: string): boolean {
  const base = name.replace(/_(?:bucket|count|sum)$/, '');
  return new RegExp(`^# TYPE (?:${name} |${base} histogram)`, 'm').test(text);
}

test('a server whose database was removed is not ready', async () => {
  rmSync(join(dataDir, 'zomma.sqlite'));
  expect(await get('/ready')).toMatchObject({ status: 503, text: expect.stringContaining('database was removed') });
  expect(sample((await get('/metrics')).text, 'zomma_ready')).toBe(0);
  while (!server.log().includes('"database_gone"')) await Bun.sleep(50);
});

test('a server that stops is not ready, and answers what lies in its sockets', async () => {
  const other = await startLoaded(PROGRAM, [...ARGS, '--data-dir', join(folder, 'other')]);
  const address = addressOf(other);
  // Requests that keep coming hold the drain open for its whole time.
  const port = Number(new URL(other.url).port);
  const knock = setInterval(() => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.on('error', () => {});
    socket.on('data', () => socket.destroy());
  }, 2);
  process.kill(other.pid, 'SIGTERM');
  while (!other.log().includes('"stopping"')) await Bun.sleep(2);
  const response = await fetch(`${address}/ready`);
  expect([response.status, await response.text()]).toEqual([503, 'The server is stopping.\n']);
  clearInterval(knock);
  expect(await other.ended).toBe(0);
}, 30_000);

test.each(['9464', '127.0.0.1', 'http://127.0.0.1:9464', '127.0.0.1:99999'])('--ops %s is no address', async (text) => {
  const { code, stderr } = await run(PROGRAM, ['serve', '--ops', text, '--data-dir', join(folder, 'none')]);
  expect([code, stderr]).toEqual([78, expect.stringContaining('is not an address')]);
});

test('a start whose operations address is taken fails, and does not go on listening', async () => {
  const taken = new URL(ops).host;
  const args = ['serve', '--port', '0', '--feed', 'simulated', '--ops', taken, '--data-dir', join(folder, 'taken')];
  const { code, stderr } = await run(PROGRAM, args);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`cannot listen on the operations address ${taken}`)]);
}, 30_000);
