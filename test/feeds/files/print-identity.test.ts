import { describe, expect, test } from 'bun:test';
import { withStore } from '../../store/samples.ts';
import { type Cells, ids, NOW_MS, read, tape } from './tapes.ts';

describe('each print counts once', () => {
  const other = { price: '25.4' };

  test('a file read twice gives the same ids; equal rows of one file are different prints', async () => {
    const text = tape({}, {}, other, {});
    const first = await ids(text);
    expect(new Set(first).size).toBe(4);
    expect(await ids(text)).toEqual(first);
  });

  test('overlapping files share the ids of their common prints', async () => {
    const [before, shared, after] = ['00', '01', '02'].map((second) => ({
      executed_at: `2026-08-17 13:30:${second}Z`,
    }));
    const morning = await ids(tape(before!, shared!, shared!));
    const day = await ids(tape(shared!, shared!, after!));
    expect(new Set([...morning, ...day]).size).toBe(4);
  });

  test('spelling and fields beside the trade do not change the id', async () => {
    const [id] = await ids(tape({}));
    const same: Cells[] = [
      { executed_at: '2026-08-17T09:30:01.007140-04:00' },
      { option_chain_id: 'O:SPXW260821C05000000', underlying_symbol: 'SPX' },
      { price: '25.30', size: '40.0', upstream_condition_detail: 'AUTO' },
      { upstream_condition_detail: 'slan' },
      { canceled: 't', delta: '0.5', side: 'bid', report_flags: '{floor}', nbbo_bid: '' },
    ];
    for (const cells of same) expect([cells, await ids(tape(cells))]).toEqual([cells, [id!]]);
  });

  const trades: Cells[] = [
    { executed_at: '2026-08-17 13:30:01.007141+00' },
    { option_chain_id: 'SPXW260821P05000000', option_type: 'put' },
    { option_chain_id: 'SPX260821C05000000' },
    { price: '25.31' },
    { size: '41' },
    { exchange: 'XPHL' },
  ];
  test.each(trades)('%j is another print', async (cells) =>
    expect(await ids(tape(cells))).not.toEqual(await ids(tape({}))),
  );

  test('an id column decides; numbers of exchanges are unique per day and contract', async () => {
    expect(await ids(tape({ id: 'x', trade_id: '7' }, { id: 'x', price: '1' }))).toEqual(['x', 'x']);
    const name = async (cells: Cells) => (await ids(tape({ trade_id: '7', ...cells })))[0];
    expect(await name({ price: '1' })).toBe(await name({}));
    expect(await name({ executed_at: '2026-08-18 13:30:01Z' })).not.toBe(await name({}));
    expect(await name({ option_chain_id: '', strike: '5005' })).not.toBe(await name({}));
    expect(await ids(tape({ sequence: '7' }))).toEqual([(await name({}))!]);
  });

  const canceled = { canceled: 't' };
  test.each<[string, Cells[], number]>([
    ['a row and its canceled copy', [{}, canceled], 0],
    ['a row and a copy with a cancel condition', [{}, { upstream_condition_detail: 'canc' }], 0],
    ['one of two equal rows', [{}, {}, canceled], 1],
    ['both equal rows', [{}, {}, canceled, canceled], 0],
    ['a row that arrives canceled', [canceled], 0],
    ['a canceled row and an equal valid row', [canceled, {}], 1],
    ['a row, its canceled copy, and the row again', [{}, canceled, {}], 1],
  ])('canceled within one file: %s', (_what, rows, valid) =>
    withStore(async (store) => {
      store.savePrints((await read(tape(...rows))).prints);
      store.savePrints((await read(tape(...rows))).prints);
      expect(store.prints('SPX', 0, NOW_MS, false, 0)).toHaveLength(valid);
    }),
  );

  test('a later canceled copy cancels the print', () =>
    withStore(async (store) => {
      const save = async (...rows: Cells[]) => store.savePrints((await read(tape(...rows))).prints).added;
      const valid = () => store.prints('SPX', 0, NOW_MS, false, 0).length;
      expect([await save({}, {}, other), valid()]).toEqual([3, 3]);
      expect([await save({}, { canceled: 't' }, other), valid()]).toEqual([0, 2]);
      expect([await save({}, {}, other), valid()]).toEqual([0, 2]);
    }));
});
