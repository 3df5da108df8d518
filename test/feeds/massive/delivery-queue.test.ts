import { expect, test } from 'bun:test';
import { DeliveryQueue, PRINTS_MAX } from '../../../src/feeds/massive/delivery-queue.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import type { Print } from '../../../src/market/prints.ts';

const print = { id: 'a' } as Print;
const thousand = Array<Print>(1_000).fill(print);

/** Returns the content of the queue, up to this many deliveries. */
async function takeFrom(queue: DeliveryQueue, count: number): Promise<Delivery[]> {
  const stop = new AbortController();
  const deliveries: Delivery[] = [];
  for await (const delivery of queue.take(stop.signal)) {
    if (deliveries.push(delivery) === count) stop.abort();
  }
  return deliveries;
}

test('preserves the order and merges prints', async () => {
  const queue = new DeliveryQueue(() => 5);
  queue.connection(true, 1);
  queue.prints([print], {});
  queue.prints([print, print], { bad_time: 2 });
  queue.connection(false, 3, 'cut');
  queue.prints([print], { bad_time: 1 });
  expect(await takeFrom(queue, 4)).toEqual([
    { kind: 'connection', up: true, at: 1 },
    { kind: 'prints', prints: [print, print, print], refused: { bad_time: 2 } },
    { kind: 'connection', up: false, at: 3, reason: 'cut' },
    { kind: 'prints', prints: [print], refused: { bad_time: 1 } },
  ]);
});

test('beyond its limit drops prints, and reports from when to when', async () => {
  let now = 100;
  const queue = new DeliveryQueue(() => now++);
  queue.connection(true, 1);
  for (let i = 0; i < 1_000; i++) queue.prints(thousand, {});
  const deliveries = await takeFrom(queue, 23);
  const prints = deliveries.flatMap((each) => (each.kind === 'prints' ? [each.prints.length] : []));
  expect(prints).toEqual(Array(20).fill(5_000));
  expect(prints.reduce((sum, count) => sum + count)).toBe(PRINTS_MAX);
  expect(deliveries.slice(-2)).toEqual([
    { kind: 'connection', up: false, at: 100, reason: expect.stringMatching(/some are lost/) },
    { kind: 'connection', up: true, at: 101 },
  ]);
  // Then the queue accepts prints again.
  queue.prints([print], {});
  expect(await takeFrom(queue, 1)).toEqual([{ kind: 'prints', prints: [print], refused: {} }]);
});

test('does not report a connection as up that went down in the meantime', async () => {
  const queue = new DeliveryQueue(() => 7);
  queue.connection(true, 1);
  for (let i = 0; i <= 100; i++) queue.prints(thousand, {});
  queue.connection(false, 8, 'cut');
  expect((await takeFrom(queue, 22)).at(-1)).toMatchObject({ up: false, at: 7 });
  queue.connection(true, 9);
  expect(await takeFrom(queue, 1)).toEqual([{ kind: 'connection', up: true, at: 9 }]);
});

test('limits connection changes that are not read', async () => {
  const queue = new DeliveryQueue(() => 7);
  for (let i = 0; i < 10_000; i++) queue.connection(i % 2 === 0, i);
  expect(await takeFrom(queue, 1_001)).toHaveLength(1_001);
});
