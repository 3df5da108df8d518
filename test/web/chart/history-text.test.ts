import { describe, expect, test } from 'bun:test';
import { daysBefore, historySpan, spanDomain, spanEnds, spanOfRows } from '../../../web/chart/history-span.ts';
import {
  describeHistory,
  historyReadout,
  historyTable,
  selectionText,
  volatilitySentence,
} from '../../../web/chart/history-text.ts';
import type { History } from '../../../web/data/page-answers.ts';
import { tradingAxis } from '../../../web/time/trading-axis.ts';

const history = {
  per: 'day',
  count: 3,
  as_of: ['2026-11-18T21:00:00.000Z', '2026-11-19T21:00:00.000Z', '2026-11-20T21:00:00.000Z'],
  day: ['2026-11-18', '2026-11-19', '2026-11-20'],
  spot: [600, 610, 605],
  gex_flip: [590, 1, 620],
  flip_resolved: [true, false, true],
  call_wall: [620, 620, 630],
  put_wall: [580, 580, 580],
  max_pain: [600, 600, 600],
  net_gex: [1e6, -2e6, -3e6],
  gross_gex: [9e6, 9e6, 9e6],
  net_dex: [1, 2, 3],
  net_vex: [1, 2, 3],
  net_cex: [1, 2, 3],
  atm_iv_30d: [0.2, null, 0.15],
  iv_rank: 25,
  iv_percentile: 40,
  iv_days: 40,
  iv_low: 0.1,
  iv_high: 0.3,
} as unknown as History;

describe('an unresolved flip is unknown', () => {
  test('in the read-out', () => {
    expect(historyReadout(history, 1)).toContain('flip — not resolved');
    expect(historyReadout(history, 0)).toContain('flip 590.00 (−1.7 %)');
    expect(historyReadout(history, 1)).toContain('ATM vol —');
  });

  test('in the sentence', () => {
    expect(describeHistory(history, 1)).toBe(
      '3 days from Wed 18 Nov 2026 to Fri 20 Nov 2026; spot 600.00 to 605.00, between 600.00 and 610.00; flip 620.00 at the end; ' +
        'not resolved on 1 of 3 days; walls 580 and 630; net gamma negative on 2 of 3 days; 1 gap without data.',
    );
    expect(describeHistory({ ...history, count: 0 }, 0)).toBe('No levels are stored in this span.');
  });

  test('in a selection', () => {
    expect(selectionText(history, 0, 2)).toContain('flip +30.00');
    expect(selectionText(history, 0, 1)).toContain('flip — not resolved at both ends');
    expect(selectionText(history, 0, 2)).toContain('put wall unchanged · call wall +10.00');
  });

  test('in the table, whose newest row is the first and opens its moment', () => {
    const opened: string[] = [];
    const { columns, rows, onOpen } = historyTable(history, (at) => opened.push(at));
    const flip = columns.indexOf('gex_flip');
    expect(rows.map((row) => row[flip])).toEqual([620, null, 590]);
    onOpen!(rows[0]!);
    expect(opened).toEqual(['2026-11-20T21:00:00Z']);
  });
});

test.each([
  [{}, 'rank 25 % of the way from 10.0 % to 30.0 % · above 40 % of 40 days'],
  [{ iv_rank: null }, 'every day the same · above 40 % of 40 days'],
  [{ iv_rank: null, iv_percentile: null, iv_days: 1 }, 'a rank needs 20 days of volatilities, and 1 day are known'],
])('the rank of the volatility in words: %p', (change, words) => {
  expect(volatilitySentence({ ...history, ...change } as History)).toBe(`ATM volatility at 30 days 15.0 % · ${words}`);
});

describe('the span', () => {
  const moment = '2026-11-20T21:00:00.000Z';

  test.each([
    [{}, undefined, undefined, 'day'],
    [{ from: '2026-11-13' }, '2026-11-13', undefined, 'snapshot'],
    [{ from: '2026-09-01' }, '2026-09-01', undefined, 'day'],
    [{ from: '2026-09-01', to: '2026-09-05' }, '2026-09-01', '2026-09-05', 'snapshot'],
    [{ from: '2026-09-01', to: '2026-09-05', per: 'day' }, '2026-09-01', '2026-09-05', 'day'],
    [{ from: '2026-11-19T15:00:00Z', to: 'later' }, '2026-11-19T15:00:00Z', undefined, 'snapshot'],
    [{ from: '2026-13-45', per: 'week' }, undefined, undefined, 'day'],
    [{ from: '"><script>', to: '2026-11-19T99:00Z' }, undefined, undefined, 'day'],
  ])('of the settings %p', (own, from, to, per) => {
    expect(historySpan(own as Record<string, string>, moment)).toEqual({ from, to, per: per as 'day' });
  });

  test('of rows of a selection, by day and by snapshot', () => {
    expect(spanOfRows(history, 0, 2)).toEqual({ from: '2026-11-18', to: '2026-11-20' });
    const bySnapshot = spanOfRows({ ...history, per: 'snapshot' }, 1, 2);
    expect(bySnapshot).toEqual({ from: '2026-11-19T21:00:00Z', to: '2026-11-20T21:00:00Z' });
  });

  test('reaches beyond the rows, but not without limit', () => {
    const ends = (from?: string, to?: string) => spanEnds({ from, to, per: 'day' }, history);
    expect(ends('2026-11-01', '2026-11-30')).toEqual({ from: '2026-11-01', to: '2026-11-30' });
    expect(ends('1990-01-01', '2999-01-01')).toEqual({ from: '2025-10-14', to: '2027-12-25' });
    expect(ends()).toEqual({});
  });

  test('within a day shows that part of the axis', () => {
    const ms = Array.from({ length: 14 }, (_, i) => Date.parse('2026-11-20T14:30Z') + i * 1_800_000);
    const axis = tradingAxis(ms, ({ from, to }) => to - from);
    const span = { from: '2026-11-20T15:30:00Z', to: '2026-11-20T16:30:00Z', per: 'snapshot' as const };
    const [low, high] = spanDomain(span, axis);
    expect(ms.filter((each) => axis.at(each) >= low && axis.at(each) <= high)).toHaveLength(3);
    expect(spanDomain({ ...span, per: 'day' }, axis)).toEqual([0, axis.length]);
  });

  test('of some days before a moment is by dates of New York', () => {
    expect(daysBefore('2026-11-21T03:00:00Z', 7)).toBe('2026-11-13');
  });
});
