import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { arenaColumn, CHUNK_ROWS, kernels, mapColumns } from '../../src/math/kernels.ts';

test('the arena lies above the module’s own data, its columns apart', () => {
  expect(arenaColumn(0).byteOffset).toBeGreaterThanOrEqual(kernels.heapBase());
  // Room for the row after an odd count, and no multiple of a page of 4,096 bytes.
  const distance = arenaColumn(1).byteOffset - arenaColumn(0).byteOffset;
  expect(distance).toBeGreaterThan(CHUNK_ROWS * 8);
  expect(distance % 4096).toBeGreaterThanOrEqual(64);
  expect(distance % 16).toBe(0);
  expect(arenaColumn(31)).toHaveLength(CHUNK_ROWS);
});

test('a column beyond the arena is refused', () => {
  expect(() => arenaColumn(32)).toThrow('the kernel arena has 32 columns, there is no column 32');
  const inputs = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`x${at}`, 0]));
  expect(() => mapColumns(() => {}, 1, inputs, [])).toThrow('there is no column 32');
  expect(() => mapColumns(() => {}, 1, { x: 0 }, [32])).toThrow('there is no column 32');
});

test('chunks cover every row once, constants in each', () => {
  const counts: number[] = [];
  const add = (count: number, block: number) => {
    counts.push(count);
    expect(block).toBe(arenaColumn(0).byteOffset);
    const [x, y, z] = [arenaColumn(0), arenaColumn(1), arenaColumn(5)];
    for (let row = 0; row < count; row++) z[row] = x[row]! + y[row]!;
  };
  const count = 2 * CHUNK_ROWS + 5;
  const a = Float64Array.from({ length: count }, (_, at) => at);
  const [sum] = mapColumns(add, count, { a, b: 0.5 }, [5]);
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
