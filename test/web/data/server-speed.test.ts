import { describe, expect, test } from 'bun:test';
import { rateLimit } from '../../../web/data/request.ts';
import { measureRequests, parseServerBench, sameBits } from '../../../web/data/server-speed.ts';

describe('what zomma bench --json prints', () => {
  const machine = { processor: 'AMD\u202e EPYC', cores: 8, memory_gib: 32, system: 'linux x64', bun: '1.4.5' };

  test('machine and times', () => {
    const speed = [{ kernel: 'implied volatility', unit: 'option', ns: 67.4 }];
    expect(parseServerBench(JSON.stringify({ machine, speed, accuracy: [] }))).toEqual({
      machine: 'processor AMD  EPYC, cores 8, memory gib 32, system linux x64, bun 1.4.5',
      times: { 'implied volatility': 67.4 },
    });
  });

  test('what Bench copies of another browser', () => {
    const copied = {
      machine: { browser: 'Firefox', logical_processors: 8, clock_step_ms: 1 },
      speed: [{ kernel: 'a', ns: 2, rounds: 21 }],
    };
    expect(parseServerBench(JSON.stringify(copied))).toEqual({
      machine: 'browser Firefox, logical processors 8, clock step ms 1',
      times: { a: 2 },
    });
  });

  test.each([
    'speed',
    'null',
    '[]',
    '{"speed":{}}',
    '{"speed":[null]}',
    '{"speed":[{"kernel":1,"ns":2},{"kernel":"a","ns":-1}]}',
  ])('%p is refused', (text) => {
    expect(() => parseServerBench(text)).toThrow('Paste all that zomma bench --json prints');
  });
});

test('counts the numbers with the same bits', () => {
  const columns = [Float64Array.of(1, 0), Float64Array.of(Number.NaN, 0.1 + 0.2)];
  expect(sameBits(columns, Float64Array.of(1, -0, Number.NaN, 0.3))).toEqual({ same: 2, all: 4 });
  expect(sameBits(columns, Float64Array.of(1, 0, Number.NaN, 0.1 + 0.2))).toEqual({ same: 4, all: 4 });
});

test('a server is not asked if the rate limit leaves few requests', async () => {
  rateLimit.value = { quota: 60, left: 12, waitUntil: null };
  expect(await measureRequests(new AbortController().signal)).toBe(
    'The server was not asked: 12 of 60 requests are left.',
  );
  rateLimit.value = { quota: 0, left: 0, waitUntil: null };
});
