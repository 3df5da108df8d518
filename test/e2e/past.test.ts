import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestSimulated, pastMoments } from '../../src/market/simulated-past.ts';
import { eventsOf } from '../support/event-stream.ts';
import { PROGRAM, type Server, startServer, withFolder } from '../support/process.ts';

/** The past of the simulated market over a real process, from its first start in an empty folder. */
interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const headersOf = ({ before }: Server) => ({ 'X-API-Key': before.join('\n').match(/ZOMMA_\w{16}/)![0] });

function clientOf(server: Server) {
  const headers = headersOf(server);
  return async (path: string): Promise<Answer> => {
    const response = await fetch(server.url + path, { headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

/** Asks until the answer satisfies a condition, which the service brings about. */
async function until(ask: () => Promise<boolean>): Promise<void> {
  const startedAt = performance.now();
  while (!(await ask())) {
    if (performance.now() - startedAt > 60_000) throw new Error('not within a minute');
    // With more requests, a client would reach the rate limit.
    await Bun.sleep(100);
  }
}

const historyOf = (ticker: string, per: string) =>
  `/api/v1/nodes/gex/${ticker}/history?per=${per}&points=5000&digits=17`;
const rowsIn = ({ body }: Answer) => (body.as_of as string[] | undefined) ?? [];
const at = (moment: number) => new Date(moment).toISOString();

test('a service that is killed in the middle of the past continues it, answers from it, and sends no events of it', async () => {
  await withFolder(async (folder) => {
    const universe = join(folder, 'universe.json');
    // The past of COST, which comes last, takes long enough for a kill in the middle.
    writeFileSync(universe, '{"themes":{"few":["CHPT","UUP","COST"]}}');
    const args = ['start', '--port', '0', '--data-dir', join(folder, 'data'), '--universe', universe, '--past', 'on'];
    const present = newestSimulated(Date.now(), 'real');
    const past = pastMoments(present);

    const first = await startServer(PROGRAM, args);
    const stream = await fetch(`${first.url}/api/v1/stream/gex/CHPT,UUP`, { headers: headersOf(first) });
    const events = eventsOf(stream.body!);
    const askFirst = clientOf(first);
    await until(async () => rowsIn(await askFirst(historyOf('CHPT', 'snapshot'))).length > 10);
    // Every event is of the present.
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
    process.kill(first.pid, 'SIGKILL');
    await first.ended;

    const second = await startServer(PROGRAM, args);
    const ask = clientOf(second);
    const kept = rowsIn(await ask(historyOf('CHPT', 'snapshot')));
    expect(kept.length).toBeGreaterThan(10);
    await until(async () => {
      const { body } = await ask('/api/v1/feeds');
      const [{ past: progress }] = body.feeds as [{ past: { done: number; total: number } }];
      expect(progress.total).toBeGreaterThanOrEqual(3 * past.length);
      return progress.done === progress.total;
    });
    const history = await ask(historyOf('CHPT', 'snapshot'));
    const rows = rowsIn(history);
    expect(rows).toEqual(expect.arrayContaining([...kept, ...past.map(at)]));
    expect(rowsIn(await ask(historyOf('CHPT', 'day'))).length).toBeGreaterThanOrEqual(59);

    // Every half hour of five trading days can be replayed, and gives the levels of the history.
    const flips = new Map(rows.map((each, i) => [each, (history.body.gex_flip as number[])[i]!]));
    const halfHours = past.filter((moment) => moment >= present - 5 * 86_400_000);
    expect(halfHours.length).toBeGreaterThanOrEqual(3 * 14);
    for (const moment of halfHours) {
      const { status, body } = await ask(`/api/v1/nodes/gex/CHPT?at=${at(moment)}`);
      expect([at(moment), status, body.gex_flip]).toEqual([at(moment), 200, flips.get(at(moment))]);
    }
    const i = halfHours.findIndex((moment, at) => at > 15 && halfHours[at - 1]! - moment === 30 * 60_000);
    const between = await ask(`/api/v1/nodes/gex/CHPT?at=${at(halfHours[i]! + 15 * 60_000)}`);
    expect([between.status, between.body]).toMatchObject([
      400,
      { code: 'no_chain', nearest_before: at(halfHours[i]!), nearest_after: at(halfHours[i - 1]!) },
    ]);
    const { stderr } = await second.stop('SIGTERM');
    expect(stderr).not.toContain('past_failed');
  });
}, 120_000);
