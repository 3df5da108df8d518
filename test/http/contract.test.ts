import { describe, expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';
import { type RequestOptions, startService } from '../support/service.ts';

/** The contract, endpoint by endpoint: fields, types, defaults and statuses. */
const service = serviceForTests({ hasAllTickers: true });

const UNIVERSE = {
  beta_lords: 'SPY QQQ IWM DIA SMH XLF VXX',
  hyperscalers: 'NVDA MSFT AAPL GOOGL AMZN META AVGO ORCL TSM',
  macro_anchors: 'TLT HYG UUP FXI EEM JPM GS',
  energy_metals: 'XLE USO GLD SLV XOM FCX GDX',
  capital_incinerators: 'RIVN LCID PLUG NIO SNAP CHPT',
  toxic_tech_and_rot: 'INTC BA PYPL DIS WBD PFE',
  fintech_decay: 'SOFI HOOD AFRM UPST COIN',
  cult_proxies_and_traps: 'TSLA PLTR MSTR GME AMC SMCI',
  sedated_leviathans: 'BRK.B JNJ KO PG WMT COST',
};
const TICKERS = Object.values(UNIVERSE).flatMap((theme) => theme.split(' '));

const GREEKS = ['delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];
const NUMBERS = Object.fromEntries(GREEKS.map((name) => [name, 'number'] as const));
const OPTION = { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22 };

const NODES_REST = {
  ticker: 'string',
  spot_price: 'number',
  expiry: 'string',
  max_pain: 'number',
  call_wall: 'number',
  put_wall: 'number',
  gex_flip: 'number',
  net_gex_mil: 'number',
};
const { net_gex_mil: _, expiry: __, ...NODES_COMMON } = NODES_REST;

/** Tool, sufficient arguments, and the exact fields of the answer. */
const TOOLS: readonly [name: string, args: Record<string, unknown>, fields: Record<string, string>][] = [
  ['compute_options_greeks', { ...OPTION, rate: 0.04 }, NUMBERS],
  ['get_live_gex_nodes', { ticker: 'SPY' }, { ...NODES_COMMON, whale_expiry: 'string' }],
  [
    'get_whale_prints',
    { ticker: 'SPY', target_expiry: '(a listed one)' },
    { net_fiat_exposure: 'number', call_fiat_paid: 'number', put_fiat_paid: 'number', net_volume_delta: 'integer' },
  ],
  [
    'calculate_merton_probability',
    { ticker: 'SPY', spot_price: 500, ambush_strike: 510 },
    { ticker: 'string', ambush_strike: 'number', merton_probability: 'number' },
  ],
  [
    'calculate_kelly_sizing',
    { win_prob: 0.6 },
    { win_probability: 'number', recommended_portfolio_allocation_pct: 'number' },
  ],
  [
    'run_strategic_omni_radar',
    { ticker: 'SPY' },
    {
      ticker: 'string',
      spot_price: 'number',
      state_density: 'object',
      gex_boundaries: 'object',
      institutional_concentration_pct: 'number',
      institutional_concentration_all_expiries_pct: 'number',
      whipsaw_risk_index: 'number',
      whipsaw_components: 'object',
    },
  ],
  [
    'evaluate_market_hamiltonian',
    { ticker: 'SPY', whale_fiat_kinetic: 3e8, gex_potential_friction: 9e8, iv_crush_factor: 1 },
    { System_Energy: 'number', State: 'string', Behavior: 'string', Directive: 'string' },
  ],
  ['detect_lethal_nodes', { ticker: 'SPY' }, { top_nodes: 'object' }],
  [
    'evaluate_etf_contagion',
    { single_name_ticker: 'NVDA', whale_fiat: 1e12, current_iv: 0.6, iv_ceiling: 0.5 },
    { etf_proxy: 'string' },
  ],
];

describe('public endpoints', () => {
  test('GET /health answers online without a key', async () => {
    const response = await service.request('GET', '/health', { headers: { 'X-API-Key': null } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toStartWith('application/json');
    expect(await response.json()).toEqual({ status: 'online' });
  });

  test('GET /api/v1/auth/my-key returns the same key every time, in any case of the uuid', async () => {
    for (const uuid of [service.uuid, service.uuid.toUpperCase(), service.uuid]) {
      const response = await service.request('GET', `/api/v1/auth/my-key?uuid=${uuid}`, {
        headers: { 'X-API-Key': null },
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ status: 'authorized', api_key: service.key });
    }
    expect(service.key).toMatch(/^ZOMMA_[0-9A-HJKMNP-TV-Z]{16}$/);
  });

  test('GET /api/v1/auth/telegram-status answers for a member without a link', async () => {
    const path = `/api/v1/auth/telegram-status?uuid=${service.uuid}`;
    const response = await service.request('GET', path, { headers: { 'X-API-Key': null } });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      status: 'unlinked',
      telegram_id: '',
      routing_1dte: 'DISABLED',
      routing_radar: 'DISABLED',
      last_ping: '',
    });
  });

  test('GET /api/v1/auth/telegram-status answers for a linked member', async () => {
    const uuid = 'a3bb189e-8bf9-4c5a-9d6f-0c7a1b2c3d4e';
    await service.app.access.addMember({ uuid });
    service.app.store.saveTelegramLink(uuid, {
      telegramId: '5551234567',
      routing1dte: true,
      routingRadar: false,
      lastPingAt: Date.UTC(2026, 2, 4, 5, 6, 7),
    });
    const response = await service.request('GET', `/api/v1/auth/telegram-status?uuid=${uuid}`);
    const { telegram_id, ...rest } = (await response.json()) as Record<string, string>;
    expect(rest).toEqual({
      status: 'linked',
      routing_1dte: 'ENABLED',
      routing_radar: 'DISABLED',
      last_ping: '2026-03-04 05:06:07',
    });
    expect(telegram_id).toMatch(/^5\d{1,4}\*+$/);
  });
});

describe('GET /api/v1/universe', () => {
  test('lists exactly the 59 tickers, by theme, in the contract’s order', async () => {
    const response = await service.request('GET', '/api/v1/universe');
    expect(response.status).toBe(200);
    const body = (await response.json()) as { macro_themes: Record<string, string[]> };
    expect(body).toEqual({
      status: 'success',
      total_tracked: 59,
      macro_themes: Object.fromEntries(Object.entries(UNIVERSE).map(([theme, tickers]) => [theme, tickers.split(' ')])),
    } as never);
    expect(Object.keys(body)).toEqual(['status', 'total_tracked', 'macro_themes']);
    expect(Object.keys(body.macro_themes)).toEqual(Object.keys(UNIVERSE));
  });
});

describe('GET /api/v1/nodes/gex/{ticker}', () => {
  test('answers every ticker of the universe with exactly eight fields', async () => {
    for (const ticker of TICKERS) {
      const response = await service.request('GET', `/api/v1/nodes/gex/${ticker}`);
      expect(response.status).toBe(200);
      const body = (await response.json()) as Record<string, unknown>;
      expectFields(body, NODES_REST);
      expect(body.ticker).toBe(ticker);
      expect(body.expiry).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(response.headers.get('x-data-source')).toBe('simulated');
      expect(response.headers.get('x-data-simulated')).toBe('true');
      expect(Date.parse(response.headers.get('x-data-as-of')!)).toBeLessThanOrEqual(Date.now());
    }
  });

  test.each([
    ['ZZZZ', 'unknown_ticker'],
    ['SP%20Y', 'unknown_ticker'],
    ['%00', 'unknown_ticker'],
    ['..%2f..%2fetc', 'unknown_ticker'],
    ['A'.repeat(300), 'invalid_parameter'],
  ])('refuses %s with 400 %s', async (ticker, code) => {
    await expectProblem(service.request('GET', `/api/v1/nodes/gex/${ticker}`), 400, code);
  });
});

describe('POST /api/v1/physics/greeks', () => {
  const PATH = '/api/v1/physics/greeks';
  const refused = (sent: RequestOptions) => expectProblem(service.request('POST', PATH, sent), 422, 'invalid_body');

  test('answers exactly eight numbers', async () => {
    const response = await service.request('POST', PATH, { body: OPTION });
    expect(response.status).toBe(200);
    expectFields(await response.json(), NUMBERS);
  });

  test.each([
    ['rate', 0.04],
    ['dividend', 0],
  ])('%s defaults to %p', async (field, value) => {
    const [left, given, other] = await Promise.all(
      [OPTION, { ...OPTION, [field]: value }, { ...OPTION, [field]: value + 0.01 }].map(async (body) =>
        (await service.request('POST', PATH, { body })).text(),
      ),
    );
    expect(left).toBe(given!);
    expect(left).not.toBe(other!);
  });

  test.each(Object.keys(OPTION))('refuses a body without %s', async (field) => {
    const { [field as keyof typeof OPTION]: _left, ...body } = OPTION;
    const problem = await refused({ body });
    expect(problem.errors).toContainEqual({ pointer: `/${field}`, detail: expect.any(String) });
  });

  const bad: [name: string, body: unknown, field: string][] = [
    ['an unknown key', { ...OPTION, colour: 'red' }, '/colour'],
    ['a string for a number', { ...OPTION, spot: '100' }, '/spot'],
    ['null', { ...OPTION, strike: null }, '/strike'],
    ['another side', { ...OPTION, put_call: 'X' }, '/put_call'],
    ['a lower-case side', { ...OPTION, put_call: 'c' }, '/put_call'],
    ...['spot', 'strike', 'tte', 'iv'].flatMap((field): [string, unknown, string][] => [
      [`${field} zero`, { ...OPTION, [field]: 0 }, `/${field}`],
      [`${field} negative`, { ...OPTION, [field]: -1 }, `/${field}`],
      [`${field} denormal`, { ...OPTION, [field]: 5e-324 }, `/${field}`],
      [`${field} too large`, { ...OPTION, [field]: 1e300 }, `/${field}`],
    ]),
    ['a rate in percent', { ...OPTION, rate: 4 }, '/rate'],
  ];
  test.each(bad)('refuses %s and names the field', async (_name, body, field) => {
    const problem = await refused({ body });
    expect(problem.errors?.map(({ pointer }) => pointer)).toContain(field);
  });

  test.each([
    ['an empty text', ''],
    ['incomplete JSON', '{"spot":'],
    ['NaN', '{"spot":NaN}'],
    ['Infinity', '{"spot":Infinity}'],
    ['an overflowing number', JSON.stringify(OPTION).replace('"spot":100', '"spot":1e999')],
    ['an array', '[]'],
    ['a number', '1'],
    ['null', 'null'],
    ['100,000 nested arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['100,000 nested objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a __proto__ key', '{"__proto__":{"spot":1},"put_call":"C","spot":100,"strike":105,"tte":0.25,"iv":0.22}'],
  ])('refuses %s as a body', async (_name, raw) => {
    await refused({ raw });
  });

  test.each([
    ['60,000 objects with keys of their own', `[${Array.from({ length: 60_000 }, (_, i) => `{"a${i}":1}`).join()}]`],
    ['60,000 strings', `{"x":[${'"a",'.repeat(60_000)}"a"]}`],
  ])('refuses %s without parsing them', async (_name, raw) => {
    const problem = await refused({ raw });
    expect(problem.detail).toMatch(/^The body is JSON of more than [\d]+ (objects and arrays|strings and keys)$/);
  });

  test('refuses 10 MB, with and without a declared length', async () => {
    const raw = `{"a":"${'x'.repeat(10 * 1024 * 1024)}"}`;
    await expectProblem(service.request('POST', PATH, { raw }), 413, 'body_too_large');
    const chunk = new Uint8Array(256 * 1024).fill(0x20);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++sent > 40) controller.close();
        else controller.enqueue(chunk);
      },
    });
    await expectProblem(service.request('POST', PATH, { raw: stream }), 413, 'body_too_large');
  });
});

describe('POST of columns', () => {
  const TABLE = { ...OPTION, put_call: ['C', 'P', 'P'], strike: [95, 100, 105], iv: [0.2, 0.25, 0.3] };
  const { iv: _iv, ...PRICED } = { ...TABLE, price: [7.5, 4.2, 6.1] };
  const GREEKS_BATCH = '/api/v1/physics/greeks/batch';
  const IV = '/api/v1/physics/iv';
  const post = async (path: string, body: unknown) =>
    (await (await service.request('POST', path, { body })).json()) as Record<string, number[]>;

  const routes: [path: string, body: object, columns: Record<string, 'number' | 'string'>, others: object][] = [
    [GREEKS_BATCH, TABLE, { price: 'number', ...NUMBERS }, { count: 3, units: 'market' }],
    [IV, PRICED, { iv: 'number', status: 'string' }, { count: 3 }],
  ];
  test.each(routes)(
    'POST %s answers exactly its columns, with one value per row',
    async (path, body, columns, others) => {
      const response = await service.request('POST', path, { body });
      expect(response.status).toBe(200);
      const answer = (await response.json()) as Record<string, unknown[]>;
      expect(Object.keys(answer).sort()).toEqual([...Object.keys(others), ...Object.keys(columns)].sort());
      expect(answer).toMatchObject(others);
      for (const [name, type] of Object.entries(columns))
        expect([name, answer[name]!.map((each) => typeof each)]).toEqual([name, [type, type, type]]);
    },
  );

  test.each(
    routes.flatMap(([path, body]) =>
      ['put_call', 'spot', 'strike', 'tte'].map((field) => [path, field, body] as const),
    ),
  )('POST %s requires %s', async (path, field, body) => {
    const { [field as keyof typeof body]: _left, ...rest } = body;
    const problem = await expectProblem(service.request('POST', path, { body: rest }), 422, 'invalid_body');
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual([`/${field}`]);
  });

  const defaults: [path: string, body: object, field: string, value: unknown, other: unknown][] = [
    [GREEKS_BATCH, TABLE, 'rate', 0.04, 0.05],
    [GREEKS_BATCH, TABLE, 'dividend', 0, 0.01],
    [GREEKS_BATCH, TABLE, 'units', 'market', 'raw'],
    [IV, PRICED, 'rate', 0.04, 0.05],
    [IV, PRICED, 'dividend', 0, 0.01],
  ];
  test.each(defaults)('POST %s of %j: %s defaults to %p', async (path, body, field, value, other) => {
    const left = await post(path, body);
    expect(await post(path, { ...body, [field]: value })).toEqual(left);
    expect(await post(path, { ...body, [field]: other })).not.toEqual(left);
  });

  const bad: [what: string, overrides: object, pointer: string][] = [
    ['an unknown key', { colour: [1, 2, 3] }, '/colour'],
    ['columns of different length', { strike: [95, 100] }, '/strike'],
    ['an item out of bounds', { strike: [95, -1, 105] }, '/strike/1'],
    ['an item that is text', { tte: [0.1, 0.2, '0.3'] }, '/tte/2'],
    ['a null among numbers', { spot: [100, null, 100] }, '/spot/1'],
    ['an array within a column', { spot: [[100], 100, 100] }, '/spot/0'],
    ['another side', { put_call: ['C', 'c', 'P'] }, '/put_call/1'],
    ['a column that is an object', { spot: { 0: 100 } }, '/spot'],
    ['more rows than the limit', { spot: Array(20_001).fill(100) }, '/spot'],
  ];
  test.each(
    routes.flatMap(([path, body]) =>
      bad.map(([what, overrides, pointer]) => [path, what, { ...body, ...overrides }, pointer] as const),
    ),
  )('POST %s refuses %s and says where', async (path, _what, body, pointer) => {
    const problem = await expectProblem(service.request('POST', path, { body }), 422, 'invalid_body');
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
  });

  test('names a column of another length, with both lengths', async () => {
    const body = { ...TABLE, iv: [0.2] };
    const problem = await expectProblem(service.request('POST', GREEKS_BATCH, { body }), 422, 'invalid_body');
    expect(problem.errors).toEqual([{ pointer: '/iv', detail: 'must have as many items as /put_call: 3, not 1' }]);
  });

  test('the maximum number of rows, with all digits of a double, fits into the body limit', async () => {
    const body = Object.fromEntries(
      Object.entries(OPTION).map(([name, value]) => [
        name,
        Array(20_000).fill(typeof value === 'string' ? value : value + 1e-7 / 3),
      ]),
    );
    const { count, delta } = (await post(GREEKS_BATCH, body)) as unknown as { count: number; delta: number[] };
    expect([count, new Set(delta).size]).toEqual([20_000, 1]);
    const raw = `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`;
    await expectProblem(service.request('POST', GREEKS_BATCH, { raw }), 413, 'body_too_large');
  });
});

describe('POST /api/v1/tools/{name}', () => {
  test.each(TOOLS)('%s answers exactly its fields', async (name, args, fields) => {
    const response = await service.request('POST', `/api/v1/tools/${name}`, { body: withListedExpiry(args) });
    expect(response.status).toBe(200);
    expectFields(await response.json(), fields);
  });

  test.each(TOOLS)('%s: the extended answer contains the default answer', async (name, args, fields) => {
    const body = withListedExpiry(args);
    const plain = await (await service.request('POST', `/api/v1/tools/${name}`, { body })).json();
    const response = await service.request('POST', `/api/v1/tools/${name}?extended=true`, { body });
    expect(response.status).toBe(200);
    const extended = (await response.json()) as Record<string, unknown>;
    for (const field of Object.keys(fields)) expect(extended[field]).toEqual((plain as Record<string, unknown>)[field]);
    expect(Object.keys(extended).length).toBeGreaterThan(Object.keys(fields).length);
  });

  test.each(TOOLS)('%s refuses an unknown key', async (name, args) => {
    const body = { ...args, extra: 1 };
    await expectProblem(service.request('POST', `/api/v1/tools/${name}`, { body }), 422, 'invalid_body');
  });

  const defaults: [name: string, field: string, value: number, args: Record<string, unknown>][] = [
    ['compute_options_greeks', 'dividend', 0, { ...OPTION, rate: 0.04 }],
    ['calculate_merton_probability', 'stag_prob', 0.5, { ticker: 'SPY', spot_price: 500, ambush_strike: 501 }],
    ['calculate_merton_probability', 'days_to_expiry', 1, { ticker: 'SPY', spot_price: 500, ambush_strike: 501 }],
    ['calculate_kelly_sizing', 'payout_ratio', 3, { win_prob: 0.6 }],
    ['calculate_kelly_sizing', 'fractional_kelly', 0.5, { win_prob: 0.6 }],
    ['run_strategic_omni_radar', 'target_dte', 30, { ticker: 'SPY' }],
  ];
  test.each(defaults)('%s: %s defaults to %d', async (name, field, value, args) => {
    const call = async (body: unknown) => (await service.request('POST', `/api/v1/tools/${name}`, { body })).text();
    expect(await call(args)).toBe(await call({ ...args, [field]: value }));
  });

  const required: [name: string, field: string, args: Record<string, unknown>][] = TOOLS.flatMap(([name, args]) =>
    Object.keys(args).map((field): [string, string, Record<string, unknown>] => [name, field, args]),
  );
  test.each(required)('%s: requires %s', async (name, field, args) => {
    const { [field]: _left, ...body } = args;
    await expectProblem(service.request('POST', `/api/v1/tools/${name}`, { body }), 422, 'invalid_body');
  });

  test('the nodes of the hedging tool have exactly their fields', async () => {
    const response = await service.request('POST', '/api/v1/tools/detect_lethal_nodes', { body: { ticker: 'SPY' } });
    const { top_nodes } = (await response.json()) as { top_nodes: Record<string, unknown>[] };
    expect(top_nodes.length).toBe(10);
    for (const node of top_nodes) {
      expectFields(node, {
        strike: 'number',
        put_call: 'string',
        expiry_date: 'string',
        Dealer_Share_Exposure: 'integer',
        Delta_Flux_j: 'number',
      });
    }
    const exposures = top_nodes.map((node) => Math.abs(node.Dealer_Share_Exposure as number));
    expect(exposures).toEqual(exposures.toSorted((a, b) => b - a));
  });

  test.each([
    ['an ETF', 'SPY', null],
    ['a ticker without a proxy', 'SPY', null],
    ['a ticker with a proxy', 'NVDA', 'SMH'],
  ])('contagion of %s (%s) is %p', async (_name, single_name_ticker, etf_proxy) => {
    const body = { single_name_ticker, whale_fiat: -1e12, current_iv: 0.5, iv_ceiling: 0.5 };
    const response = await service.request('POST', '/api/v1/tools/evaluate_etf_contagion', { body });
    expect(await response.json()).toEqual({ etf_proxy } as never);
  });

  test('extended must be true or false', async () => {
    const path = '/api/v1/tools/calculate_kelly_sizing?extended=maybe';
    await expectProblem(service.request('POST', path, { body: { win_prob: 0.5 } }), 400, 'invalid_parameter');
  });
});

describe('authentication', () => {
  const guarded: [method: string, path: string][] = [
    ['GET', '/api/v1/universe'],
    ['GET', '/api/v1/nodes/gex/SPY'],
    ['POST', '/api/v1/physics/greeks'],
    ['POST', '/api/v1/physics/greeks/batch'],
    ['POST', '/api/v1/physics/iv'],
    ['POST', '/api/v1/tools/calculate_kelly_sizing'],
    ['GET', '/api/v1/nothing'],
  ];
  const withKey = (method: string, path: string, key: string | null) =>
    service.request(method, path, { ...(method === 'POST' && { raw: 'no json' }), headers: { 'X-API-Key': key } });
  test.each(guarded)('%s %s without a key is 401, before the request is parsed', async (method, path) => {
    await expectProblem(withKey(method, path, null), 401, 'key_missing');
  });

  const badKeys = ['nonsense', 'OTHER_0123456789ABCDEF', 'ZOMMA_0123456789ABCDEF', 'ZOMMA_', 'zomma_0123456789abcdef'];
  test.each(guarded.flatMap((each) => badKeys.map((key) => [...each, key] as const)))(
    '%s %s with key %s is 403',
    async (method, path, key) => {
      const problem = await expectProblem(withKey(method, path, key), 403, 'key_invalid');
      expect(JSON.stringify(problem)).not.toContain(key);
    },
  );

  const streams: [method: string, path: string][] = [
    ['GET', '/sse'],
    ['POST', '/messages'],
    ['POST', '/messages?sessionId=none'],
  ];
  test.each(streams.flatMap((each) => [null, ...badKeys].map((key) => [...each, key] as const)))(
    '%s %s with key %p is 403 with the contract’s message',
    async (method, path, key) => {
      const problem = await expectProblem(withKey(method, path, key), 403, 'key_invalid');
      expect(problem.detail).toBe('403 Forbidden: Invalid Subscriber Key');
    },
  );

  test('refuses two keys in one request', async () => {
    const headers = { 'X-API-Key': `${service.key}, ${service.key}` };
    await expectProblem(service.request('GET', '/api/v1/universe', { headers }), 403, 'key_invalid');
  });

  test('unknown, ineligible, revoked and expired members get the same refusal', async () => {
    const { access } = service.app;
    await access.addMember({ uuid: '11111111-1111-4111-8111-111111111111', tier: 'none' });
    await access.addMember({ uuid: '22222222-2222-4222-8222-222222222222' });
    await access.revoke('22222222-2222-4222-8222-222222222222');
    await access.addMember({ uuid: '33333333-3333-4333-8333-333333333333', expiresAt: Date.now() - 1 });
    const bodies = await Promise.all(
      ['00000000', '11111111', '22222222', '33333333'].map(async (start) => {
        const digit = start[0]!;
        const uuid = `${start}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`;
        const asked = service.request('GET', `/api/v1/auth/my-key?uuid=${uuid}`);
        const { request_id: _id, ...problem } = await expectProblem(asked, 403, 'member_refused');
        return JSON.stringify(problem);
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  test('POST /api/v1/auth/sign-in gives the key for a code once, and nothing for other codes', async () => {
    const code = service.app.signInCodes.issue(service.uuid);
    const ask = (authorization: string) =>
      service.request('POST', '/api/v1/auth/sign-in', { headers: { Authorization: authorization, 'X-API-Key': null } });
    for (const wrong of ['', 'Bearer ', `Bearer ${'0'.repeat(32)}`, code, `Bearer ${service.key}`])
      await expectProblem(ask(wrong), 403, 'key_invalid');
    expect(await (await ask(`Bearer ${code}`)).json()).toEqual({ status: 'authorized', api_key: service.key });
    await expectProblem(ask(`Bearer ${code}`), 403, 'key_invalid');
  });

  test('refuses a revoked key at once', async () => {
    const uuid = '44444444-4444-4444-8444-444444444444';
    const { apiKey } = await service.app.access.addMember({ uuid });
    const ask = () => service.request('GET', '/api/v1/universe', { headers: { 'X-API-Key': apiKey } });
    expect((await ask()).status).toBe(200);
    await service.app.access.revoke(uuid);
    await expectProblem(ask(), 403, 'key_invalid');
  });

  const endpoints = ['/api/v1/auth/my-key', '/api/v1/auth/telegram-status'];
  const badUuids = ['', '?uuid=', '?uuid=abc', `?uuid=${'0'.repeat(32)}`, '?uuid=%00', '?uuid=a&uuid=b', '?UUID=x'];
  test.each(endpoints.flatMap((path) => badUuids.map((query) => [path, query] as const)))(
    '%s%s is 400',
    async (path, query) => {
      await expectProblem(service.request('GET', path + query), 400, 'invalid_parameter');
    },
  );
});

describe('other paths, methods and hosts', () => {
  test.each([
    ['POST', '/health', 'GET'],
    ['DELETE', '/api/v1/universe', 'GET'],
    ['GET', '/api/v1/physics/greeks', 'POST'],
    ['GET', '/api/v1/physics/iv', 'POST'],
    ['PUT', '/api/v1/nodes/gex/SPY', 'GET'],
    ['OPTIONS', '/api/v1/universe', 'GET'],
    ['POST', '/sse', 'GET'],
    ['GET', '/messages', 'POST'],
  ])('%s %s is 405 and allows %s', async (method, path, allow) => {
    const response = await service.request(method, path);
    expect(response.headers.get('allow')).toBe(allow);
    await expectProblem(response, 405, 'method_not_allowed');
  });

  test.each(['//', '/nothing', '/api/v1/tools/none', '/api/v1/nodes/gex/', '/health/', '/api/v1/nodes/gex/SPY/more'])(
    '%s is 404',
    async (path) => {
      await expectProblem(service.request('GET', path), 404, 'not_found');
    },
  );

  test('HEAD is GET without the body; a stream does not answer HEAD', async () => {
    const response = await service.request('HEAD', '/health', { headers: { 'X-API-Key': null } });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect((await service.request('HEAD', '/api/v1/nodes/gex/ZZZZ')).status).toBe(400);
    expect((await service.request('HEAD', '/sse')).status).toBe(405);
  });

  test.each(['a', 'ab', 'a.b', 'a:1', 'localhost', '[::1]:80', '127.0.0.1:8080'])(
    'with the host %s, authentication and router see the same path',
    async (host) => {
      const ask = async (target: string, key?: string) => {
        const response = await service.app.handle(
          new Request(`http://${host}${target}`, key === undefined ? {} : { headers: { 'X-API-Key': key } }),
        );
        return [response.status, await response.text()] as const;
      };
      for (const hidden of ['/api/v1/universe', '/api/v1/nodes/gex/SPY', '/sse', '/messages']) {
        expect(await ask(`/health?${hidden}`)).toEqual([200, '{"status":"online"}']);
        expect((await ask(`/docs?${hidden}`))[1]).toStartWith('<!doctype html>');
        expect((await ask(`/openapi.json?${hidden}`))[0]).toBe(400);
        expect((await ask(`/nothing?${hidden}`))[0]).toBe(401);
      }
      expect((await ask('/api/v1/universe', service.key))[0]).toBe(200);
      expect((await ask('/api/v1/universe?/health'))[0]).toBe(401);
    },
  );

  test('refuses two Host headers', async () => {
    const headers = { Host: 'a.example, b.example' };
    await expectProblem(service.request('GET', '/health', { headers }), 400, 'invalid_parameter');
  });

  test('no observation contains a key or a uuid', () => {
    const logged = JSON.stringify(service.observations.filter(({ kind }) => kind !== 'chain_stored'));
    expect(logged).not.toContain('ZOMMA_');
    expect(logged).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/i);
    expect(service.observations.some(({ kind }) => kind === 'request_failed')).toBe(false);
  });
});

describe('rate limit', () => {
  test('counts REST and /messages together for an account, and says when to retry', async () => {
    await using limited = await startService({ rateLimit: '3/min' });
    const first = await limited.request('GET', '/api/v1/universe');
    expect(first.headers.get('ratelimit-policy')).toBe('"account";q=3;w=60');
    expect(first.headers.get('ratelimit')).toMatch(/^"account";r=2;t=\d+$/);
    await limited.request('POST', '/messages?sessionId=none', { body: {} });
    await limited.request('POST', '/api/v1/physics/greeks', { raw: 'no json' });
    const refused = await limited.request('GET', '/api/v1/universe');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('ratelimit')).toStartWith('"account";r=0;t=');
    await expectProblem(refused, 429, 'rate_limited');
    for (const path of ['/health', '/ready']) expect((await limited.request('GET', path)).status).toBe(200);
    const { apiKey } = await limited.app.access.addMember({ uuid: '55555555-5555-4555-8555-555555555555' });
    expect((await limited.request('GET', '/api/v1/universe', { headers: { 'X-API-Key': apiKey } })).status).toBe(200);
  });
});

interface Problem {
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: { pointer: string; detail: string }[];
}

async function expectProblem(asked: Response | Promise<Response>, status: number, code: string): Promise<Problem> {
  const response = await asked;
  const problem = (await response.json()) as Problem;
  expect({ status: response.status, problem }).toEqual({
    status,
    problem: expect.objectContaining({
      type: expect.any(String),
      title: expect.any(String),
      status,
      detail: expect.any(String),
      code,
      hint: expect.any(String),
      request_id: response.headers.get('x-request-id')!,
    }),
  });
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return problem;
}

/** Expects exactly these fields of these types, and only finite numbers. */
function expectFields(body: unknown, fields: Record<string, string>): void {
  const record = body as Record<string, unknown>;
  expect(Object.keys(record).sort()).toEqual(Object.keys(fields).sort());
  for (const [name, type] of Object.entries(fields)) {
    const value = record[name];
    if (type === 'integer') expect(Number.isInteger(value)).toBe(true);
    else if (type === 'number') expect(Number.isFinite(value)).toBe(true);
    else expect([name, typeof value]).toEqual([name, type]);
  }
}

function withListedExpiry(args: Record<string, unknown>): Record<string, unknown> {
  if (!('target_expiry' in args)) return args;
  const id = service.app.store.latestChainId(String(args.ticker), true)!;
  return { ...args, target_expiry: service.app.store.chain(id)!.series.at(-1)!.expiry };
}
