import { describe, expect, test } from 'bun:test';
import { historyRange, historySeries } from '../../../web/chart/history-series.ts';
import type { History } from '../../../web/data/page-answers.ts';
import { loadCalendar } from '../time/server-calendar.ts';

loadCalendar();

/** A history with rows at given moments, whose spots count up from 100. */
function historyAt(per: 'day' | 'snapshot', moments: readonly string[], more: Partial<History> = {}): History {
  const column = (value: (i: number) => number) => moments.map((_, i) => value(i));
  return {
    per,
    count: moments.length,
    as_of: moments.map((moment) => `${moment}:00.000Z`),
    day: moments.map((moment) => moment.slice(0, 10)),
    spot: column((i) => 100 + i),
    gex_flip: column((i) => 90 + i),
    flip_resolved: moments.map(() => true),
    call_wall: column(() => 110),
    put_wall: column(() => 95),
    net_gex: column((i) => (i % 2 ? -5 : 5)),
    atm_iv_30d: column(() => 0.2),
    ...more,
  } as History;
}

const closes = (...days: readonly string[]) => days.map((day) => `${day}T21:00`);

describe('a line breaks', () => {
  test.each([
    ['not over a night', ['2026-11-19', '2026-11-20'], [0, 1]],
    ['not over a weekend', ['2026-11-20', '2026-11-23'], [0, 1]],
    ['not over a holiday', ['2026-11-25', '2026-11-27'], [0, 1]],
    ['where a day is missing', ['2026-11-18', '2026-11-20', '2026-11-23'], [0, null, 1, 2]],
    ['at each of two gaps', ['2026-11-16', '2026-11-18', '2026-11-20'], [0, null, 1, null, 2]],
  ])('by day: %s', (_, days, row) => {
    const series = historySeries(historyAt('day', closes(...days)));
    expect(series.row).toEqual(row);
    expect(series.spot).toEqual(row.map((i) => (i === null ? null : 100 + i)));
    expect(series.gaps).toBe(row.filter((i) => i === null).length);
  });

  test.each([
    ['not within a day', '20T15:00 20T15:30 20T16:00', [0, 1, 2], 0],
    ['where snapshots of a day are missing', '20T15:00 20T15:30 20T16:00 20T18:00', [0, 1, 2, null, 3], 1],
    ['over a night, which is no gap', '19T20:30 19T21:00 20T14:30 20T15:00', [0, 1, null, 2, 3], 0],
    ['not between days of which one snapshot is stored', '19T21:00 20T21:00', [0, 1], 0],
  ])('by snapshot: %s', (_, moments, row, gaps) => {
    const inNovember = moments.split(' ').map((each) => `2026-11-${each}`);
    const series = historySeries(historyAt('snapshot', inNovember));
    expect(series.row).toEqual(row);
    expect(series.gaps).toBe(gaps);
  });

  test('at an unresolved flip, and nowhere else', () => {
    const days = closes('2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20');
    const series = historySeries(historyAt('day', days, { flip_resolved: [true, false, true, false] }));
    expect(series.flip).toEqual([90, null, 92, null]);
    expect(series.spot).toEqual([100, 101, 102, 103]);
  });
});

test('every value of a history stands in its row, and every added row is empty', () => {
  const moments = closes('2026-10-01', '2026-10-05', '2026-10-06', '2026-10-09', '2026-10-13', '2026-10-20');
  const history = historyAt('day', moments, { atm_iv_30d: [0.1, null, 0.3, 0.4, null, 0.6] });
  const series = historySeries(history);
  expect(series.row.filter((i) => i !== null)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(series.x).toEqual(series.x.toSorted((a, b) => a - b));
  for (const [place, i] of series.row.entries()) {
    const { spot, callWall, positive, negative, volatility } = series;
    const values = [spot, callWall, volatility].map((column) => column[place]!);
    if (i === null) expect([...values, positive[place], negative[place]]).toEqual([null, null, null, null, null]);
    else {
      expect(values).toEqual([history.spot[i]!, 110, history.atm_iv_30d[i]!]);
      expect((positive[place] ?? 0) + (negative[place] ?? 0)).toBe(history.net_gex[i]!);
    }
  }
});

test('days are equally far apart, and a missing day leaves a hole as wide as a day', () => {
  const { x, row } = historySeries(historyAt('day', closes('2026-11-19', '2026-11-20', '2026-11-23', '2026-11-25')));
  expect(row).toEqual([0, 1, 2, null, 3]);
  expect(x).toEqual([0.5, 1.5, 2.5, 3.5, 4.5]);
});

test('a flip far from spot does not flatten the prices', () => {
  const days = closes('2026-11-19', '2026-11-20');
  const [low, high] = historyRange(historySeries(historyAt('day', days, { gex_flip: [97, 160] })));
  expect([low, high]).toEqual([expect.closeTo(94.25), expect.closeTo(110.75)]);
  expect(historyRange(historySeries(historyAt('day', [])))).toEqual([0, 1]);
});
