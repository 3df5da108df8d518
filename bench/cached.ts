import { quantile } from '../src/bench/race.ts';
import { startService } from '../test/support/service.ts';

export interface CachedFigures {
  /**
   * Medians over the rounds, µs for each request to the complete request handler. The requests are for the universe, for the levels, and for
   * the levels with their ETag.
   */
  readonly universe: number;
  readonly gex: number;
  readonly unchanged: number;
  /** Time of the levels divided by the time of the universe in the same round: quartiles and median. */
  readonly ratio: readonly [low: number, median: number, high: number];
}

/**
 * Measures requests for the levels of an unchanged snapshot beside requests for the universe. The requests take turns in one process, and
 * go to the complete request handler, which also checks the key.
 */
export async function measureCached(rounds: number, requests: number): Promise<CachedFigures> {
  const service = await startService();
  const ask = (path: string, headers: Record<string, string> = {}) => {
    const sent = { 'X-API-Key': service.key, ...headers };
    return async () => service.app.handle(new Request(`http://localhost${path}`, { headers: sent }));
  };
  const gexPath = '/api/v1/nodes/gex/SPY';
  const etag = (await ask(gexPath)()).headers.get('etag')!;
  const runners = [ask('/api/v1/universe'), ask(gexPath), ask(gexPath, { 'If-None-Match': etag })];
  for (const runner of runners) await time(runner, WARM_REQUESTS);
  const times = runners.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < runners.length; turn++) {
      const i = (round + turn) % runners.length;
      times[i]!.push(await time(runners[i]!, requests));
    }
  }
  await service.close();
  const [universe, gex, unchanged] = times as [number[], number[], number[]];
  const ratios = gex.map((each, round) => each / universe[round]!);
  return {
    universe: quantile(universe, 0.5),
    gex: quantile(gex, 0.5),
    unchanged: quantile(unchanged, 0.5),
    ratio: [quantile(ratios, 0.25), quantile(ratios, 0.5), quantile(ratios, 0.75)],
  };
}

/** Number of requests after which the compiler has optimised the handler. */
const WARM_REQUESTS = 5_000;

/** Returns the mean time of a request, µs. */
async function time(ask: () => Promise<Response>, requests: number): Promise<number> {
  const started = Bun.nanoseconds();
  for (let request = 0; request < requests; request++) await ask();
  return (Bun.nanoseconds() - started) / requests / 1e3;
}
