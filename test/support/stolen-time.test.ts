import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { testNeeding } from './needs.ts';
import { StolenTime, stolenMs } from './stolen-time.ts';

testNeeding(existsSync('/proc/stat'), 'no /proc/stat')(
  'stolen time (read from /proc/stat) is known for each processor and never decreases',
  () => {
    const before = stolenMs();
    expect(before.length).toBeGreaterThan(0);
    const stolen = new StolenTime();
    const from = performance.now();
    expect(stolen.between(from, performance.now())).toBeGreaterThanOrEqual(0);
    expect(stolen.total()).toBeGreaterThanOrEqual(stolen.between(from, performance.now()));
    stolen.stop();
    expect(stolenMs().every((ms, cpu) => ms >= before[cpu]!)).toBe(true);
  },
);
