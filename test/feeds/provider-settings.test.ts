import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../src/core/errors.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { createFeeds, PROVIDERS } from '../../src/server/create-feeds.ts';
import { SETTINGS, type Setting, type SettingName } from '../../src/settings/config.ts';
import { parseSettings } from '../support/parse-settings.ts';
import { keyOf, PROGRAM, run, startServer, withFolder } from '../support/process.ts';
import { startProviderServer } from '../support/provider-server.ts';
import { simulatedMarket } from '../support/provider-server-run.ts';
import { errorOf } from '../support/thrown.ts';
import { CREDENTIAL, chainsOf, polled } from './provider-market.ts';

const TICKERS = ['CHPT', 'BRK.B'];
/** At the present time, because the service uses the real clock. */
const { chainOf } = simulatedMarket(Date.now);

const UNIVERSE = loadUniverse(JSON.stringify({ themes: { few: TICKERS } }));
type Texts = Partial<Record<SettingName, string>>;
const feedOf = (texts: Texts) =>
  createFeeds(parseSettings({ dataDir: tmpdir(), ...texts }), UNIVERSE, () => new Map())[0]!;

test.each<[string, Texts, string | undefined, RegExp]>([
  ['no token', { feed: 'tradier' }, undefined, /ZOMMA_TRADIER_TOKEN is not set/],
  ['no key', { feed: 'massive' }, undefined, /ZOMMA_MASSIVE_KEY is not set/],
  ['an empty token', { feed: 'tradier' }, ' ', /ZOMMA_TRADIER_TOKEN is not set/],
  ['a token with two lines', { feed: 'tradier' }, 'hidden\nx: y', /ZOMMA_TRADIER_TOKEN is not a credential/],
  ['an invalid address', { feed: 'cboe', cboeUrl: 'cdn' }, undefined, /--cboe-url is not a URL/],
  ['plain HTTP', { feed: 'massive', massiveUrl: 'http://a.example' }, 'hidden', /--massive-url would send/],
  [
    'plain WebSocket',
    { feed: 'massive', massiveSocketUrl: 'ws://a.example' },
    'hidden',
    /--massive-socket-url would send/,
  ],
  ['an invalid rate', { feed: 'cboe', feedRate: '0' }, undefined, /--feed-rate must be 1 or more/],
  ['an interval of 0', { feed: 'cboe', feedEvery: '0' }, undefined, /--feed-every must be 1 or more/],
  ['unknown hours', { feed: 'cboe', feedHours: 'night' }, undefined, /--feed-hours "night" is not known/],
  ['an unknown feed', { feed: 'nyse' }, undefined, /"nyse" is not a feed/],
  [
    'a missing folder with a comma in its name',
    { feed: 'files:/missing/a,b' },
    undefined,
    /"\/missing\/a,b" is not a f/,
  ],
  ['a feed named twice', { feed: 'cboe, cboe' }, undefined, /the feed "cboe" is named twice/],
  ['the simulated market beside another', { feed: 'simulated,cboe' }, undefined, /cannot be combined/],
])('%s is an operator error', (_what, settings, credential, message) => {
  const credentials = credential === undefined ? {} : { tradierToken: credential, massiveKey: credential };
  const error = errorOf(OperatorError, () => feedOf({ ...settings, ...credentials }));
  expect(error.message).toMatch(message);
  expect(`${error.message} ${error.hint}`).not.toContain('hidden');
});

test.each(Object.keys(PROVIDERS))('--feed %s polls the address in its settings with its credential', async (feed) => {
  const server = await startProviderServer({ chainOf, credential: CREDENTIAL });
  const texts = Object.entries<Setting>(SETTINGS).flatMap(([name, { provider }]) => {
    if (provider !== undefined) return [[name, CREDENTIAL]];
    if (!name.endsWith('Url')) return [];
    return [[name, name.endsWith('SocketUrl') ? server.socketUrl : server.url]];
  });
  const made = feedOf({ feed, feedRate: '60000', ...Object.fromEntries(texts) });
  expect([made.name, made.tickers]).toEqual([feed, TICKERS]);
  expect(chainsOf(await polled(made))).toHaveLength(TICKERS.length);
  await server.close();
});

test("the service answers from a provider's data", async () => {
  const server = await startProviderServer({ chainOf });
  await withFolder(async (folder) => {
    const universe = join(folder, 'universe.json');
    writeFileSync(universe, JSON.stringify({ themes: { few: ['CHPT'] } }));
    const service = await startServer(PROGRAM, [
      ...['start', '--port', '0', '--feed', 'cboe', '--cboe-url', server.url],
      ...['--universe', universe, '--data-dir', join(folder, 'data')],
    ]);
    const key = keyOf(service);
    const gex = async () => {
      const response = await fetch(`${service.url}/api/v1/nodes/gex/CHPT`, { headers: { 'X-API-Key': key } });
      return response.status === 200 ? await response.json() : undefined;
    };
    while ((await gex()) === undefined) await Bun.sleep(10);
    expect(await gex()).toMatchObject({ ticker: 'CHPT' });
    expect((await service.stop('SIGTERM')).code).toBe(0);
  });
  await server.close();
});

test('credentials have no flag, and the help names their environment variables', async () => {
  const { stdout } = await run(PROGRAM, ['serve', '--help']);
  for (const name of ['ZOMMA_TRADIER_TOKEN', 'ZOMMA_MASSIVE_KEY']) expect(stdout).toContain(name);
  expect(stdout).not.toMatch(/--(?:tradier-token|massive-key)/);
  expect(stdout.replace(/\s+/g, ' ')).toContain('its terms restrict automated use');
});

test('polls with the interval and hours of its settings; the simulated market ignores the interval', () => {
  const paceOf = (settings: Texts) => feedOf(settings).pace;
  expect(paceOf({ feed: 'cboe' }).hours).toBe('session');
  expect(paceOf({ feed: 'cboe', feedEvery: '7', feedHours: 'always' })).toMatchObject({
    everyMs: 7_000,
    hours: 'always',
  });
  expect(paceOf({ feed: 'simulated', feedEvery: '7' })).toEqual(paceOf({ feed: 'simulated' }));
});
