import { describe, expect } from 'bun:test';
import { rmSync } from 'node:fs';
import { eventsOf } from '../support/event-stream.ts';
import { testWithProgram } from '../support/needs.ts';
import { PROXIES, startPair, startProxy, TRUSTED } from '../support/pair.ts';
import { testFolder } from '../support/test-folder.ts';

const at = testFolder();

/** The ways to lose a server. nginx without a subscription does not ask `/ready`. */
describe.each([
  ['haproxy', 'loses its database'],
  ['haproxy', 'is killed'],
  ['nginx', 'is killed'],
] as const)('%s', (program, loss) => {
  testWithProgram(program)(
    `${program} sends an account to one server, and to the other one when that server ${loss}`,
    async () => {
      const { servers, key } = await startPair(at, () => 'simulated', '--rate-limit', '9000/h');
      const { a, b } = servers;
      await using _a = a;
      await using _b = b;
      await using front = await startProxy(PROXIES[program], at, servers);
      const headers = { 'X-API-Key': key };
      const ask = (path: string, from = front.url, fields: Record<string, string> = headers) =>
        fetch(from + path, { ...TRUSTED, headers: fields });
      /** The tokens that the account has left at a server. This request takes one. */
      const left = async (from: string) =>
        Number(/r=(\d+)/.exec((await ask('/api/v1/universe', from)).headers.get('ratelimit')!)![1]);

      // The key goes to the same server in both headers, and counts there alone.
      const bearer = { Authorization: `Bearer ${key}` };
      for (const fields of [headers, bearer])
        for (let i = 0; i < 20; i++) expect((await ask('/api/v1/universe', front.url, fields)).status).toBe(200);
      const both = await Promise.all([left(a.url), left(b.url)]);
      // A token comes back in 0.4 s.
      expect([Math.min(...both) < 8975, Math.max(...both)]).toEqual([true, 8999]);
      const [holder, other, folder] = both[0]! < 8975 ? [a, b, 'a'] : [b, a, 'b'];
      expect((await ask('/ready', front.url, {})).status).toBe(200);
      // The proxy does not pass on the request id of a client, and the server takes the one of the proxy.
      const named = await ask('/health', front.url, { 'X-Request-Id': 'chosen-by-the-client' });
      expect(named.headers.get('x-request-id')).toMatch(/^[\da-f]{32}$/);

      // Events pass at once, and the stream ends when its server is lost.
      const opened = await ask('/api/v1/stream/gex/SPY');
      const events = eventsOf(opened.body!);
      expect((await events.next())!.data).toContain('"ticker":"SPY"');

      // No GET fails meanwhile.
      const statuses: number[] = [];
      let isAsking = true;
      const asking = Array.from({ length: 8 }, async () => {
        while (isAsking) statuses.push((await ask('/health')).status);
      });
      if (loss === 'is killed') process.kill(holder.pid, 'SIGKILL');
      else rmSync(at(folder, 'zomma.sqlite'));
      while ((await events.next().catch(() => undefined)) !== undefined);
      const answered = statuses.length;
      while (statuses.length < answered + 40) await Bun.sleep(5);
      isAsking = false;
      await Promise.all(asking);
      expect(new Set(statuses)).toEqual(new Set([200]));
      const again = eventsOf((await ask('/api/v1/stream/gex/SPY')).body!);
      expect((await again.next())!.data).toContain('"ticker":"SPY"');
      const before = await left(other.url);
      await left(front.url);
      expect(await left(other.url)).toBeLessThanOrEqual(before - 2);
    },
    60_000,
  );
});
