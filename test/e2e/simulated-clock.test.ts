import { expect } from 'bun:test';
import { join } from 'node:path';
import { eventsOf } from '../support/event-stream.ts';
import { FAKETIME, testWithFaketime } from '../support/faketime.ts';
import { PROGRAM, type Server, startLoaded, withFolder } from '../support/process.ts';
import { IS_LONG } from '../support/size.ts';

/** `zomma start` on Sunday, 29 November 2026. Its clock runs on from a time of day, UTC. */
function startAt(time: string, dataDir: string, ...more: string[]): Promise<Server> {
  const env = { LD_PRELOAD: FAKETIME!, FAKETIME: `@2026-11-29 ${time}`, DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' };
  return startLoaded(PROGRAM, ['start', '--port', '0', '--past', 'off', '--data-dir', dataDir, ...more], env);
}

function clientOf({ url, before }: Server) {
  const headers = { 'X-API-Key': before.join('\n').match(/ZOMMA_\w{16}/)![0] };
  return {
    async ask(path: string) {
      const response = await fetch(url + path, { headers });
      return {
        status: response.status,
        of: response.headers,
        body: (await response.json()) as Record<string, unknown>,
      };
    },
    async follow(query: string, after?: string) {
      const sent = { ...headers, ...(after && { 'Last-Event-ID': after }) };
      const events = eventsOf((await fetch(`${url}/api/v1/stream/gex/SPY${query}`, { headers: sent })).body!);
      return async () => {
        const { id, event, data } = (await events.next())!;
        return { id: id!, event, body: JSON.parse(data) };
      };
    },
  };
}

const MINUTES = ['08:07', '08:08', '08:09'];
const SIMULATED = 'Simulated market: no real quotes.';

testWithFaketime(
  'on a Sunday, each minute has an event of SPY, which crosses its flip within three minutes, also across restarts',
  () =>
    withFolder(async (folder) => {
      const data = join(folder, 'data');
      const seen: string[] = [];
      const crossed: unknown[] = [];
      let last: string | undefined;
      // A server that starts has the quotes of its minute at once, so nobody waits for the next minute.
      for (const minute of MINUTES) {
        await using server = await startAt(`${minute}:10`, data);
        const { ask, follow } = clientOf(server);
        const every = await follow('');
        let levels = await every();
        // The first event may be that of the server before, whose levels are current until those of this minute are computed.
        if (levels.body.provenance.as_of === seen.at(-1)) levels = await every();
        expect(levels.body.provenance).toMatchObject({
          simulated: true,
          source: 'simulated',
          notes: expect.arrayContaining([SIMULATED]),
        });
        seen.push(levels.body.provenance.as_of);
        const next = await follow('?on=flip_cross', last);
        if (last === undefined) {
          const { event, id, body } = await next();
          expect([event, body]).toEqual(['start', { tickers: ['SPY'], on: ['flip_cross'] }]);
          last = id;
        } else if (sideOf(levels.body) !== crossed.at(-1)) {
          const { id, body } = await next();
          expect(body).toMatchObject({
            ...levels.body,
            crossed: expect.arrayContaining([
              expect.objectContaining({ on: 'flip_cross', direction: sideOf(levels.body) }),
            ]),
          });
          last = id;
        }
        if (crossed.at(-1) !== sideOf(levels.body)) crossed.push(sideOf(levels.body));
        const combined = await ask('/api/v1/nodes/gex/SPY/combined');
        expect([combined.status, combined.body.with, combined.of.get('x-data-simulated')]).toEqual([
          200,
          'SPX',
          'true',
        ]);
        expect(Math.abs(combined.body.basis_pct as number)).toBeLessThan(0.1);
        expect(((await ask('/api/v1/universe')).body as { total_tracked: number }).total_tracked).toBe(8);
        const { healthy, session } = (await ask('/api/v1/feeds')).body;
        expect([healthy, session]).toMatchObject([true, { state: 'closed', reason: 'weekend' }]);
      }
      expect(seen).toEqual(MINUTES.map((time) => `2026-11-29T${time}:00.000Z`));
      expect(crossed.length).toBeGreaterThan(1);
    }),
);

const sideOf = ({ spot_price, gex_flip }: { spot_price: number; gex_flip: number }) =>
  spot_price >= gex_flip ? 'up' : 'down';

testWithFaketime('with --sim-clock real, the quotes on a Sunday are those of the last close', () =>
  withFolder(async (folder) => {
    await using server = await startAt('08:07:10', join(folder, 'data'), '--sim-clock', 'real');
    const { of, status } = await clientOf(server).ask('/api/v1/nodes/gex/SPY');
    // The day after Thanksgiving is a half day.
    expect([status, of.get('x-data-as-of'), of.get('x-data-stale')]).toEqual([
      200,
      '2026-11-27T18:00:00.000Z',
      'false',
    ]);
  }),
);

// `bun run test:operator` runs it.
if (IS_LONG)
  testWithFaketime(
    'without a restart, a Sunday has three events of SPY and a crossing in three minutes',
    () =>
      withFolder(async (folder) => {
        await using server = await startAt('20:17:40', join(folder, 'data'));
        const { follow } = clientOf(server);
        const startedAt = performance.now();
        const [every, flips] = [await follow(''), await follow('?on=flip_cross')];
        for (let count = 0; count < 3; count++) expect((await every()).event).toBe('gex');
        expect((await flips()).event).toBe('start');
        expect((await flips()).body.crossed).toContainEqual(expect.objectContaining({ on: 'flip_cross' }));
        expect(performance.now() - startedAt).toBeLessThan(190_000);
      }),
    240_000,
  );
