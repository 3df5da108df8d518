import { expect, test } from 'bun:test';
import { Mailbox, PRINTS_MAX } from '../../../src/feeds/massive/mailbox.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import type { Print } from '../../../src/market/prints.ts';

const print = { id: 'a' } as Print;
const thousand = Array<Print>(1_000).fill(print);

/** Returns the content of the mailbox, up to this many deliveries. */
async function takeFrom(mailbox: Mailbox, count: number): Promise<Delivery[]> {
  const stop = new AbortController();
  const deliveries: Delivery[] = [];
  for await (const delivery of mailbox.take(stop.signal)) {
    if (deliveries.push(delivery) === count) stop.abort();
  }
  return deliveries;
}

test('preserves the order and merges prints', async () => {
  const mailbox = new Mailbox(() => 5);
  mailbox.connection(true, 1);
  mailbox.prints([print], {});
  mailbox.prints([print, print], { bad_time: 2 });
  mailbox.connection(false, 3, 'cut');
  mailbox.prints([print], { bad_time: 1 });
  expect(await takeFrom(mailbox, 4)).toEqual([
    { kind: 'connection', up: true, at: 1 },
    { kind: 'prints', prints: [print, print, print], refused: { bad_time: 2 } },
    { kind: 'connection', up: false, at: 3, reason: 'cut' },
    { kind: 'prints', prints: [print], refused: { bad_time: 1 } },
  ]);
});

test('beyond its limit drops prints, and reports from when to when', async () => {
  let now = 100;
  const mailbox = new Mailbox(() => now++);
  mailbox.connection(true, 1);
  for (let i = 0; i < 1_000; i++) mailbox.prints(thousand, {});
  const deliveries = await takeFrom(mailbox, 23);
  const prints = deliveries.flatMap((each) => (each.kind === 'prints' ? [each.prints.length] : []));
  expect(prints).toEqual(Array(20).fill(5_000));
  expect(prints.reduce((sum, count) => sum + count)).toBe(PRINTS_MAX);
  expect(deliveries.slice(-2)).toEqual([
    { kind: 'connection', up: false, at: 100, reason: expect.stringMatching(/some are lost/) },
    { kind: 'connection', up: true, at: 101 },
  ]);
  // Then the mailbox accepts prints again.
  mailbox.prints([print], {});
  expect(await takeFrom(mailbox, 1)).toEqual([{ kind: 'prints', prints: [print], refused: {} }]);
});

test('does not report a connection as up that went down in the meantime', async () => {
  const mailbox = new Mailbox(() => 7);
  mailbox.connection(true, 1);
  for (let i = 0; i <= 100; i++) mailbox.prints(thousand, {});
  mailbox.connection(false, 8, 'cut');
  expect((await takeFrom(mailbox, 22)).at(-1)).toMatchObject({ up: false, at: 7 });
  mailbox.connection(true, 9);
  expect(await takeFrom(mailbox, 1)).toEqual([{ kind: 'connection', up: true, at: 9 }]);
});

test('limits connection changes that are not read', async () => {
  const mailbox = new Mailbox(() => 7);
  for (let i = 0; i < 10_000; i++) mailbox.connection(i % 2 === 0, i);
  expect(await takeFrom(mailbox, 1_001)).toHaveLength(1_001);
});
