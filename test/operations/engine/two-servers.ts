import { createByteBudget } from '../../../src/access/byte-budget.ts';
import { createHttpApp } from '../../../src/http/http-app.ts';
import { operationRoutes } from '../../../src/http/operation-routes.ts';
import { problemDetails } from '../../../src/http/problem-details.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { createMarket } from '../../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../../src/market/universe.ts';
import { callTool } from '../../../src/mcp/call-tool.ts';
import { RESOURCES } from '../../../src/mcp/resources.ts';
import { createAnswerCache } from '../../../src/operations/engine/answer-cache.ts';
import type { Context } from '../../../src/operations/engine/operation.ts';
import { createScheduler } from '../../../src/operations/engine/scheduler.ts';
import { TOOLS } from '../../../src/operations/registry.ts';
import { openStore, type Store } from '../../../src/store/sqlite.ts';
import { AS_OF, chainOf, EXPIRY, LATER, quoted, range } from '../../analytics/small-chains.ts';
import { recordOf } from '../../store/samples.ts';

/** A request on one of the faces of the service. */
export type Asked =
  | { readonly get: string; readonly tag?: string }
  | { readonly tool: string; readonly args: object; readonly extended?: boolean }
  | { readonly mcp: string; readonly args: object };

/** Two servers on one store with an injected clock. `caching` caches its answers, and `fresh` computes each answer anew. */
export function twoServers() {
  const clock = { ms: AS_OF };
  const nowMs = () => clock.ms;
  const store = openStore(':memory:', nowMs);
  store.sumPrintsFrom(LARGE_PRINT_MIN_USD);
  const server = (bytesMax?: number) => {
    const context: Context = {
      market: createMarket(store, STANDARD_UNIVERSE, false, nowMs),
      universe: STANDARD_UNIVERSE,
      nowMs,
      feedStates: () => store.feedStates(),
      clockSteps: () => store.clockSteps(),
      gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
      ...{ staleAfterMs: 15 * 60_000, largePrintMinUsd: LARGE_PRINT_MIN_USD, contagionMinUsd: 1_000_000 },
    };
    const all = createAnswerCache(context, store, bytesMax === undefined ? {} : { bytesMax });
    const counts = { hits: 0, misses: 0 };
    const answers: typeof all = {
      ...all,
      get<Answer extends object>(key: string) {
        const found = all.get<Answer>(key);
        counts[found ? 'hits' : 'misses']++;
        return found;
      },
    };
    const scheduler = createScheduler();
    const deps = {
      context,
      answers,
      scheduler,
      limiter: undefined,
      budget: createByteBudget(),
      loaded: () => undefined,
    };
    const app = createHttpApp()
      .onRequest((request) => {
        request.account = { id: 'a', tier: '', expiresAt: null, isAdmitted: () => true };
      })
      .use(problemDetails(() => {}, ''))
      .use(operationRoutes(deps));
    const mcp = { ...deps, version: '0', observe: () => {}, tools: () => TOOLS, resources: RESOURCES };
    const { signal } = new AbortController();
    const ask = async (asked: Asked): Promise<{ status: number; headers: object; body: string }> => {
      if ('mcp' in asked) {
        const call = { account: undefined, name: asked.mcp, args: asked.args, signal, linksResources: true };
        return { status: 200, headers: {}, body: JSON.stringify(await callTool(mcp, call)) };
      }
      const path = 'get' in asked ? asked.get : `/api/v1/tools/${asked.tool}?extended=${asked.extended ?? false}`;
      const response = await app.fetch(
        new Request(`http://localhost${path}`, {
          headers: { 'Content-Type': 'application/json', ...('tag' in asked && { 'If-None-Match': asked.tag }) },
          ...('tool' in asked && { method: 'POST', body: JSON.stringify(asked.args) }),
        }),
      );
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
    };
    return { context, answers: all, counts, ask };
  };
  return { clock, store, caching: server(), fresh: server(0) };
}

export const LARGE_PRINT_MIN_USD = 100_000;

/** A small chain of a ticker. The spot determines every figure. */
export function smallChain(underlying: string, asOf: number, spot: number): Chain {
  const rest = { openInterest: 100 + Math.round(spot), volume: 10 };
  const rows = [EXPIRY, LATER].flatMap((expiry) =>
    quoted({ strikes: range(80, 120, 10), root: underlying, expiry, spot, asOf, iv: 0.3, halfSpread: 0.05, rest }),
  );
  return chainOf(rows, { underlying, asOf, spot });
}

/** Stores the levels of every snapshot that has none. The figures depend on the spot alone, as a server would store them shortly after. */
export function keepDueLevels(store: Store): void {
  for (const id of store.levelsDue()) {
    const { underlying, asOf, spot, simulated } = store.chain(id)!;
    store.saveLevels(id, recordOf({ underlying, asOf, spot, simulated, netGex: spot * 1e6, atmIv30d: spot / 500 }));
  }
}
