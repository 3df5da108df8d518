import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadFiles } from '../../src/feeds/load-files.ts';
import { blackScholesPrice } from '../analytics/plain.ts';
import { yearsTo } from '../analytics/small-chains.ts';
import { connectNew, keyOf } from '../mcp/connect.ts';
import { servedForTests } from '../support/for-tests.ts';
import { PROGRAM, run } from '../support/process.ts';
import { computeLevels } from '../support/service.ts';

/** A chain of OptionsDX, whose files have no open interest: through the drop folder and `zomma ingest`, over REST and MCP. */
const AS_OF = Date.parse('2026-08-21T20:00:00Z');
const EXPIRIES = ['2026-09-18', '2026-10-16'];
const HEADER =
  '[QUOTE_UNIXTIME], [UNDERLYING_LAST], [EXPIRE_DATE], [C_VOLUME], [C_BID], [C_ASK], [STRIKE], [P_BID], [P_ASK], [P_VOLUME]';

/** The quotes of a flat volatility of 25 %. `volumes`: the volume of calls and of puts at each strike. */
function optionsdx(asOf = AS_OF, volumes = (strike: number) => [strike === 105 ? 900 : 10, strike === 95 ? 800 : 20]) {
  const rows = EXPIRIES.flatMap((expiry) => {
    const terms = { spot: 100, tte: yearsTo('TEST', expiry, asOf), iv: 0.25, rate: 0.04, dividend: 0 };
    return Array.from({ length: 41 }, (_, i) => {
      const strike = 80 + i;
      const [call, put] = [1, -1].map((callPut) => blackScholesPrice({ ...terms, callPut, strike }));
      const quote = (price: number) => [Math.max(0, price - 0.01).toFixed(4), (price + 0.01).toFixed(4)];
      const [calls, puts] = volumes(strike);
      return [asOf / 1_000, 100, expiry, calls, ...quote(call!), strike, ...quote(put!), puts].join(', ');
    });
  });
  return `${[HEADER, ...rows].join('\n')}\n`;
}

const normalised = (openInterest: string, asOf: string) =>
  [
    'underlying,as_of,spot,expiry,put_call,strike,bid,ask,open_interest',
    ...[95, 100, 105].flatMap((strike) =>
      ['C', 'P'].map((side) => `TEST,${asOf},100,2026-10-16,${side},${strike},4,4.2,${openInterest}`),
    ),
  ].join('\n');

const folder = mkdtempSync(join(tmpdir(), 'zomma-no-oi-'));
const [drop, files] = ['drop', 'files'].map((name) => join(folder, name)) as [string, string];
for (const each of [drop, files]) mkdirSync(each);
const file = (name: string, text: string) => {
  writeFileSync(join(files, name), text);
  return join(files, name);
};
const chain = file('test_eod_202608.txt', optionsdx());
writeFileSync(join(drop, 'other_eod_202608.csv'), optionsdx());

const { server, service } = servedForTests({ feed: `files:${drop}` });
const ingest = (path: string) =>
  loadFiles([path], { store: service.app.store, nowMs: Date.now, onProgress: () => {} }).then(
    ([loaded]) => loaded![0]!,
  );
beforeAll(async () => {
  expect(await ingest(chain)).toMatchObject({
    kept: 164,
    refusals: [],
    notices: ['TEST: stored without open interest: no levels'],
  });
  await computeLevels(service);
});

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of any operation.
type Body = any;

const get = async (path: string) => {
  const response = await service.request('GET', `/api/v1/${path}`);
  return { status: response.status, body: (await response.json()) as Body };
};
const post = async (tool: string, args: object) => {
  const response = await service.request('POST', `/api/v1/tools/${tool}`, { body: { ticker: 'TEST', ...args } });
  return { status: response.status, body: (await response.json()) as Body };
};
const refusal = {
  code: 'no_chain',
  detail: expect.stringContaining('The newest chain of TEST has no open interest'),
};

describe('what needs open interest says so', () => {
  test.each(['', '/view', '/strikes', '/matrix', '/expiries', '/profile', '/hedging', '/levels'])(
    'GET nodes/gex/TEST%s',
    async (path) => {
      const { status, body } = await get(`nodes/gex/TEST${path}`);
      expect([status, body]).toMatchObject([400, refusal]);
    },
  );

  test.each(['get_live_gex_nodes', 'run_strategic_omni_radar', 'detect_lethal_nodes', 'get_hedging_profile'])(
    '%s over REST and MCP',
    async (tool) => {
      const { status, body } = await post(tool, {});
      expect([status, body]).toMatchObject([
        400,
        { ...refusal, hint: expect.stringMatching(/weight=volume.*Surface/) },
      ]);
      const client = await connectNew('auto', server.url, keyOf(service));
      const answer = await client.callTool({ name: tool, arguments: { ticker: 'TEST' } });
      await client.close();
      expect(answer.isError).toBeTrue();
      expect(JSON.stringify(answer.content)).toContain('The newest chain of TEST has no open interest');
    },
  );

  test.each([
    ['nodes/gex/TEST/open-interest', 'No snapshot of TEST from before'],
    ['nodes/gex/TEST/matrix?weight=volume&measure=open_interest', refusal.detail],
    ['nodes/gex/TEST?weight=volume&sign=flow', 'No prints of live contracts of TEST are stored'],
  ])('GET %s', async (path, detail) => {
    const { status, body } = await get(path);
    expect([status, body.detail]).toEqual([400, typeof detail === 'string' ? expect.stringContaining(detail) : detail]);
  });
});

describe('what needs none answers', () => {
  test.each([
    ['', { call_wall: 105, put_wall: 95 }],
    ['/view', { levels: { call_wall: 105, put_wall: 95, by_flow: null } }],
    ['/strikes', { count: 41, call_open_interest: Array(41).fill(null), call_volume: expect.arrayContaining([1800]) }],
    ['/expiries', { count: 2, open_interest: [null, null] }],
    ['/matrix', { count: 41 }],
    ['/profile', { flip_resolved: expect.any(Boolean) }],
  ])('GET nodes/gex/TEST%s by volume', async (path, expected) => {
    const { status, body } = await get(`nodes/gex/TEST${path}?weight=volume`);
    expect([status, body]).toMatchObject([200, expected]);
    if (path === '/view') expect(body.provenance.notes).toContain('The chain has no open interest.');
  });

  test('quotes have nulls and a note', async () => {
    const { body } = await post('get_option_quotes', {});
    const { expiries } = body;
    expect(expiries).toHaveLength(2);
    for (const row of expiries) {
      expect(row.open_interest).toBeNull();
      expect(row.atm_iv).toBeCloseTo(0.25, 3);
    }
    const client = await connectNew('auto', server.url, keyOf(service));
    const answer = await client.callTool({ name: 'get_option_quotes', arguments: { ticker: 'TEST' } });
    await client.close();
    expect(JSON.stringify(answer)).toContain('The chain has no open interest.');
  });

  test.each([
    ['surface/TEST', { spot_price: 100 }],
    ['flow/TEST', { spot_price: 100 }],
    ['flow/TEST/prints', { count: 0 }],
  ])('GET %s', async (path, expected) => {
    const { status, body } = await get(path);
    expect([status, body]).toMatchObject([200, expected]);
  });

  test('the probability of a jump', async () => {
    const { status, body } = await post('calculate_merton_probability', {
      ...{ spot_price: 100, ambush_strike: 105, days_to_expiry: 28 },
    });
    expect(status).toBe(200);
    expect(body.merton_probability).toBeWithin(0.15, 0.35);
  });

  test('the screen lists the ticker without data', async () => {
    const { body } = await get('screen?tickers=TEST');
    expect(body).toMatchObject({ rows: [], without_data: ['TEST'] });
    expect(body.notes).toContain('TEST has no open interest, so it has no levels.');
  });
});

test('the recorder stores no levels, and goes on', async () => {
  await computeLevels(service);
  expect(service.app.store.levelsDue()).toEqual([]);
  expect(service.app.store.lastLevelsAt('TEST', Date.now(), false)).toBeUndefined();
  expect(service.observations.filter(({ kind }) => kind === 'levels_failed')).toEqual([]);
});

test('the feed says that the ticker has no levels', async () => {
  const { body } = await get('feeds');
  expect(body.feeds[0]).toMatchObject({
    refusals: [],
    tickers: [{ ticker: 'OTHER', notice: 'stored without open interest: no levels', rows_refused: {} }],
  });
  const { stdout } = await run(PROGRAM, ['feeds', '--data-dir', service.dataDir]);
  expect(stdout).toContain('  notice     OTHER: stored without open interest: no levels\n');
  expect(stdout).not.toContain('no_open_interest');
});

describe('which files are stored', () => {
  const [FIRST, NEXT] = ['2026-08-24T16:00:00-04:00', '2026-08-25T16:00:00-04:00'];
  const refused = ['TEST: no contract has open interest'];
  test.each<[string, string, object]>([
    ['open interest of 0 everywhere', normalised('0', FIRST), { kept: 0, refusals: refused }],
    [
      'no open interest and no prices',
      normalised('', FIRST).replaceAll(',4,4.2,', ',,,'),
      { kept: 0, refusals: refused },
    ],
    ['no open interest, before any with it', normalised('', FIRST), { kept: 6, refusals: [] }],
    ['open interest', normalised('10', FIRST), { kept: 6, refusals: [] }],
    ['no open interest, after a chain with it', normalised('', NEXT), { kept: 0, refusals: refused }],
    ['no open interest, of the same moment', normalised('', FIRST), { kept: 0, refusals: refused }],
    ['no open interest, before a chain with it', optionsdx(AS_OF - 86_400_000), { kept: 164, refusals: [] }],
  ])('%s', async (what, text, expected) => {
    const name = text.startsWith('[') ? 'test_eod_2026.txt' : `${what}.csv`;
    expect(await ingest(file(name, text))).toMatchObject(expected);
  });
});

describe('zomma gex and zomma surface', () => {
  const silent = file(
    'quiet_eod_2026.txt',
    optionsdx(AS_OF, () => [0, 0]),
  );
  test.each<[string[], number, RegExp]>([
    [['gex', chain], 1, /TEST has no open interest, so it has no walls and no flip[\s\S]*--weight volume/],
    [['gex', chain, '--weight', 'volume'], 0, /call wall +105\n/],
    [['gex', silent, '--weight', 'volume'], 1, /QUIET has neither open interest nor volume, so it has no walls/],
    [
      ['gex', chain, '--weight', 'volume', '--sign', 'flow'],
      1,
      /TEST has no open interest, which customers' positions/,
    ],
    [['surface', chain], 0, /2026-09-18/],
    [['ingest', chain], 0, /164 stored.*\n {2}TEST: stored without open interest: no levels\n/],
  ])('%p', async (args, code, output) => {
    const found = await run(PROGRAM, [...args, '--data-dir', join(folder, 'data')]);
    expect(found.stdout + found.stderr).toMatch(output);
    expect(found.code).toBe(code);
  });
});
