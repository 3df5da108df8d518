import { expect, test } from 'bun:test';
import { ProgressBar } from '../../../src/cli/csv/progress.ts';

function withClock(bytes: number | undefined) {
  const clock = { ms: 5000 };
  const written: string[] = [];
  const progress = new ProgressBar(
    (text) => written.push(text.replace('\r\x1b[K', '')),
    bytes,
    () => clock.ms,
  );
  return { progress, written, pass: (ms: number) => (clock.ms += ms) };
}

test('shows no progress for a short run', () => {
  const { progress, written, pass } = withClock(100);
  pass(900);
  progress.update(50, 1000);
  progress.end();
  expect(written).toEqual([]);
});

test('shows share, bytes, rows and rate at intervals, and erases the line at the end', () => {
  const { progress, written, pass } = withClock(4_000_000);
  pass(2000);
  progress.update(1_000_000, 1_500_000);
  pass(100);
  progress.update(1_100_000, 1_600_000);
  pass(1900);
  progress.update(3_999_999, 4_000_000);
  progress.end();
  expect(written).toEqual([
    '[=====               ]  25 %  1.0 MB, 1,500,000 rows, 750,000 rows/s',
    '[=================== ]  99 %  4.0 MB, 4,000,000 rows, 1,000,000 rows/s',
    '',
  ]);
});

test('shows no bar if the size is unknown', () => {
  const { progress, written, pass } = withClock(undefined);
  pass(1000);
  progress.update(10, 2);
  expect(written).toEqual(['0.0 MB, 2 rows, 2 rows/s']);
});
