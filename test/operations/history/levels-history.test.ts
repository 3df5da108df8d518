import { describe, expect, test } from 'bun:test';
import { newYorkInstant, settlementInstant } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Context } from '../../../src/operations/engine/operation.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { detectLethalNodes } from '../../../src/operations/gex/lethal-nodes.ts';
import { getGexHistory } from '../../../src/operations/history/gex-history.ts';
import { getLevelsHistory } from '../../../src/operations/history/levels-history.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { chainOf, contract, quoted } from '../../analytics/small-chains.ts';
import { DAY_MS, keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { recordLevels } from '../../support/record-levels.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { tokensOf } from '../../support/tokens.ts';
import { call, callExtended, refusalOf, smallMarket } from '../small-market.ts';

interface Row {
  readonly as_of: string;
  readonly spot: number;
  readonly [name: string]: unknown;
}
interface Contract {
  readonly strike: number;
  readonly put_call: string;
  readonly expiry_date: string;
  readonly dealer_shares_before: number | null;
  readonly dealer_shares_after: number | null;
}
interface Answer {
  readonly levels: Row[];
  readonly rows_in_range: number;
  readonly comparison?: {
    readonly moved: { level: string; before: unknown; after: unknown }[];
    readonly new_contracts: Contract[];
    readonly gone_contracts: Contract[];
    readonly expired_contracts: Contract[];
  };
  readonly provenance: { readonly as_of: string; readonly source: string; readonly notes: string[] };
}

const ask = (context: Context, args: object) =>
  callExtended(getLevelsHistory, { ticker: 'SPX', ...args }, context) as unknown as Answer;

describe('rows of stored levels', () => {
  const { context, store } = smallMarket({}, MONDAY_MS + 60 * DAY_MS);
  // Two snapshots a day on 45 days.
  for (let day = 0; day < 45; day++) {
    for (const hours of [-1, 0])
      keepLevels(store, { asOf: MONDAY_MS + day * DAY_MS + hours * 3_600_000, spot: 6_000 + day + hours / 4 });
  }
  const dayOf = (day: number) => new Date(MONDAY_MS + day * DAY_MS).toISOString();
  const last = dayOf(44);

  test.each<[string, object, string[]]>([
    ['without arguments: the newest', {}, [last]],
    ['at a moment: the last before it', { at: '2026-01-07T19:30:00Z' }, ['2026-01-07T19:00:00.000Z']],
    ['at a date: its last', { at: '2026-01-07' }, [dayOf(2)]],
    ['from and to: a row per day', { from: '2026-01-06', to: '2026-01-08' }, [dayOf(1), dayOf(2), dayOf(3)]],
    ['per snapshot', { from: '2026-01-06', to: '2026-01-06', per: 'snapshot' }, ['2026-01-06T19:00:00.000Z', dayOf(1)]],
    ['from alone: up to now', { from: dayOf(43) }, [dayOf(43), last]],
    ['to alone: from the first', { to: '2026-01-06' }, [dayOf(0), dayOf(1)]],
  ])('%s', (_name, args, expected) => {
    expect(ask(context, args).levels.map(({ as_of }) => as_of)).toEqual(expected);
  });

  test('more rows than fit are selected evenly, with the first and the last, and a note says so', () => {
    const { levels, rows_in_range, provenance } = ask(context, { from: '2026-01-05' });
    expect([levels.length, rows_in_range, levels[0]!.as_of, levels.at(-1)!.as_of]).toEqual([18, 45, dayOf(0), last]);
    expect(provenance.notes).toContain('18 of 45 rows, evenly spaced: narrow the range for all.');
    expect(tokensOf(call(getLevelsHistory, { ticker: 'SPX', from: '2026-01-05' }, context))).toBeLessThan(2_000);
  });

  test('equal the columns of get_gex_history', () => {
    const history = callExtended(getGexHistory, { ticker: 'SPX', from: '2026-01-05', to: '2026-01-20' }, context);
    const { levels } = ask(context, { from: '2026-01-05', to: '2026-01-20' });
    const column = (name: string) => history[name] as number[];
    expect(
      levels.map((row) => [row.as_of, row.spot, row.call_wall, row.put_wall, row.max_pain, row.atm_iv_30d]),
    ).toEqual(
      levels.map((_, i) =>
        ['as_of', 'spot', 'call_wall', 'put_wall', 'max_pain', 'atm_iv_30d'].map((name) => column(name)[i]!),
      ),
    );
    expect(levels.map(({ net_gex_mil }) => net_gex_mil)).toEqual(column('net_gex').map((each) => each / 1e6));
  });

  test('a range that begins before the oldest levels says so', () => {
    expect(ask(context, { from: '2025-12-01', to: '2026-01-06' }).provenance.notes).toContain(
      'No levels of SPX from before 2026-01-05 are stored.',
    );
    const { notes } = ask(context, { from: '2026-01-05', to: '2026-01-06' }).provenance;
    expect(notes.filter((each) => !each.startsWith('Newest levels: '))).toEqual([]);
  });

  test.each<[string, object, RegExp]>([
    ['from after to', { from: '2026-01-08', to: '2026-01-06' }, /\/from must not lie after \/to/],
    ['a comparison with a range', { compare_with: '2026-01-06', from: '2026-01-05' }, /without \/from and \/to/],
    ['a comparison with a later moment', { compare_with: '2026-06-01' }, /must be earlier than the compared levels/],
    ['no date', { from: 'monday' }, /\/from must be a date/],
    ['a range before all levels', { from: '2025-01-05', to: '2025-01-06' }, /No levels of SPX are stored up to/],
    ['a gap', { from: '2026-01-06T01:00:00Z', to: '2026-01-06T02:00:00Z' }, /No levels of SPX are stored in the range/],
    ['a moment before all levels', { compare_with: '2020-01-01' }, /No levels of SPX are stored up to/],
  ])('%s is refused', (_name, args, message) => {
    expect(refusalOf(() => ask(context, args)).message).toMatch(message);
  });

  test('a gap comes with the last levels before it', () => {
    const gap = { from: '2026-01-06T01:00:00Z', to: '2026-01-06T02:00:00Z' };
    expect(refusalOf(() => ask(context, gap)).hint).toContain(dayOf(0));
  });

  test('a refused moment comes with the oldest stored day', () => {
    expect(refusalOf(() => ask(context, { compare_with: '2020-01-01' })).hint).toContain(dayOf(0));
  });
});

/** A market whose levels are computed from its chains. */
async function recorded(...chains: Chain[]): Promise<Context> {
  const { context, store } = smallMarket({ chains }, chains.at(-1)!.asOf + DAY_MS);
  await recordLevels(store);
  return context;
}

const STRIKES = [90, 95, 100, 105, 110];
const [FIRST, NEXT, THIRD] = ['2026-01-05', '2026-01-06', '2026-01-16'];
/** A chain of ACME at a moment. `open` has the open interest by expiry and strike. */
function acme(
  at: string,
  spot: number,
  expiries: readonly string[],
  open: (expiry: string, strike: number) => number,
): Chain {
  const asOf = newYorkInstant(at, '15:00');
  const rows = expiries.flatMap((expiry) =>
    quoted({ strikes: STRIKES, expiry, spot, asOf }).map((row) =>
      contract({ ...row, openInterest: open(expiry, row.strike), volume: 1 }),
    ),
  );
  return chainOf(rows, { asOf, spot });
}

describe('a comparison of two moments', () => {
  // On Monday, the largest contracts are those of the day and the strikes at 100. On Tuesday, the former have expired, and 110 is new.
  const before = acme(FIRST, 100, [FIRST, THIRD], (expiry, strike) =>
    expiry === FIRST ? 5_000 : strike === 110 ? 1 : 1_000,
  );
  const after = acme(NEXT, 102, [THIRD], (_, strike) => (strike === 110 ? 9_000 : strike === 90 ? 0 : 1_000));
  const compared = async () => ask(await recorded(before, after), { ticker: 'ACME', compare_with: FIRST });

  test('has the levels of both, and those that moved', async () => {
    const context = await recorded(before, after);
    const { levels, comparison } = ask(context, { ticker: 'ACME', compare_with: FIRST });
    const nodesAt = (at?: string) => callExtended(getLiveGexNodes, { ticker: 'ACME', ...(at && { at }) }, context);
    const [earlier, later] = [nodesAt(FIRST), nodesAt()];
    for (const [row, nodes] of [
      [levels[0]!, earlier],
      [levels[1]!, later],
    ] as const) {
      expect(row).toMatchObject({
        spot: nodes.spot_price,
        gex_flip: nodes.flip_resolved ? nodes.gex_flip : null,
        ...{ call_wall: nodes.call_wall, put_wall: nodes.put_wall, max_pain: nodes.max_pain, expiry: nodes.expiry },
        ...{ net_gex_mil: nodes.net_gex_mil, gross_gex_mil: nodes.gross_gex_mil, regime: nodes.regime },
      });
    }
    const moved = Object.fromEntries(comparison!.moved.map(({ level, before: was, after: is }) => [level, [was, is]]));
    expect(moved).toMatchObject({ spot: [100, 102], call_wall: [earlier.call_wall, 110], expiry: [FIRST, THIRD] });
    expect(Object.values(moved).every(([was, is]) => was !== is)).toBe(true);
  });

  test('has the contracts that are new, gone or expired, by the nodes of both moments', async () => {
    const context = await recorded(before, after);
    const { comparison } = ask(context, { ticker: 'ACME', compare_with: FIRST });
    type Node = { strike: number; put_call: string; expiry_date: string; Dealer_Share_Exposure: number };
    const nodesAt = (at: string) =>
      (call(detectLethalNodes, { ticker: 'ACME', at }, context) as { top_nodes: Node[] }).top_nodes;
    const [was, is] = [nodesAt(FIRST), nodesAt(NEXT)];
    const named = (each: Pick<Node, 'strike' | 'put_call' | 'expiry_date'>) =>
      `${each.expiry_date} ${each.strike} ${each.put_call}`;
    const only = (nodes: Node[], others: Node[]) =>
      nodes.filter((each) => !others.some((other) => named(other) === named(each)));
    const isExpired = ({ expiry_date }: Node) => settlementInstant(expiry_date, 'PM') <= after.asOf;
    const [left, come] = [only(was, is), only(is, was)];
    const shares = (nodes: Node[]) => nodes.map((each) => [named(each), each.Dealer_Share_Exposure]);
    const found = (contracts: Contract[], when: 'dealer_shares_before' | 'dealer_shares_after') =>
      contracts.map((each) => [named(each), each[when]]);
    expect(found(comparison!.new_contracts, 'dealer_shares_after')).toEqual(shares(come));
    expect(found(comparison!.expired_contracts, 'dealer_shares_before')).toEqual(shares(left.filter(isExpired)));
    expect(found(comparison!.gone_contracts, 'dealer_shares_before')).toEqual(
      shares(left.filter((each) => !isExpired(each))),
    );
    expect(comparison!.expired_contracts.every((each) => each.dealer_shares_after === null)).toBe(true);
    // A new contract was listed before, with other open interest.
    expect(comparison!.new_contracts.every((each) => each.dealer_shares_before !== null)).toBe(true);
    // The market of this test has some of each kind.
    expect([come, left.filter(isExpired)].map(({ length }) => length > 0)).toEqual([true, true]);
  });

  test('notes name the other dominant expiry, the settled expiries, and what the lists are', async () => {
    const { notes } = (await compared()).provenance;
    expect(notes.filter((each) => !each.startsWith('Newest levels: ')).slice(-3)).toEqual([
      `max_pain is of the dominant expiry, which has changed from ${FIRST} to ${THIRD}: the two are not comparable.`,
      `Settled in between: ${FIRST}.`,
      expect.stringMatching(/^New, gone and expired contracts have entered or left the 10 that dealers hedge most/),
    ]);
  });

  test('if the largest contracts are the same, a note says so, although a wall has moved and an expiry has settled', async () => {
    const open = (largest: number) => (expiry: string, strike: number) =>
      expiry === FIRST ? 0 : strike === largest ? 9_000 : 1_000;
    const [was, is] = [acme(FIRST, 100, [FIRST, THIRD], open(105)), acme(NEXT, 100, [THIRD], open(110))];
    const { comparison, provenance } = ask(await recorded(was, is), { ticker: 'ACME', compare_with: FIRST });
    expect(comparison!.moved).toContainEqual({ level: 'call_wall', before: 105, after: 110 });
    expect(comparison).toMatchObject({ new_contracts: [], gone_contracts: [], expired_contracts: [] });
    expect(provenance.notes.filter((each) => !each.startsWith('Newest levels: ')).slice(-2)).toEqual([
      `Settled in between: ${FIRST}.`,
      'The 10 contracts that dealers hedge most are the same at both moments.',
    ]);
  });

  test.each([
    [[before, after], NEXT, 'Use previous_close for the close before these levels.'],
    [[after], NEXT, 'No earlier levels are stored.'],
  ])('a comparison with the same day names previous_close only if it is stored', async (chains, compare_with, hint) => {
    const context = await recorded(...chains);
    expect(refusalOf(() => ask(context, { ticker: 'ACME', compare_with })).hint).toBe(hint);
  });

  test('the previous close is that of the trading day before the newest levels', async () => {
    const { levels } = ask(await recorded(before, after), { ticker: 'ACME', compare_with: 'previous_close' });
    expect(levels[0]).toEqual((await compared()).levels[0]!);
  });

  test('a comparison at a past moment ends there', async () => {
    const last = acme('2026-01-07', 104, [THIRD], () => 1_000);
    const context = await recorded(before, after, last);
    const { levels } = ask(context, { ticker: 'ACME', at: NEXT, compare_with: 'previous_close' });
    expect(levels.map(({ spot }) => spot)).toEqual([100, 102]);
  });

  // Levels of 5 January and of a later day. 9 January is a Friday.
  test.each<[string, string, string, RegExp | string[]]>([
    ['a day without levels', '2026-01-07', 'previous_close', ['2026-01-06', '2026-01-05']],
    [
      'two days without levels',
      '2026-01-08',
      'previous_close',
      /^No levels of SPX are stored for 2026-01-07: .* 2 days older$/,
    ],
    [
      'a week without levels',
      '2026-01-15',
      'previous_close',
      /^No levels of SPX are stored for 2026-01-14: .* 9 days older$/,
    ],
    [
      'a named day a week later',
      '2026-01-15',
      '2026-01-12',
      /^No levels of SPX are stored for 2026-01-12: .* 7 days older$/,
    ],
    ['the evening of the day', '2026-01-07', '2026-01-05', []],
    ['the morning after, before the open', '2026-01-07', '2026-01-06T09:00:00-05:00', []],
    ['a moment within the next session', '2026-01-07', '2026-01-06T11:00:00-05:00', ['2026-01-06', '2026-01-05']],
  ])('compared with %s', (_what, day, compare_with, expected) => {
    const { context, store } = smallMarket({}, MONDAY_MS + 300 * DAY_MS);
    for (const each of ['2026-01-05', day]) keepLevels(store, { asOf: newYorkInstant(each, '15:00') });
    const compare = () => ask(context, { compare_with });
    if (expected instanceof RegExp) {
      const { message, hint } = refusalOf(compare);
      expect(message).toMatch(expected);
      expect(hint).toBe('To compare with them, set compare_with to 2026-01-05T20:00:00.000Z.');
      expect(ask(context, { compare_with: '2026-01-05T20:00:00.000Z' }).levels[0]!.as_of).toBe(
        '2026-01-05T20:00:00.000Z',
      );
      return;
    }
    const [asked, found] = expected;
    const note = `No levels are stored for ${asked}. The comparison is with those of ${found}.`;
    const { levels, provenance } = compare();
    expect(levels[0]!.as_of).toBe('2026-01-05T20:00:00.000Z');
    expect(provenance.notes.filter((each) => each.startsWith('No levels'))).toEqual(asked ? [note] : []);
  });

  test('a weekend is no gap', () => {
    const { context, store } = smallMarket({}, MONDAY_MS + 300 * DAY_MS);
    for (const each of ['2026-01-09', '2026-01-12']) keepLevels(store, { asOf: newYorkInstant(each, '15:00') });
    for (const compare_with of ['previous_close', '2026-01-11']) {
      expect(ask(context, { compare_with }).provenance.notes.join()).not.toContain('No levels');
    }
  });

  test('without the chain of one of the moments, contracts are not compared, and a note says so', () => {
    const { context, store } = smallMarket({}, MONDAY_MS + 9 * DAY_MS);
    for (const day of [0, 1]) keepLevels(store, { asOf: MONDAY_MS + day * DAY_MS, spot: 6_000 + day });
    store.removeOld({ chainsFromMs: MONDAY_MS + 1, presentMs: MONDAY_MS + 9 * DAY_MS });
    const { comparison, provenance } = ask(context, { compare_with: '2026-01-05' });
    expect(comparison).toMatchObject({ moved: [{ level: 'spot' }], new_contracts: [], gone_contracts: [] });
    expect(provenance.notes.join()).toContain('no longer stored');
  });
});

describe('the caveats of get_live_gex_nodes on the newest levels', () => {
  // On both days, puts outweigh calls at the call wall, and the strike with most put gamma is above spot.
  const chains = [FIRST, NEXT].map((day) => {
    const asOf = newYorkInstant(day, '15:00');
    const rows = quoted({ strikes: STRIKES, expiry: THIRD, spot: 100, asOf }).map((row) =>
      contract({ ...row, openInterest: row.strike === 105 ? (row.callPut === 1 ? 5_000 : 6_000) : 1_000 }),
    );
    return chainOf(rows, { asOf, spot: 100 });
  });
  const caveatsAt = (context: Context, at?: string) =>
    (callExtended(getLiveGexNodes, { ticker: 'ACME', ...(at && { at }) }, context) as unknown as Answer).provenance
      .notes;

  test.each<[string, object, string | undefined, boolean]>([
    ['without arguments', {}, undefined, false],
    ['of a past moment', { at: FIRST }, FIRST, false],
    ['of a range with one row', { to: FIRST }, FIRST, false],
    ['of a range', { from: FIRST }, undefined, true],
    ['of a comparison', { compare_with: FIRST }, undefined, true],
  ])('%s', async (_what, args, at, isOneOfSeveral) => {
    const context = await recorded(...chains);
    const caveats = caveatsAt(context, at);
    expect(caveats.join()).toMatch(/puts outweigh calls.*|most put gamma is above spot/);
    const { notes } = ask(context, { ticker: 'ACME', ...args }).provenance;
    const prefix = isOneOfSeveral ? 'Newest levels: ' : '';
    for (const each of caveats) expect(notes).toContain(`${prefix}${each}`);
  });

  test('without the chain, those that follow from the levels alone', () => {
    const { context, store } = smallMarket({}, MONDAY_MS + 9 * DAY_MS);
    for (const [underlying, flipResolved] of [
      ['SPX', false],
      ['NDX', true],
    ] as const) {
      keepLevels(store, { underlying, netGex: 1e7, flipResolved });
      // The store keeps the newest chain.
      keepLevels(store, { underlying, asOf: MONDAY_MS + DAY_MS });
    }
    store.removeOld({ chainsFromMs: MONDAY_MS + 1, presentMs: MONDAY_MS + 9 * DAY_MS });
    const noted = (ticker: string) => ask(context, { ticker, at: '2026-01-05' }).provenance.notes.join();
    expect(noted('SPX')).toMatch(/^Net gamma has one sign within 50 % of spot.*regime is undetermined/);
    expect(noted('NDX')).toMatch(/^Net GEX would be 0 if 0\.054 % .* regime is undetermined\.$/);
  });
});

describeRecorded('on recorded chains', (dir) => {
  test.each(recordedNames(dir))(
    '%s: a shifted snapshot of the day before is compared contract by contract',
    async (name) => {
      const now = recordedChain(dir, name);
      const before: Chain = {
        ...now,
        asOf: now.asOf - DAY_MS,
        openInterest: now.openInterest.map((each, row) => (row % 3 === 0 ? 0 : each)),
      };
      const context = await recorded(before, now);
      const ticker = now.underlying;
      const { comparison, levels } = ask(context, { ticker, compare_with: new Date(before.asOf).toISOString() });
      const nodesAt = (asOf: number) =>
        (
          callExtended(detectLethalNodes, { ticker, at: new Date(asOf).toISOString() }, context) as {
            top_nodes: object[];
          }
        ).top_nodes;
      const keys = (nodes: object[]) => new Set(nodes.map((each) => JSON.stringify(Object.values(each).slice(0, 3))));
      const [was, is] = [keys(nodesAt(before.asOf)), keys(nodesAt(now.asOf))];
      expect(keys(comparison!.new_contracts)).toEqual(is.difference(was));
      expect(keys([...comparison!.gone_contracts, ...comparison!.expired_contracts])).toEqual(was.difference(is));
      expect(levels.map(({ spot }) => spot)).toEqual([before.spot, now.spot]);
      expect(
        tokensOf(call(getLevelsHistory, { ticker, compare_with: new Date(before.asOf).toISOString() }, context)),
      ).toBeLessThan(1_850);
    },
  );
});
