import { expect, test } from 'bun:test';
import { batchesOf } from '../../src/feeds/batches.ts';
import type { Delivery } from '../../src/market/feed.ts';
import { printOf } from '../store/samples.ts';

const rejection = (origin: string): Delivery => ({ kind: 'rejection', origin, reason: 'none' });
const prints = (count: number): Delivery => ({
  kind: 'prints',
  prints: Array.from({ length: count }, (_, i) => printOf(String(i))),
});
async function* given(deliveries: readonly Delivery[]): AsyncGenerator<Delivery> {
  yield* deliveries;
}

test.each([
  ['no delivery', [], []],
  ['a few deliveries', [rejection('a'), rejection('b')], [2]],
  ['more deliveries than a transaction takes', Array.from({ length: 130 }, () => rejection('a')), [64, 64, 2]],
  ['a tape', [prints(6_000), prints(6_000), rejection('a'), prints(10_000), rejection('b')], [2, 2, 1]],
])('%s', async (_name, deliveries, sizes) => {
  const batches = await Array.fromAsync(batchesOf(given(deliveries)));
  expect(batches.map(({ length }) => length)).toEqual(sizes);
  expect(batches.flat()).toEqual(deliveries);
});

test('an early delivery does not wait for a late one', async () => {
  const late = Promise.withResolvers<Delivery>();
  async function* slow(): AsyncGenerator<Delivery> {
    yield rejection('early');
    yield await late.promise;
  }
  const batches = batchesOf(slow());
  expect((await batches.next()).value).toEqual([rejection('early')]);
  late.resolve(rejection('late'));
  expect((await batches.next()).value).toEqual([rejection('late')]);
  expect((await batches.next()).done).toBe(true);
});

test('a consumer that stops ends the source, and an error of the source is thrown', async () => {
  let ended = false;
  async function* endless(): AsyncGenerator<Delivery> {
    try {
      for (;;) yield rejection('a');
    } finally {
      ended = true;
    }
  }
  for await (const batch of batchesOf(endless())) if (batch.length > 0) break;
  expect(ended).toBe(true);
  // biome-ignore lint/correctness/useYield: a source that fails at once
  async function* failing(): AsyncGenerator<Delivery> {
    throw new Error('cable pulled');
  }
  await expect(Array.fromAsync(batchesOf(failing()))).rejects.toThrow('cable pulled');
  async function* breaking(): AsyncGenerator<Delivery> {
    yield rejection('before');
    throw new Error('cable pulled');
  }
  const batches = batchesOf(breaking());
  expect((await batches.next()).value).toEqual([rejection('before')]);
  await expect(batches.next()).rejects.toThrow('cable pulled');
});
