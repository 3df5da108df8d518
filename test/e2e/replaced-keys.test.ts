import { expect, test } from 'bun:test';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { PROGRAM, run, startServer, withFolder } from '../support/process.ts';

const uuidOf = (n: number) => `6f1c2a34-5b6d-4e7f-8a9b-${String(n).padStart(12, '0')}`;

/** Calls `ask` every 20 ms until `work` has ended, and returns the answers with the times at which they were asked for. */
async function askedDuring<T>(ask: () => Promise<T>, work: Promise<unknown>) {
  const answers: Promise<{ readonly askedAt: number; readonly answer: T }>[] = [];
  const askNow = () => {
    const askedAt = performance.now();
    answers.push(ask().then((answer) => ({ askedAt, answer })));
  };
  const timer = setInterval(askNow, 20);
  await work.finally(() => clearInterval(timer));
  return Promise.all(answers);
}

test('a leaked key ends with `members rekey`, in the running server and in its streams, and nobody else notices', () =>
  withFolder(async (folder) => {
    await using server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
    await server.loaded;
    using store = openData(folder);
    const access = openAccess(store, folder);
    const keyOf = async (n: number) => (await access.addMember({ uuid: uuidOf(n) })).apiKey;
    const [leaked, other] = [await keyOf(1), await keyOf(2)];
    const get = (path: string, key: string) => fetch(server.url + path, { headers: { 'X-API-Key': key } });
    const ask = async (key: string) => (await get('/api/v1/account', key)).status;
    const stream = await get('/api/v1/stream/gex/SPY', leaked);
    const ended = stream.text();
    // The command can end before the first of the requests below is answered.
    expect(await ask(leaked)).toBe(200);
    let returnedAt = 0;
    const rekeyed = run(PROGRAM, ['members', 'rekey', '--uuid', uuidOf(1), '--json', '--data-dir', folder]).then(
      async ({ stdout }) => {
        returnedAt = performance.now();
        while ((await ask(leaked)) !== 403) expect(performance.now() - returnedAt).toBeLessThan(1_000);
        return JSON.parse(stdout) as { api_key: string };
      },
    );
    const answers = await askedDuring(() => Promise.all([ask(leaked), ask(other)]), rekeyed);
    expect(answers.map(({ answer }) => answer[1])).toEqual(answers.map(() => 200));
    const late = answers.filter(({ askedAt, answer }) => answer[0] === 200 && askedAt > returnedAt + 100);
    expect(late).toEqual([]);
    const { api_key } = await rekeyed;
    const issued = (await (await fetch(`${server.url}/api/v1/auth/my-key?uuid=${uuidOf(1)}`)).json()) as object;
    expect([issued, await ask(api_key), stream.status]).toEqual([{ status: 'authorized', api_key }, 200, 200]);
    // The registry of streams looks every 2 s.
    await ended;
  }));

test('`secret rotate --grace` refuses none of 1,000 members who ask meanwhile, with the old key or for the new one', () =>
  withFolder(async (folder) => {
    await using server = await startServer(PROGRAM, ['start', '--port', '0', '--data-dir', folder]);
    await server.loaded;
    using store = openData(folder);
    const access = openAccess(store, folder);
    // In one transaction, the members are added at once.
    const keys = await Promise.all(
      store.transaction(() =>
        Array.from({ length: 1_000 }, async (_, n) => (await access.addMember({ uuid: uuidOf(n) })).apiKey),
      ),
    );
    let n = 0;
    const ask = async () => {
      const member = n++ % 1_000;
      const [known, issued] = await Promise.all([
        fetch(`${server.url}/api/v1/account`, { headers: { 'X-API-Key': keys[member]! } }),
        // Few enough that the limit of requests with a UUID is not reached.
        member % 4 === 0 ? fetch(`${server.url}/api/v1/auth/my-key?uuid=${uuidOf(member)}`) : undefined,
      ]);
      return [known.status, issued?.status ?? 200].join();
    };
    const rotated = run(PROGRAM, ['secret', 'rotate', '--grace', '1h', '--data-dir', folder]);
    const answers = await askedDuring(ask, rotated);
    expect((await rotated).stdout).toStartWith('1001 members have new keys. The old keys work until ');
    expect(new Set(answers.map(({ answer }) => answer))).toEqual(new Set(['200,200']));
    for (let more = 0; more < 1_000; more++) expect(await ask().then((each) => each.slice(0, 3))).toBe('200');
    const { api_key } = (await (await fetch(`${server.url}/api/v1/auth/my-key?uuid=${uuidOf(7)}`)).json()) as {
      api_key: string;
    };
    expect(api_key).not.toBe(keys[7]!);
    expect((await fetch(`${server.url}/api/v1/account`, { headers: { 'X-API-Key': api_key } })).status).toBe(200);
    // Without grace, the keys of both secrets end at once.
    await run(PROGRAM, ['secret', 'rotate', '--data-dir', folder]);
    const headers = (key: string) => ({ headers: { 'X-API-Key': key } });
    const seen = () =>
      Promise.all([keys[7]!, api_key].map((key) => fetch(`${server.url}/api/v1/account`, headers(key))));
    const limit = performance.now() + 1_000;
    let statuses: number[] = [];
    do statuses = (await seen()).map(({ status }) => status);
    while (statuses.includes(200) && performance.now() < limit);
    expect(statuses).toEqual([403, 403]);
  }));
