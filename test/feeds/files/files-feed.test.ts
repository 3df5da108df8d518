import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILE_BYTES_MAX } from '../../../src/feeds/files/deliveries.ts';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { readText } from './reading.ts';

const HEADER = 'underlying,as_of,spot,symbol,open_interest';
const chainOf = (ticker: string, at = '2026-08-21T16:00:00-04:00') =>
  `${HEADER}\n${ticker},${at},98,${ticker}260918C00100000,1\n`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'zomma-files-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
const feedOf = (pause: () => Promise<void> = async () => {}) => createFilesFeed(dir, { pause });

/** Sources of chains, `origin: reason` of refusals. */
async function poll(feed: ReturnType<typeof createFilesFeed>): Promise<string[]> {
  const seen: string[] = [];
  for await (const delivery of feed.poll(Date.now())) {
    if (delivery.kind === 'chain') seen.push(delivery.chain.source);
    else if (delivery.kind === 'refusal') seen.push(`${delivery.origin}: ${delivery.reason}`);
    else if (delivery.kind === 'closes') seen.push(`closes ${delivery.closes.length}`);
    else if (delivery.kind === 'prints') seen.push(`prints ${delivery.prints.length}`);
    else seen.push(delivery.kind);
  }
  return seen;
}

test('the first poll reads all, sub-folders too; later ones what is new or changed', async () => {
  mkdirSync(join(dir, 'deep/er'), { recursive: true });
  put('a.csv', chainOf('AAA'));
  put('deep/er/b.txt', chainOf('BBB'));
  const feed = feedOf();
  expect(await poll(feed)).toEqual(['files:a.csv', 'files:deep/er/b.txt']);
  expect(await poll(feed)).toEqual([]);
  put('c', chainOf('CCC'));
  appendFileSync(join(dir, 'a.csv'), 'AAA,2026-08-21T16:00:00-04:00,98,AAA260918P00100000,1\n');
  expect(await poll(feed)).toEqual(['files:a.csv', 'files:c']);
  expect(await poll(feed)).toEqual([]);
});

test('a change that leaves the size alone is seen by its time', async () => {
  put('a.csv', chainOf('AAA'));
  const feed = feedOf();
  await poll(feed);
  put('a.csv', chainOf('BBB'));
  utimesSync(join(dir, 'a.csv'), 1e9, 1e9);
  expect(await poll(feed)).toEqual(['files:a.csv']);
});

test('a file removed and put back is read again', async () => {
  put('a.csv', chainOf('AAA'));
  utimesSync(join(dir, 'a.csv'), 1e9, 1e9);
  const feed = feedOf();
  await poll(feed);
  rmSync(join(dir, 'a.csv'));
  expect(await poll(feed)).toEqual([]);
  put('a.csv', chainOf('AAA'));
  utimesSync(join(dir, 'a.csv'), 1e9, 1e9);
  expect(await poll(feed)).toEqual(['files:a.csv']);
});

test('a file still being written is left until it is whole', async () => {
  const whole = chainOf('AAA');
  put('a.csv', whole.slice(0, 60));
  put('b.csv', chainOf('BBB'));
  let written = 60;
  const feed = feedOf(async () => {
    appendFileSync(join(dir, 'a.csv'), whole.slice(written, written + 20));
    written += 20;
  });
  expect(await poll(feed)).toEqual(['files:b.csv']);
  written = 1e6;
  appendFileSync(join(dir, 'a.csv'), whole.slice(80));
  expect(await poll(feed)).toEqual(['files:a.csv']);
});

test('a file that is gone when its turn comes is passed over', async () => {
  put('a.csv', chainOf('AAA'));
  put('b.csv', chainOf('BBB'));
  expect(await poll(feedOf(async () => rmSync(join(dir, 'a.csv'))))).toEqual(['files:b.csv']);
});

test('what is no market data is passed over, what is damaged is told once', async () => {
  put(
    'README.md',
    '# Notes\nCalls and puts, Last: 3, Strike: none; see `underlying,as_of,symbol,put_call,open_interest`.\n',
  );
  put('picture.png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
  put('empty.csv', '');
  put('config.json', '{"themes":{}}');
  put('list.json', '[1,2]');
  put('.hidden.csv', chainOf('HID'));
  put('cut.json', '{"timestamp":"2023-09-21 03:17:42","data":{"options":[{"opt');
  put('good.csv', chainOf('AAA'));
  const feed = feedOf();
  expect(await poll(feed)).toEqual([expect.stringMatching(/^cut\.json: not valid JSON/), 'files:good.csv']);
  expect(await poll(feed)).toEqual([]);
});

test('closes are read; rows that are none are told', async () => {
  put(
    'closes.csv',
    'date,ticker,close\n2026-08-20,SPY,640.5\n2026-08-21,brk/b,"1,234.5"\n2026-13-01,SPY,1\n2026-08-21,SPY,x\n',
  );
  expect(await poll(feedOf())).toEqual(['closes 2', 'closes.csv: 2 of 4 rows are no close']);
  const [first] = readText('close,volume,ticker,date\n640.5,"71,234,567",SPY,2026-08-20\n640.5,-1,SPY,2026-08-21\n');
  expect(first).toEqual({
    kind: 'closes',
    closes: [
      { ticker: 'SPY', date: '2026-08-20', close: 640.5, volume: 71_234_567, simulated: false },
      { ticker: 'SPY', date: '2026-08-21', close: 640.5, volume: null, simulated: false },
    ],
  });
  expect(readText('date,ticker,close\nx,y,z\n')).toEqual([
    { kind: 'refusal', origin: 'a/b.csv', reason: 'none of 1 rows is a close' },
  ]);
});

const TAPE = 'executed_at,option_chain_id,price,size,upstream_condition_detail\n';
const tradeAt = (second: string, price = '2.5') =>
  `2026-08-17 13:30:${second}+00,SPXW260821C05000000,${price},10,auto\n`;

test('a tape is read; rows that are no print are told in one line, a tape without rows is fine', async () => {
  put('empty.csv', TAPE);
  put('tape.csv', `${TAPE}${tradeAt('00')}${tradeAt('01', 'x')}${tradeAt('02', '0')}${tradeAt('61')}`);
  const feed = feedOf();
  expect(await poll(feed)).toEqual([
    'prints 0',
    'prints 1',
    'tape.csv: 3 of 4 rows are no print (bad_price 2, bad_time 1)',
  ]);
  expect(await poll(feed)).toEqual([]);
  appendFileSync(join(dir, 'tape.csv'), tradeAt('03'));
  expect(await poll(feed)).toEqual(['prints 2', expect.stringMatching(/^tape\.csv: 3 of 5 rows/)]);
});

test('a tape that is being written is left until it is whole, one that is overwritten is told', async () => {
  put('tape.csv', TAPE + tradeAt('00'));
  const feed = feedOf(async () => {
    if (statSync(join(dir, 'tape.csv')).size < 200)
      appendFileSync(join(dir, 'tape.csv'), tradeAt('01') + tradeAt('02'));
  });
  expect(await poll(feed)).toEqual([]);
  expect(await poll(feed)).toEqual(['prints 3']);
  put('tape.csv', `notes${'.'.repeat(200)}`);
  expect(await poll(feed)).toEqual(['tape.csv: no longer holds market data']);
});

test('a tape of any size comes in batches', async () => {
  const rows = Array.from({ length: 25_000 }, () => tradeAt('00')).join('');
  const ballast = `${'x'.repeat(500_000)}\n`;
  const times = Math.ceil(FILE_BYTES_MAX / ballast.length);
  put('tape.csv', TAPE + rows + ballast.repeat(times));
  const seen = await poll(feedOf());
  expect(seen.pop()).toBe(`tape.csv: ${times} of ${25_000 + times} rows are no print (malformed_row ${times})`);
  expect(seen.length).toBeGreaterThan(2);
  expect(seen.reduce((sum, each) => sum + Number(each.replace('prints ', '')), 0)).toBe(25_000);
});

test('of a tape that grows while it is read, refusals are told once it has been read whole', async () => {
  put('tape.csv', TAPE + tradeAt('00') + tradeAt('01').slice(0, 30));
  const feed = feedOf();
  for await (const { kind } of feed.poll(Date.now())) {
    expect(kind).toBe('prints');
    appendFileSync(join(dir, 'tape.csv'), tradeAt('01').slice(30) + tradeAt('02', 'x'));
  }
  expect(await poll(feed)).toEqual(['prints 2', 'tape.csv: 1 of 3 rows are no print (bad_price 1)']);
  expect(await poll(feed)).toEqual([]);
});

test('links: loops and dead ends are told once, good ones followed', async () => {
  mkdirSync(join(dir, 'sub'));
  put('sub/a.csv', chainOf('AAA'));
  symlinkSync(dir, join(dir, 'sub/loop'));
  symlinkSync('me', join(dir, 'me'));
  symlinkSync('nowhere', join(dir, 'dead.csv'));
  symlinkSync('sub/a.csv', join(dir, 'link.csv'));
  const feed = feedOf();
  expect(await poll(feed)).toEqual([
    'dead.csv: cannot be read (ENOENT)',
    'me: cannot be read (ELOOP)',
    'sub/loop: a link to a folder that is looked at already',
    'files:link.csv',
    'files:sub/a.csv',
  ]);
  expect(await poll(feed)).toEqual([]);
});

test('a file beyond the limit is refused unread', async () => {
  put('huge.csv', chainOf('AAA'));
  truncateSync(join(dir, 'huge.csv'), FILE_BYTES_MAX + 1);
  put('small.csv', chainOf('BBB'));
  expect(await poll(feedOf())).toEqual([
    expect.stringMatching(/^huge\.csv: 67108865 bytes, more than/),
    'files:small.csv',
  ]);
});

test('a folder that is not there is told once, and read when it appears', async () => {
  rmSync(dir, { recursive: true });
  const feed = feedOf();
  expect(await poll(feed)).toEqual([`${dir}: folder cannot be read (ENOENT)`]);
  expect(await poll(feed)).toEqual([]);
  mkdirSync(dir);
  put('a.csv', chainOf('AAA'));
  expect(await poll(feed)).toEqual(['files:a.csv']);
});

test('nothing is written to the folder', async () => {
  put('a.csv', chainOf('AAA'));
  await poll(feedOf());
  expect(readdirSync(dir)).toEqual(['a.csv']);
});

describe('damage of any kind', () => {
  const texts = [
    chainOf('AAA'),
    '{"timestamp":"2023-09-21 03:17:42","data":{"current_price":9,"options":[{"option":"RUT231020C01800000","bid":1}]}}',
    'T,Last: 9\nDate: June 9, 2023 at 1:40 PM EDT\nCalls,Open Interest,Strike,Puts,Open Interest\nA230616C00009000,1,9,A230616P00009000,1\n',
  ];
  test.each(texts)('is a refusal or a chain, never a throw: %#', (text) => {
    expect(readText(text).map(({ kind }) => kind)).toEqual(['chain']);
    for (let i = 0; i < text.length; i++) {
      for (const damaged of [
        text.slice(0, i),
        `${text.slice(0, i)}"${text.slice(i + 1)}`,
        `${text.slice(0, i)}\uFFFD,${text.slice(i)}`,
      ]) {
        for (const { kind } of readText(damaged)) expect(['chain', 'refusal']).toContain(kind);
      }
    }
  });
});

describeRecorded('recorded chains', (recorded) => {
  test('all are read whole', async () => {
    const seen: string[] = [];
    for await (const delivery of createFilesFeed(recorded).poll(Date.now())) {
      if (delivery.kind !== 'chain') throw new Error(JSON.stringify(delivery));
      const { underlying, asOf, count, series, spot, refused } = delivery.chain;
      expect(refused).toEqual({});
      seen.push(`${underlying} ${new Date(asOf).toISOString()} ${count} ${series.length} ${spot.toFixed(2)}`);
    }
    expect(seen).toEqual([
      'RUT 2023-09-20T20:15:04.000Z 6680 26 1806.12',
      'SPX 2022-12-13T01:30:00.000Z 19156 56 3990.56',
      'SPY 2025-09-26T01:05:00.000Z 3716 11 658.05',
      'AAPL 2026-08-21T20:00:00.000Z 2418 20 309.35',
      'AMD 2026-08-21T20:00:00.000Z 4468 20 473.25',
      'AMZN 2026-08-21T20:00:00.000Z 1818 20 258.63',
      'F 2026-08-21T20:00:00.000Z 656 15 14.41',
      'GOOGL 2026-08-21T20:00:00.000Z 3442 20 344.82',
      'JPM 2026-08-21T20:00:00.000Z 1318 15 351.58',
      'MSFT 2026-08-21T20:00:00.000Z 2898 19 483.24',
      'NVDA 2026-08-21T20:00:00.000Z 3093 19 214.72',
      'TSLA 2026-08-21T20:00:00.000Z 4033 20 362.86',
      'XLE 2026-08-21T20:00:00.000Z 1617 19 63.64',
      'XLF 2026-08-21T20:00:00.000Z 1119 21 57.48',
      'XLK 2026-08-21T20:00:00.000Z 1997 15 183.31',
    ]);
  });
});
