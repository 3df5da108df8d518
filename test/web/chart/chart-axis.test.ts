import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { expiryDay, expiryLabels, maturityAxis, spacedLabels, strikeAxis } from '../../../web/chart/chart-axis.ts';

test('labels do not overlap, are in order, and the last one always stands', () => {
  const places = fc.array(fc.tuple(fc.double({ min: 0, max: 900, noNaN: true }), fc.integer({ min: 4, max: 90 })), {
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(places, (labels) => {
      const sorted = labels.toSorted(([a], [b]) => a - b);
      const [at, sizes] = [sorted.map(([each]) => each), sorted.map(([, size]) => size)];
      const shown = spacedLabels(at, sizes, 3);
      expect(shown.at(-1)).toBe(at.length - 1);
      for (let k = 1; k < shown.length; k++) {
        const [i, j] = [shown[k - 1]!, shown[k]!];
        expect(at[j]! - sizes[j]! / 2 - (at[i]! + sizes[i]! / 2)).toBeGreaterThanOrEqual(3 - 1e-9);
      }
    }),
  );
  expect(spacedLabels([], [])).toEqual([]);
});

describe('the axis of times', () => {
  const times = [0.002, 0.04, 0.16, 0.5, 2];
  const { x, labels } = maturityAxis(times, ['21 Nov', '27 Nov', '25 Dec', '21 May ’27', '17 Nov ’28'])(50, 650);

  test('it goes from the first to the last settlement, by the roots of the times', () => {
    expect([x(0.002), x(2)]).toEqual([50, 650]);
    const [first, half, last] = [0.002, 0.5, 2].map(Math.sqrt) as [number, number, number];
    expect((x(0.5) - x(0.002)) / 600).toBeCloseTo((half - first) / (last - first), 12);
    const places = times.map(x);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  test('the moment of the quotes is at its left end, and labels stay within the chart', () => {
    expect(x(0)).toBe(50);
    expect(labels.at(-1)).toEqual({ x: 610, text: '17 Nov ’28' });
  });

  test('a dozen of expiries within two weeks, before some of the next years, do not become one line', () => {
    const [days, years] = [Array.from({ length: 12 }, (_, i) => (0.3 + i) / 365), [0.1, 0.2, 0.35, 0.6, 1.1, 2.1]];
    const near = maturityAxis([...days, ...years], [...days, ...years].map(String))(0, 400);
    const places = [...days, ...years].map(near.x);
    for (let i = 1; i < places.length; i++) expect(places[i]! - places[i - 1]!).toBeGreaterThan(5);
    // By the square roots alone these twelve are within 47 pixels.
    expect(places[11]! - places[0]!).toBeGreaterThan(80);
    expect(near.x(days[3]! / 2 + days[4]! / 2)).toBeWithin(places[3]!, places[4]!);
  });

  test('a single settlement is in the middle', () => {
    expect(maturityAxis([0.1], ['18 Dec'])(50, 650).x(0.1)).toBe(350);
    // A time beyond the last settlement is at the end, and does not run back.
    const { x: beyond } = maturityAxis([0.1, 0.5, 2], ['a', 'b', 'c'])(50, 650);
    expect(beyond(2.01)).toBe(beyond(2));
  });
});

test('the axis of strikes has round labels at their places', () => {
  const { x, labels } = strikeAxis(587, 734)(0, 294);
  expect(labels.map(({ text }) => text)).toEqual(['600', '650', '700']);
  expect(labels.map(({ x: at }) => at)).toEqual([x(600), x(650), x(700)]);
});

test('expiries are named by their day, and by their year if it is another', () => {
  const moment = '2026-11-20T21:00:00.000Z';
  expect(expiryDay('2026-12-18', moment)).toBe('Fri 18 Dec');
  expect(expiryDay('2027-01-15', moment)).toBe('Fri 15 Jan 2027');
  expect(expiryLabels(['2026-12-04', '2027-01-15'], moment)).toEqual(['4 Dec', '15 Jan ’27']);
});
