import {
  ACCEPT,
  beginStreamable,
  INITIALIZE,
  modernRequest,
  openSseStream,
  type Target,
} from '../../support/mcp-wire.ts';
import { requestText, Wire } from '../../support/wire.ts';
import { type Attack, BATCH, type Battle, cutAll, PAUSE_MS, postTo, repeat } from './battle.ts';

/** Clients that send as many requests as they may, and more. */
export const FLOODS: readonly Attack[] = [
  { name: 'flood of calls', members: 1, meets: ['200', '429'], run: floodCalls },
  { name: 'batches of what costs most', members: 2, run: batchCostly },
  { name: 'calls canceled at once', members: 1, run: cancelAll },
  { name: 'sessions and streams without end', members: 1, meets: ['200', '429'], run: openWithoutEnd },
];

async function floodCalls(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const call = modernRequest(target, 'tools/call', {
    name: 'calculate_kelly_sizing',
    ...{ arguments: { win_prob: 0.6 } },
  });
  await repeat(battle, 8, async (wire) => battle.count((await wire.ask(call)).status), 2);
}

async function batchCostly(battle: Battle): Promise<void> {
  const { targets } = battle;
  await Promise.all(
    targets.map(async (target) => {
      const { stream, endpoint } = await openSseStream(target);
      const costly = Array.from({ length: BATCH }, (_, id) =>
        id % 2
          ? { jsonrpc: '2.0', id, method: 'resources/read', params: { uri: 'zomma://gex/QQQ/profile' } }
          : {
              jsonrpc: '2.0',
              id,
              method: 'tools/call',
              params: { name: 'run_strategic_omni_radar', arguments: { ticker: 'QQQ' } },
            },
      );
      const post = postTo(endpoint, target, costly);
      await repeat(battle, 2, async (wire) => battle.count((await wire.ask(post)).status), 20);
      stream.cut();
    }),
  );
}

/** A request and its cancellation in one batch. It gets no answer and must leave nothing behind. */
async function cancelAll(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const wire = await Wire.open(target.url);
  const headers = await beginStreamable(wire, target);
  wire.cut();
  const call = { name: 'run_strategic_omni_radar', arguments: { ticker: 'SPY' } };
  let id = 1;
  while (!battle.isOver()) {
    const batch = Array.from({ length: BATCH / 2 }, () => [
      { jsonrpc: '2.0', id: ++id, method: 'tools/call', params: call },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } },
    ]).flat();
    const asking = await Wire.open(target.url, () => {});
    asking.send(requestText('POST', '/mcp', headers, batch));
    battle.count('asked');
    await Bun.sleep(PAUSE_MS);
    asking.cut();
  }
}

async function openWithoutEnd(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const streams: Wire[] = [];
  const initialize = requestText('POST', '/mcp', { 'X-API-Key': target.key, ...ACCEPT }, INITIALIZE);
  const openNext = requestText('GET', '/sse', { 'X-API-Key': target.key });
  await repeat(
    battle,
    4,
    async (wire) => {
      battle.count((await wire.ask(initialize)).status);
      const stream = await Wire.open(target.url, () => {});
      const { status } = await stream.ask(openNext);
      battle.count(status);
      if (status === 200 && streams.length < 500) streams.push(stream);
      else stream.cut();
    },
    2,
  );
  cutAll(streams);
}
