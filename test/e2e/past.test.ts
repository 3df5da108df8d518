import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';
import { eventsOf } from '../support/event-stream.ts';
import { childrenOf, FROM_SOURCE, type Server, startServer, withFolder } from '../support/process.ts';

/** The past of the simulated market over a real process, from its first start in an empty folder. */
const newest = () => newestSimulated(Date.now());
/** The past of the ticker in view takes some 2 s on a quiet machine, and that of all tickers more than a minute. A busy machine takes longer. */
const VIEW_MS_MAX = 30_000;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

function clientOf(server: Server) {
  const key = server.before.join('\n').match(/ZOMMA_\w{16}/)![0];
  return async (path: string): Promise<Answer> => {
    const response = await fetch(server.url + path, { headers: { 'X-API-Key': key } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

/** Asks until the answer satisfies a condition, which the service brings about. */
async function until(ask: () => Promise<boolean>, mostMs = 60_000): Promise<void> {
  const startedAt = performance.now();
  while (!(await ask())) {
    if (performance.now() - startedAt > mostMs) throw new Error(`not within ${mostMs} ms`);
    // With more requests, a client would reach the rate limit.
    await Bun.sleep(200);
  }
}

const historyOf = (ticker: string, per: string) => `/api/v1/nodes/gex/${ticker}/history?per=${per}&points=5000`;
const rowsIn = ({ body }: Answer) => body.as_of as string[] | undefined;
const at = (moment: number) => new Date(moment).toISOString();

test('a first start has a past of the ticker in view within seconds, and of another ticker as soon as it is requested', async () => {
  await withFolder(async (folder) => {
    const present = newest();
    const past = pastMoments(present);
    const server = await startServer(FROM_SOURCE, ['start', '--port', '0', '--data-dir', folder, '--past', 'on']);
    const ask = clientOf(server);
    const headers = { 'X-API-Key': server.before.join('\n').match(/ZOMMA_\w{16}/)![0] };
    const stream = await fetch(`${server.url}/api/v1/stream/gex/SPY,COST`, { headers });
    const events = eventsOf(stream.body!);

    const isWhole = async (ticker: string, moments: readonly number[]) => {
      const stored = new Set(rowsIn(await ask(historyOf(ticker, 'snapshot'))));
      return moments.every((moment) => stored.has(at(moment)));
    };
    // SPY is in view, although nobody has asked for it.
    await until(() => isWhole('SPY', past), VIEW_MS_MAX);
    expect(rowsIn(await ask(historyOf('SPY', 'day')))!.length).toBeGreaterThanOrEqual(59);
    const feeds = await ask('/api/v1/feeds');
    const [{ past: progress }] = feeds.body.feeds as [{ past: { done: number; total: number } }];
    expect(progress.total).toBe(59 * past.length);
    expect(progress.done).toBeLessThan(progress.total);
    expect((await ask(historyOf('SPY', 'day'))).body.notes).toContainEqual(expect.stringContaining('is being filled'));

    // Every half hour of five trading days can be replayed, and gives the levels of the history.
    const history = await ask(historyOf('SPY', 'snapshot'));
    const flips = new Map(rowsIn(history)!.map((each, i) => [each, (history.body.gex_flip as number[])[i]!]));
    const halfHours = past.filter((moment) => moment >= present - 5 * 86_400_000);
    expect(halfHours.length).toBeGreaterThanOrEqual(3 * 14);
    for (const moment of halfHours) {
      const { status, body } = await ask(`/api/v1/nodes/gex/SPY?at=${at(moment)}`);
      expect([at(moment), status, body.gex_flip]).toEqual([at(moment), 200, flips.get(at(moment))]);
    }
    const i = halfHours.findIndex((moment, at) => at > 15 && halfHours[at - 1]! - moment === 30 * 60_000);
    const between = await ask(`/api/v1/nodes/gex/SPY?at=${at(halfHours[i]! + 15 * 60_000)}`);
    expect([between.status, between.body]).toMatchObject([
      400,
      { code: 'no_chain', nearest_before: at(halfHours[i]!), nearest_after: at(halfHours[i - 1]!) },
    ]);

    // COST is the last ticker of the universe. The tickers before it would take more than a minute.
    await until(() => isWhole('COST', past), VIEW_MS_MAX);
    // The past is no news: the stream has events of the present only.
    const news: string[] = [];
    for (
      let next = await events.next();
      next;
      next = await Promise.race([events.next(), Bun.sleep(0).then(() => undefined)])
    ) {
      news.push(JSON.parse(next.data).provenance.as_of);
    }
    expect(news.length).toBeGreaterThanOrEqual(2);
    expect(news.filter((moment) => moment < at(present))).toEqual([]);
    await server.stop('SIGTERM');
    expect(childrenOf(server.pid)).toEqual([]);
  });
}, 120_000);

test('a service that is killed in the middle of the past ends its filler, and continues after a restart', async () => {
  await withFolder(async (folder) => {
    const universe = join(folder, 'universe.json');
    writeFileSync(universe, '{"themes":{"few":["CHPT","UUP"]}}');
    const args = ['start', '--port', '0', '--data-dir', join(folder, 'data'), '--universe', universe, '--past', 'on'];
    const first = await startServer(FROM_SOURCE, args);
    const rows = async (ask: ReturnType<typeof clientOf>) => rowsIn(await ask(historyOf('CHPT', 'snapshot'))) ?? [];
    await until(async () => (await rows(clientOf(first))).length > 10);
    const children = childrenOf(first.pid);
    expect(children).toHaveLength(1);
    process.kill(first.pid, 'SIGKILL');
    await first.ended;
    await until(async () => !isRunning(children[0]!));

    const second = await startServer(FROM_SOURCE, args);
    const ask = clientOf(second);
    const kept = await rows(ask);
    expect(kept.length).toBeGreaterThan(10);
    await until(async () => second.log().includes('"past_filled"'));
    const filled = JSON.parse(
      second
        .log()
        .split('\n')
        .find((line) => line.includes('"past_filled"'))!,
    );
    const total = 2 * pastMoments(newest()).length;
    expect(filled.snapshots).toBeGreaterThan(0);
    expect(filled.snapshots).toBeLessThanOrEqual(total);
    expect(await rows(ask)).toEqual(expect.arrayContaining(kept));
    const { body } = await ask('/api/v1/feeds');
    expect(body.feeds).toMatchObject([{ past: { done: total, total } }]);
    await until(async () => childrenOf(second.pid).length === 0);
    const { stderr } = await second.stop('SIGTERM');
    expect(stderr).not.toContain('past_failed');
  });
}, 120_000);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
