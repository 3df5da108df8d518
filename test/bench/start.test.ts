import { expect, test } from 'bun:test';
import { measureStarts, sectionOf } from '../../bench/start.ts';
import { PROGRAM } from '../support/process.ts';

test('measures starts of the service and of the bare runtime, and reports memory and time', async () => {
  const options = { starts: 1, restMs: 10 };
  const measured = await measureStarts(PROGRAM, options);
  expect(measured).toHaveLength(3);
  for (const { firstHealth, resident, anonymous, peak } of measured) {
    expect(firstHealth).toBeGreaterThan(0);
    expect(resident).toBeGreaterThan(anonymous);
    expect(peak).toBeGreaterThanOrEqual(resident);
  }
  const section = sectionOf(measured, options);
  expect(section.match(/(?:reached|missed)/g)).toHaveLength(4);
}, 120_000);
