import { describe, expect, test } from 'bun:test';
import { recordDays, recordScope, recordSentence, recordTable } from '../../../web/chart/record-text.ts';
import type { RecordAnswer } from '../../../web/data/page-answers.ts';

const rate = (count: number, pct: number | null, control: number | null = null) => ({
  count,
  pct,
  low_pct: pct === null ? null : pct - 8.4,
  high_pct: pct === null ? null : pct + 5.6,
  control_pct: control,
});
const score = (n: number, held: number, control: number, verdict: string) => ({
  n,
  too_few_days: n < 20,
  held: n < 20 ? rate(held, null) : rate(held, (100 * held) / n, control),
  touched: n < 20 ? rate(1, null) : rate(1, 100 / n, 4),
  crossed: n < 20 ? rate(2, null) : rate(2, 200 / n, 5),
  verdict,
});
const record = {
  count: 3,
  spots_per_day: 2.1016,
  left_out: { no_levels: 192, no_volatility: 0, no_close: 1 },
  call_wall: score(50, 44, 87, 'no better than distance'),
  put_wall: score(50, 50, 50, 'held more often than a level at the same distance'),
  band: score(50, 40, 87, 'no better than distance'),
  flip: score(2, 2, 0, 'too few days'),
  days: {
    date: ['2026-11-18', '2026-11-19', '2026-11-20'],
    at: ['2026-11-17T21:00:00.000Z', '2026-11-18T21:00:00.000Z', '2026-11-19T21:00:00.000Z'],
    spot: [600, 610, 605],
    deviation: [6, 6, 6],
    call_wall: [620, 620, 630],
    put_wall: [580, 580, 590],
    gex_flip: [595, null, 598.5],
    close: [610, 605, 604],
    spots: [3, 3, 2],
    ...Object.fromEntries(
      ['call_wall', 'put_wall', 'band', 'flip'].flatMap((level) =>
        ['held', 'touched', 'crossed'].map((outcome) => [
          `${level}_${outcome}`,
          [true, level === 'flip' ? null : false, outcome === 'held'],
        ]),
      ),
    ),
  },
} as unknown as RecordAnswer;

describe('the words of a level', () => {
  test('say held, touched and crossed beside the control, and the verdict', () => {
    expect(recordSentence(record, 'call_wall')).toBe(
      'Call wall, 50 days: held on 88 % (95 % interval 80 to 94 %), at the same distance 87 %; ' +
        'touched on 2 % (95 % interval −6 to 8 %), at the same distance 4 %; ' +
        'crossed on 4 % (95 % interval −4 to 10 %), at the same distance 5 %. Verdict: no better than distance.',
    );
  });

  test('of fewer than 20 days name counts and no share', () => {
    expect(recordSentence(record, 'flip')).toBe(
      '2 days: held on 2, touched on 1, crossed on 2. Percentages need 20 days.',
    );
    expect(recordSentence(record, 'flip')).not.toContain('%');
  });
});

test('the scope says how much was seen and what is left out', () => {
  expect(recordScope(record)).toBe(
    '3 trading days, Wed 18 Nov 2026 to Fri 20 Nov 2026 · 2.1 spots seen a day, and not what the price did between them · left out: 192 with no levels, 1 with no close',
  );
  expect(recordScope({ ...record, count: 0, left_out: { no_levels: 0, no_volatility: 0, no_close: 0 } })).toBe(
    'No trading day is counted',
  );
});

describe('the days of a level', () => {
  test('are the newest first, with the moment of their levels', () => {
    const days = recordDays(record, 'band');
    expect(days.map(({ date, at, levels, outcomes }) => [date, at.slice(0, 10), levels, outcomes.held])).toEqual([
      ['2026-11-20', '2026-11-19', [590, 630], true],
      ['2026-11-19', '2026-11-18', [580, 620], false],
      ['2026-11-18', '2026-11-17', [580, 620], true],
    ]);
  });

  test('leave out those on which a flip was not resolved', () => {
    expect(recordDays(record, 'flip').map(({ date, levels }) => [date, levels])).toEqual([
      ['2026-11-20', [598.5]],
      ['2026-11-18', [595]],
    ]);
  });
});

test('the table has a row for each level and outcome, and unknown shares stay unknown', () => {
  const { columns, rows } = recordTable(record);
  expect(rows).toHaveLength(12);
  const flip = rows.filter(([level]) => level === 'flip').map((row) => row[columns.indexOf('pct')]);
  expect(flip).toEqual([null, null, null]);
});
