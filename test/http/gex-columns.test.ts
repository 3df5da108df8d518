import { describe, expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';

/** The columns beside a ticker's levels: profile, strikes and expiries, under the options of an analysis. */
const service = serviceForTests();

type Columns = Record<string, number[]> & { ticker: string; spot_price: number; count: number };

async function get(path: string): Promise<{ status: number; body: Columns; headers: Headers }> {
  const response = await service.request('GET', `/api/v1/nodes/gex/${path}${path.includes('?') ? '&' : '?'}digits=17`);
  return { status: response.status, body: (await response.json()) as Columns, headers: response.headers };
}

async function levels(ticker: string): Promise<Record<string, number>> {
  const response = await service.request('POST', '/api/v1/tools/get_live_gex_nodes?extended=true', {
    body: { ticker },
  });
  return (await response.json()) as Record<string, number>;
}

const sum = (column: readonly number[]) => column.reduce((total, each) => total + each, 0);

describe.each(['SPY', 'TSLA', 'XLE'])('%s', (ticker) => {
  test('strikes add up to the totals of the chain and show its walls', async () => {
    const { status, body } = await get(`${ticker}/strikes`);
    const known = await levels(ticker);
    expect(status).toBe(200);
    expect(sum(body.net_gex!) / 1e6).toBeCloseTo(known.net_gex_mil!, 6);
    expect((sum(body.call_gex!) - sum(body.put_gex!)) / 1e6).toBeCloseTo(known.gross_gex_mil!, 6);
    expect(sum(body.net_dex!) / 1e6).toBeCloseTo(known.net_dex_mil!, 4);
    expect(sum(body.net_vex!) / 1e6).toBeCloseTo(known.net_vex_mil!, 4);
    expect(sum(body.net_cex!) / 1e6).toBeCloseTo(known.net_cex_mil!, 4);
    expect(body.strike).toEqual(body.strike!.toSorted((a, b) => a - b));
    const above = body.strike!.map((strike, i) => (strike >= body.spot_price ? body.call_gex![i]! : -1));
    expect(body.strike![above.indexOf(Math.max(...above))]).toBe(known.call_wall!);
    for (const name of ['call_open_interest', 'put_open_interest', 'call_volume', 'put_volume']) {
      expect(Math.min(...body[name]!), name).toBeGreaterThanOrEqual(0);
      expect(sum(body[name]!), name).toBeGreaterThan(0);
    }
  });

  test('expiries add up to the totals of the chain, in order of settlement', async () => {
    const { body } = await get(`${ticker}/expiries`);
    const known = await levels(ticker);
    expect(sum(body.net_gex!) / 1e6).toBeCloseTo(known.net_gex_mil!, 6);
    expect(sum(body.gross_share_pct!)).toBeCloseTo(100, 9);
    expect(body.expired_share_pct!.at(-1)).toBeCloseTo(100, 9);
    expect(body.tte).toEqual(body.tte!.toSorted((a, b) => a - b));
    const row = (body.expiry as unknown as string[]).indexOf(known.expiry as unknown as string);
    expect(body.max_pain![row]).toBe(known.max_pain!);
    body.expected_move!.forEach((move, i) => {
      const [forward, iv] = [body.forward![i], body.atm_iv![i]];
      // During a session, the quotes of a cheap share may give a series no volatility at the money.
      if (forward == null || iv == null) expect(move).toBeNull();
      else expect(move).toBeCloseTo(forward * iv * Math.sqrt(body.tte![i]!), 9);
    });
    for (const skew of body.skew_25d!) expect(Math.abs(skew)).toBeLessThan(0.5);
  });

  test('the profile changes its sign at the flip', async () => {
    const { body } = await get(`${ticker}/profile`);
    const known = await levels(ticker);
    expect(body.gex_flip as unknown as number).toBe(known.gex_flip!);
    const { spot, net_gex: net } = body;
    expect(spot).toHaveLength(body.count);
    const above = spot!.findIndex((level) => level > known.gex_flip!);
    if (known.flip_resolved) expect(Math.sign(net![above]!)).toBe(-Math.sign(net![above - 1]!));
    expect(spot![(body.count - 1) / 2]).toBeCloseTo(body.spot_price, 9);
    expect(net![(body.count - 1) / 2]! / 1e6).toBeCloseTo(known.net_gex_mil!, 4);
  });
});

test('every answer says that the market is simulated', async () => {
  for (const view of ['strikes', 'expiries', 'profile']) {
    const { headers } = await get(`SPY/${view}`);
    expect(headers.get('X-Zomma-Source') ?? [...headers].join()).toContain('simulated');
  }
});

describe('options', () => {
  test('select expiries, weights and the interpretation of the chain', async () => {
    const all = (await get('SPY/expiries')).body;
    const near = (await get('SPY/expiries?expiries=next:10')).body;
    expect(near.count).toBeLessThan(all.count);
    expect(Math.max(...near.tte!)).toBeLessThanOrEqual(10 / 365.25);
    const flat = (await get('SPY/expiries?forward=flat&rate=0&dividend=0')).body;
    expect(flat.forward).toEqual(flat.forward!.map(() => flat.spot_price));
    const byVolume = (await get('SPY/strikes?weight=volume')).body;
    expect(sum(byVolume.net_gex!)).not.toBe(sum((await get('SPY/strikes')).body.net_gex!));
    expect((await get('SPY/profile?rate=0.03')).status).toBe(200);
  });

  test.each([
    ['weight=money', '/weight must be one of "open_interest", "volume"'],
    ['rate=high', '/rate must be a finite number'],
    ['rate=', '/rate must be a finite number'],
    ['rate=4', '/rate must be a finite number, at least -1 and at most 1'],
    ['gamma=feed&gamma=recomputed', '/gamma must be given once'],
    ['expiries=soon', '/expiries must'],
    ['expiries=2026-02-30', '/expiries must be all, 0dte, a date'],
    ['wieght=volume', '/wieght is not a field of this request'],
  ])('%s is refused', async (query, message) => {
    for (const view of ['strikes', 'expiries', 'profile']) {
      const { status, body } = await get(`SPY/${view}?${query}`);
      expect(status).toBe(400);
      expect(body.code as unknown as string).toBe('invalid_parameter');
      expect(body.detail as unknown as string).toContain(message);
    }
  });

  test('a selection without contracts is an unknown expiry', async () => {
    const { status, body } = await get('SPY/strikes?expiries=2040-01-20');
    expect([status, body.code as unknown as string]).toEqual([400, 'unknown_expiry']);
  });

  test('the levels take the options too, with the fields of the API contract', async () => {
    const levels = async (query: string) =>
      (await (await service.request('GET', `/api/v1/nodes/gex/SPY${query}`)).json()) as Columns;
    const [all, near] = [await levels(''), await levels('?expiries=next:10')];
    expect(Object.keys(near)).toEqual(Object.keys(all));
    expect(near.net_gex_mil).not.toBe(all.net_gex_mil);
    expect((await get('SPY?weight=money')).status).toBe(400);
  });

  test('a ticker in the query, beside that of the path, is refused', async () => {
    const { status, body } = await get('SPY/strikes?ticker=TSLA');
    expect([status, body.detail as unknown as string]).toEqual([400, '/ticker is not a field of this request']);
  });
});
