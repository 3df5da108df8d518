import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { scaleLinear } from 'd3-scale';
import { interpolate, interpolateNumber, interpolateRound } from '../../../src/web/chart/interpolate-numbers.ts';

const WEB = join(import.meta.dir, '../../../src/web');

// The tests run with the whole package d3-interpolate, and the page with its replacement. Scales must be the same with both.
test.each([
  [
    [595.2, 710.4],
    [612, 0],
  ],
  [
    [-2.5e12, 7.25e12],
    [44, 1280],
  ],
  [
    [0, 1e-6],
    [0, 17],
  ],
])('a scale from %p to %p', (domain, range) => {
  const whole = scaleLinear(domain, range);
  const replaced = scaleLinear(domain, range).interpolate(interpolate);
  const rounded = scaleLinear().domain(domain).rangeRound(range);
  const replacedRounded = scaleLinear(domain, range).interpolate(interpolateRound);
  for (let t = -0.5; t <= 1.5; t += 0.03125) {
    const at = domain[0]! + t * (domain[1]! - domain[0]!);
    expect(replaced(at)).toBe(whole(at));
    expect(replacedRounded(at)).toBe(rounded(at));
    expect(replaced.invert(replaced(at))).toBe(whole.invert(whole(at)));
  }
  expect(interpolateNumber).toBe(interpolate);
});

test('the terminal uses only scales that need no other interpolation, and no formats of ticks', async () => {
  const files = [...new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: WEB, absolute: true })];
  const texts = await Promise.all(files.map((file) => Bun.file(file).text()));
  const imported = texts.map((text) => /import \{([^}]*)\} from 'd3-scale'/.exec(text)?.[1] ?? '');
  expect(texts.filter((text) => text.includes('tickFormat'))).toEqual([]);
  const names = [...new Set(imported.flatMap((list) => list.split(',').map((name) => name.trim())))].filter(Boolean);
  expect(names).toContain('scaleLinear');
  expect(
    names.filter((name) => !/^(?:type )?[sS]cale(?:Linear|Log|Sqrt|Symlog|Pow|Time|Utc|Band|Point)$/.test(name)),
  ).toEqual([]);
});
