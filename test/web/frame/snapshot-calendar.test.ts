import { expect, test } from 'bun:test';
import { weeksOf } from '../../../web/frame/snapshot-calendar.tsx';

test.each([
  ['2026-11', 6, '2026-11-01', 6],
  ['2027-02', 4, '2027-02-01', 0],
  ['2024-02', 5, '2024-02-01', 3],
])('%s has %d weeks, from Monday', (month, weeks, first, place) => {
  const rows = weeksOf(month);
  expect(rows.length).toBe(weeks);
  expect(rows.every((row) => row.length === 7)).toBe(true);
  expect(rows[0]!.indexOf(first)).toBe(place);
  const dates = rows.flat().filter((date) => date !== null);
  expect(dates).toEqual(dates.toSorted());
  expect(dates.length).toBe(new Date(Number(month.slice(0, 4)), Number(month.slice(5)), 0).getDate());
});
