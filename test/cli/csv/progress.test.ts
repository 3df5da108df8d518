import { expect, test } from 'bun:test';
import { ProgressBar } from '../../../src/cli/csv/progress.ts';

function watched(bytes: number | undefined) {
  const clock = { ms: 5000 };
  const told: string[] = [];
  const progress = new ProgressBar(
    (text) => told.push(text.replace('\r\x1b[K', '')),
    bytes,
    () => clock.ms,
  );
  return { progress, told, pass: (ms: number) => (clock.ms += ms) };
}

test('shows no progress for a short run', () => {
  const { progress, told, pass } = watched(100);
  pass(900);
  progress.reached(50, 1000);
  progress.end();
  expect(told).toEqual([]);
});

test('shows share, bytes, rows and rate at intervals, and erases the line at the end', () => {
  const { progress, told, pass } = watched(4_000_000);
  pass(2000);
  progress.reached(1_000_000, 1_500_000);
  pass(100);
  progress.reached(1_100_000, 1_600_000);
  pass(1900);
  progress.reached(3_999_999, 4_000_000);
  progress.end();
  expect(told).toEqual([
    '[=====               ]  25 %  1.0 MB, 1,500,000 rows, 750,000 rows/s',
    '[=================== ]  99 %  4.0 MB, 4,000,000 rows, 1,000,000 rows/s',
    '',
  ]);
});

test('shows no bar if the size is unknown', () => {
  const { progress, told, pass } = watched(undefined);
  pass(1000);
  progress.reached(10, 2);
  expect(told).toEqual(['0.0 MB, 2 rows, 2 rows/s']);
});
