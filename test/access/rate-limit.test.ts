import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRateLimiter, rateLimitHeaders } from '../../src/access/rate-limit.ts';
import { parseSetting } from '../../src/settings/config.ts';
import type { RateLimitPolicy } from '../../src/settings/setting-values.ts';

function limiterOf(setting: string, accountsMax?: number) {
  const clock = { ms: 1_000_000 };
  const limiter = createRateLimiter(parseSetting('rateLimit', setting) as RateLimitPolicy, () => clock.ms, accountsMax);
  return { clock, limiter };
}

// The limit, the seconds since the step before, and what is answered: allowed, remaining, resetS, retryAfterS.
const STEPS = [
  ['3/s', 0, true, 2, 1, 0],
  ['3/s', 0, true, 1, 1, 0],
  ['3/s', 0, true, 0, 1, 0],
  ['3/s', 0, false, 0, 1, 1],
  ['3/s', 0.3, false, 0, 1, 1],
  ['3/s', 0.034, true, 0, 1, 0],
  ['3/s', 10, true, 2, 1, 0],
  ['3/s', -5, true, 1, 1, 0],
  ['2/min', 0, true, 1, 30, 0],
  ['2/min', 0, true, 0, 60, 0],
  ['2/min', 0, false, 0, 60, 30],
  ['2/min', 29, false, 0, 31, 1],
  ['2/min', 1, true, 0, 60, 0],
  ['2/min', 45, true, 0, 45, 0],
  ['2/s', 0, true, 1, 1, 0],
  ['2/s', 0, true, 0, 1, 0],
  ['2/s', -5, false, 0, 1, 1],
  ['2/s', 5, false, 0, 1, 1],
  ['2/s', 0.5, true, 0, 1, 0],
  ['1/h', 0, true, 0, 3600, 0],
  ['1/h', 1, false, 0, 3599, 3599],
  ['1/h', 3599, true, 0, 3600, 0],
] as const;

test.each([...Map.groupBy(STEPS, ([limit]) => limit)])('a sequence of requests under %s', (setting, steps) => {
  const { clock, limiter } = limiterOf(setting);
  for (const [, afterS, allowed, remaining, resetS, retryAfterS] of steps) {
    clock.ms += afterS * 1000;
    expect(limiter.take('a')).toEqual({ allowed, remaining, resetS, retryAfterS });
  }
});

test('to take no tokens returns the state and changes nothing', () => {
  const { clock, limiter } = limiterOf('2/h');
  const state = (remaining: number, resetS: number) => ({ allowed: true, remaining, resetS, retryAfterS: 0 });
  expect(limiter.take('a', 0)).toEqual(state(2, 0));
  limiter.take('a');
  limiter.take('a');
  for (let asks = 0; asks < 3; asks++) expect(limiter.take('a', 0)).toEqual(state(0, 3_600));
  clock.ms += 1_800_000;
  expect(limiter.take('a', 0)).toEqual(state(1, 1_800));
});

test('600/min allows a burst of 600, then 10 requests a second', () => {
  const { clock, limiter } = limiterOf('600/min');
  const allowed = (takes: number) =>
    Array.from({ length: takes }, () => limiter.take('a')).filter((d) => d.allowed).length;
  expect(allowed(700)).toBe(600);
  for (let second = 0; second < 5; second++) {
    clock.ms += 1000;
    expect(allowed(50)).toBe(10);
  }
});

test('accounts have separate limits', () => {
  const { limiter } = limiterOf('1/h');
  expect(limiter.take('a').allowed).toBe(true);
  expect(limiter.take('a').allowed).toBe(false);
  expect(limiter.take('b').allowed).toBe(true);
});

test('removes an account whose allowance is full again, so idle accounts use no memory', () => {
  const { clock, limiter } = limiterOf('10/s');
  for (let n = 0; n < 1000; n++) limiter.take(`a${n}`);
  expect(limiter.size).toBe(1000);
  clock.ms += 1000;
  for (let n = 0; n < 1000; n++) limiter.take('b');
  expect(limiter.size).toBe(1);
  expect(limiter.take('a1').remaining).toBe(9);
});

test('the table stays bounded for any number of accounts and retains the most recent ones', () => {
  const { limiter } = limiterOf('1/h', 100);
  for (let n = 0; n < 1000; n++) {
    limiter.take(`a${n}`);
    expect(limiter.size).toBeLessThanOrEqual(100);
  }
  expect(limiter.take('a999').allowed).toBe(false);
  expect(limiter.take('a901').allowed).toBe(false);
});

test('evicts the least recently used account if the table is full', () => {
  const { limiter } = limiterOf('1/h', 3);
  for (const account of ['a', 'b', 'c', 'a', 'd']) limiter.take(account);
  expect(limiter.take('a').allowed).toBe(false);
  expect(limiter.take('b').allowed).toBe(true);
});

test('an allowance that refills in many small steps becomes exactly 1', () => {
  const { clock, limiter } = limiterOf('100/s');
  for (let n = 0; n < 100; n++) limiter.take('a');
  // Ten times 0.1 adds up to 0.9999999999999999 in floating point.
  for (let n = 0; n < 9; n++) {
    clock.ms += 1;
    expect(limiter.take('a').allowed).toBe(false);
  }
  clock.ms += 1;
  expect(limiter.take('a').allowed).toBe(true);
});

test('never allows more than burst plus refill, and allows a client that waits for retryAfterS', () => {
  const steps = fc.array(fc.record({ afterMs: fc.nat(3000), account: fc.constantFrom('a', 'b') }), { maxLength: 200 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.constantFrom('s', 'min'), steps, (burst, unit, takes) => {
      const { clock, limiter } = limiterOf(`${burst}/${unit}`);
      const perMs = burst / (limiter.policy.windowS * 1000);
      const passes: { account: string; ms: number }[] = [];
      for (const { afterMs, account } of takes) {
        clock.ms += afterMs;
        const decision = limiter.take(account);
        if (decision.allowed) passes.push({ account, ms: clock.ms });
        expect(decision.remaining).toBeGreaterThanOrEqual(0);
        expect(decision.remaining).toBeLessThan(burst);
        expect(Number.isInteger(decision.remaining) && Number.isInteger(decision.resetS)).toBe(true);
        if (!decision.allowed) {
          expect(decision.retryAfterS).toBeGreaterThanOrEqual(1);
          expect(decision.resetS).toBeGreaterThanOrEqual(decision.retryAfterS);
          clock.ms += decision.retryAfterS * 1000;
          expect(limiter.take(account).allowed).toBe(true);
          passes.push({ account, ms: clock.ms });
        }
      }
      for (const account of ['a', 'b']) {
        const times = passes.filter((pass) => pass.account === account).map((pass) => pass.ms);
        for (let from = 0; from < times.length; from++) {
          for (let to = from; to < times.length; to++) {
            expect(to - from + 1).toBeLessThanOrEqual(burst + (times[to]! - times[from]!) * perMs + 1e-3);
          }
        }
      }
    }),
    { numRuns: 40 },
  );
});

test('rateLimitHeaders returns the rate limit headers', () => {
  const { limiter } = limiterOf('600/min');
  expect(rateLimitHeaders(limiter.policy, limiter.take('a'))).toEqual({
    'RateLimit-Policy': '"account";q=600;w=60',
    RateLimit: '"account";r=599;t=1',
  });
  expect(rateLimitHeaders(limiter.policy, { allowed: false, remaining: 0, resetS: 60, retryAfterS: 7 })).toEqual({
    'RateLimit-Policy': '"account";q=600;w=60',
    RateLimit: '"account";r=0;t=60',
    'Retry-After': '7',
  });
});
