import { expect, test } from 'bun:test';
import type { Observation } from '../../src/core/events.ts';
import { type CountedRequest, createRefusals } from '../../src/http/refusals.ts';

function made() {
  const seen: Observation[] = [];
  let now = 0;
  const refusals = createRefusals(
    (each) => seen.push(each),
    () => now,
  );
  const limited = (address: string, kind: CountedRequest = 'key') => {
    try {
      refusals.limit(address, '/api/v1/universe', kind);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  return { refusals, seen, limited, pass: (ms: number) => (now += ms) };
}

test('a network that makes too many is limited until its quota refills, and others are not', () => {
  const { refusals, limited, pass } = made();
  const refused = Array.from({ length: 400 }, () => limited('203.0.113.9')).filter(Boolean);
  expect(refused).toHaveLength(100);
  expect(refused[0]).toMatchObject({ code: 'rate_limited', retryAfterS: 1 });
  expect(limited('203.0.113.10')).toBeUndefined();
  pass(1_000);
  expect(Array.from({ length: 6 }, () => limited('203.0.113.9')).filter(Boolean)).toHaveLength(1);
  refusals.stop();
});

test('what is limited is reported too, so that the log has every guess of an address once', () => {
  const { refusals, seen, limited } = made();
  for (let i = 0; i < 1_000; i++) {
    if (!limited('203.0.113.9')) refusals.report('203.0.113.9', '/api/v1/universe', 'key_invalid');
  }
  refusals.stop();
  expect(seen.filter(({ kind }) => kind === 'key_refused')).toHaveLength(20);
  expect(seen.at(-1)).toEqual({ kind: 'keys_refused', client: '203.0.113.9', count: 980 });
});

test('addresses of one IPv6 network share a quota, and all networks share another', () => {
  const { refusals, limited } = made();
  const same = Array.from({ length: 400 }, (_, i) => limited(`2001:db8::${i.toString(16)}`)).filter(Boolean);
  expect(same).toHaveLength(100);
  const others = Array.from({ length: 4_000 }, (_, i) => limited(`10.0.${i >> 8}.${i & 255}`)).filter(Boolean);
  expect(others).toHaveLength(4_000 - (3_000 - 300));
  refusals.stop();
});

test('a customer with many IPv6 networks has the quotas of the larger ones', () => {
  const { refusals, limited } = made();
  const from = (block: (i: number) => string) =>
    Array.from({ length: 2_000 }, (_, i) => limited(`2001:db8:${block(i)}::1`, 'foreign')).filter((each) => !each)
      .length;
  // The /64s of a /56, then those of the same /48, and those of another one.
  expect([from((i) => `1:${(i & 255).toString(16)}`), from((i) => `1:${i.toString(16)}`), from(() => '2:0')]).toEqual([
    ...[600, 600, 300],
  ]);
  refusals.stop();
});

test('requests that the policy refuses, wrong keys and the terminal take nothing from each other', () => {
  const { refusals, limited } = made();
  const addresses = Array.from({ length: 8_000 }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
  const count = (kind: CountedRequest) => addresses.filter((address) => !limited(address, kind)).length;
  expect([count('foreign'), count('key'), count('uuid'), limited('10.9.9.9', 'terminal')]).toEqual([
    ...[8_000, 3_000, 3_000],
    undefined,
  ]);
  const own = Array.from({ length: 4_000 }, () => limited('10.9.9.9', 'terminal')).filter((each) => !each);
  expect(own).toHaveLength(2_999);
  refusals.stop();
});

test('the first refusals of an address are reported one by one, the others as a count', () => {
  const { refusals, seen } = made();
  for (let i = 0; i < 50; i++) refusals.report('203.0.113.9', '/api/v1/universe', 'key_invalid');
  refusals.report('203.0.113.10', '/api/v1/universe', 'key_invalid');
  refusals.stop();
  expect(seen.filter(({ kind }) => kind === 'key_refused')).toHaveLength(21);
  expect(seen.filter(({ kind }) => kind === 'keys_refused')).toEqual([
    { kind: 'keys_refused', client: '203.0.113.9', count: 30 },
  ]);
});
