import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { deliveriesOf } from '../../../src/feeds/files/deliveries.ts';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { partnerOf } from '../../../src/feeds/vendors/second-file.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { testFolder } from '../../support/test-folder.ts';

const path = testFolder();

const STRIKES = Array.from({ length: 30 }, (_, i) => 90 + i);
/** End-of-day quotes and open interest as ThetaData writes them. The open interest of a strike is the strike. */
function write(day: string, { oiDay = day, strikes = STRIKES } = {}): void {
  const quotes = STRIKES.flatMap((strike) =>
    ['CALL', 'PUT'].map(
      (right) => `SPXW,2026-09-18,${strike}.000,${right},${day}T17:15:0${strike % 10}.123,1,1,1,1,5,1,2.0,2.2`,
    ),
  );
  const header = 'symbol,expiration,strike,right,timestamp,open,high,low,close,volume,count,bid,ask';
  writeFileSync(path(`SPX_${day}_eod.csv`), `${header}\n${quotes.join('\n')}\n`);
  const interest = strikes.flatMap((strike) =>
    ['CALL', 'PUT'].map((right) => `SPXW,2026-09-18,${strike}.000,${right},${oiDay}T06:30:00.500,${strike}`),
  );
  const named = 'symbol,expiration,strike,right,timestamp,open_interest';
  writeFileSync(path(`SPX_${day}_open_interest.csv`), `${named}\n${interest.join('\n')}\n`);
}

const read = (origin: string): Promise<Delivery[]> =>
  Array.fromAsync(deliveriesOf(path(), { origin }, { nowMs: Date.now() }));

test('joins open interest by contract and day; the time is the close', async () => {
  write('2026-08-20');
  write('2026-08-21');
  const [delivery, ...more] = await read('SPX_2026-08-21_eod.csv');
  expect(more).toEqual([]);
  expect(delivery).toMatchObject({
    chain: { underlying: 'SPX', asOf: Date.parse('2026-08-21T20:00:00Z'), count: 60, refused: {} },
  });
  const { chain } = delivery as Extract<Delivery, { kind: 'chain' }>;
  expect(chain.openInterest).toEqual(chain.strike);
});

test.each([
  [
    'that lacks a sixth of the contracts',
    { strikes: STRIKES.slice(5) },
    /10 of 60 contracts are not in SPX_2026-08-21_open/,
  ],
  ['of another day', { oiDay: '2026-08-20' }, /60 of 60 contracts are not in SPX_2026-08-21_open/],
])('refuses a second file %s', async (_what, options, reason) => {
  write('2026-08-21', options);
  expect(await read('SPX_2026-08-21_eod.csv')).toEqual([
    { kind: 'rejection', origin: 'SPX_2026-08-21_eod.csv', reason: expect.stringMatching(reason) },
  ]);
});

test('a drop folder reads a file again when its second file arrives', async () => {
  write('2026-08-21');
  const interest = await Bun.file(path('SPX_2026-08-21_open_interest.csv')).text();
  await Bun.file(path('SPX_2026-08-21_open_interest.csv')).delete();
  const checkpoints = new Map<string, string>();
  const feed = createFilesFeed(path(), { pause: async () => {}, checkpoints: () => checkpoints });
  const poll = async () => {
    const sums: number[] = [];
    for await (const delivery of feed.poll(Date.now())) {
      if (delivery.kind === 'checkpoint' && delivery.value === null) checkpoints.delete(delivery.key);
      else if (delivery.kind === 'checkpoint') checkpoints.set(delivery.key, delivery.value!);
      else if (delivery.kind === 'chain')
        sums.push(delivery.chain.openInterest.reduce((all, each) => all + (each || 0), 0));
    }
    return sums;
  };
  expect(await poll()).toEqual([0]);
  writeFileSync(path('SPX_2026-08-21_open_interest.csv'), interest);
  expect(await poll()).toEqual([]);
  expect(await poll()).toEqual([2 * STRIKES.reduce((all, each) => all + each, 0)]);
  expect(await poll()).toEqual([]);
});

test.each([
  ['SPX_2026-08-21_eod.csv', ['SPX_2026-08-20_open_interest.csv', 'SPX_2026-08-21_open_interest.csv'], 1],
  ['eod.csv', ['open_interest.csv'], 0],
])('chooses the second file of %s by its name', (name, candidates, chosen) => {
  expect(partnerOf(name, candidates)).toBe(candidates[chosen]!);
});
