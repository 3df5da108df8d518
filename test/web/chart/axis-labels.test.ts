import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { AxisLabels, extentTicks, LevelLabels } from '../../../web/chart/axis-labels.tsx';
import type { ChartLevel } from '../../../web/chart/chart-levels.ts';
import { priceAxis } from '../../../web/chart/price-axis.ts';

/** An element of a component, with its length and place along the axis, pixels. */
interface Part {
  readonly type: unknown;
  readonly name: string;
  readonly top: number;
  readonly height: number;
  readonly text: string;
  /** Where a chip is. */
  readonly center: number;
}

/** Returns the elements within what a component without hooks returns. */
function partsOf(node: unknown): Part[] {
  if (Array.isArray(node)) return node.flatMap(partsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type, props } = node as { type: unknown; props: Record<string, unknown> };
  const style = (props.style ?? {}) as { top?: string; height?: string };
  const text = [props.children].flat().filter((each) => typeof each === 'string' || typeof each === 'number');
  const part = {
    type,
    name: String(props.class ?? ''),
    top: Number.parseFloat(style.top ?? ''),
    height: Number.parseFloat(style.height ?? ''),
    text: text.join(''),
    center: Number(props.center),
  };
  return [part, ...partsOf(props.children)];
}

/** The height of a label with its border, pixels. */
const LABEL = 17;
const CHIP = 24;
const NEAR = 24;

const IDS = ['call_wall', 'gex_flip', 'put_wall', 'max_pain', 'spot_price'] as const;

const level = (price: number, i: number): ChartLevel => ({
  id: IDS[i]!,
  name: `level ${i}`,
  initials: `l${i}`,
  text: String(price),
  tone: 'text',
  dash: 'solid',
  width: 1,
  price,
});

describe.each([
  ['a phone', 360, true],
  ['a laptop', 547, false],
  ['a wide page', 1024, false],
] as const)('on %s', (_, height, isNarrow) => {
  test('in 500 random sets of levels no two labels overlap, and each is near its rule or has a leader to it', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1e5, noNaN: true }),
        fc.array(fc.double({ min: -12, max: 12, noNaN: true }), { minLength: 1, maxLength: IDS.length }),
        (spot, percents) => {
          const axis = priceAxis(spot, 9, 0, height);
          const levels = percents.map((percent, i) => level(spot * (1 + percent / 100), i));
          const parts = partsOf(LevelLabels({ levels, axis, isNarrow, onGo() {} }));
          const labels = parts.filter(({ type }) => type === 'span');
          const chips = parts.filter(({ type }) => (type as { name?: string }).name === 'Chip');
          const leaders = parts.filter(({ name }) => name === 'leader');
          const shown = levels.filter(({ price }) => price >= axis.low && price <= axis.high);
          expect(labels.map(({ text }) => text)).toEqual(
            shown.map(({ name, initials, text }) => `${isNarrow ? initials : name} ${text}`),
          );
          // Each level is a label, or beyond an end of the axis a button at this end.
          expect(labels.length + chips.length).toBe(levels.length);
          const centers = [...labels.map(({ top }) => top), ...chips.map(({ center }) => center)];
          for (const center of centers) expect(center).toBeWithin(0, height);
          for (const { center, text } of chips) {
            const others = centers.filter((each) => each !== center);
            for (const other of others) expect(Math.abs(other - center)).toBeGreaterThanOrEqual((CHIP + LABEL) / 2);
            expect(text).toMatch(center < height / 2 ? /▲/ : /▼/);
          }
          const tops = labels.map(({ top }) => top).toSorted((a, b) => a - b);
          for (let i = 1; i < tops.length; i++) expect(tops[i]! - tops[i - 1]!).toBeGreaterThanOrEqual(LABEL);
          for (const [i, { price }] of shown.entries()) {
            const [at, center] = [axis.y(price), labels[i]!.top];
            if (Math.abs(center - at) <= NEAR) continue;
            const joins = leaders.some(
              ({ top, height: length }) =>
                Math.abs(top - Math.min(at, center)) < 0.01 && Math.abs(top + length - Math.max(at, center)) < 0.01,
            );
            expect({ at, center, joins }).toEqual({ at, center, joins: true });
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('the edges cut no price of the axis', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 1e5, noNaN: true }),
        fc.double({ min: 0.5, max: 60, noNaN: true }),
        (spot, zoom) => {
          const prices = partsOf(AxisLabels({ axis: priceAxis(spot, zoom, 0, height) })).filter(
            ({ type }) => type === 'span',
          );
          expect(prices.length).toBeGreaterThan(1);
          for (const { top } of prices) expect(Math.min(top, height - top)).toBeGreaterThanOrEqual(7);
        },
      ),
    );
  });
});

test('a horizontal axis has its ends, zero, and the halves if they have room', () => {
  expect(extentTicks(52, 543)).toEqual([-1, -0.5, 0, 0.5, 1]);
  expect(extentTicks(52, 260)).toEqual([-1, 0, 1]);
});
