import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { arenaColumn, CHUNK_ROWS, kernels, mapColumns } from '../../src/math/kernels.ts';

test('the arena lies above the module’s own data, its columns apart', () => {
  expect(arenaColumn(0).byteOffset).toBeGreaterThanOrEqual(kernels.heapBase());
  expect(arenaColumn(1).byteOffset - arenaColumn(0).byteOffset).toBe(CHUNK_ROWS * 8);
  expect(arenaColumn(15)).toHaveLength(CHUNK_ROWS);
});

test('a column beyond the arena is refused', () => {
  expect(() => arenaColumn(16)).toThrow('the kernel arena has 16 columns, there is no column 16');
  const inputs = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`x${at}`, 0]));
  expect(() => mapColumns(() => {}, 1, inputs, 1)).toThrow('there is no column 16');
});

test('chunks cover every row once, constants in each', () => {
  const counts: number[] = [];
  const add = (count: number, a: number, b: number, sum: number) => {
    counts.push(count);
    const at = (offset: number) => (offset - arenaColumn(0).byteOffset) / (8 * CHUNK_ROWS);
    const [x, y, z] = [arenaColumn(at(a)), arenaColumn(at(b)), arenaColumn(at(sum))];
    for (let row = 0; row < count; row++) z[row] = x[row]! + y[row]!;
  };
  const count = 2 * CHUNK_ROWS + 5;
  const a = Float64Array.from({ length: count }, (_, at) => at);
  const [sum] = mapColumns(add as Parameters<typeof mapColumns>[0], count, { a, b: 0.5 }, 1);
  expect(sum).toEqual(a.map((value) => value + 0.5));
  expect(counts).toEqual([CHUNK_ROWS, CHUNK_ROWS, 5]);
});

test('a build with nothing changed says nothing, and an unknown step is named', () => {
  const build = (step: string) =>
    Bun.spawnSync([process.execPath, 'build.ts', step], { cwd: join(import.meta.dir, '../..') });
  build('kernels');
  const again = build('kernels');
  expect(again.exitCode).toBe(0);
  expect(again.stdout.toString()).toBe('');
  const unknown = build('kernel');
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr.toString()).toContain('no step "kernel"');
});
