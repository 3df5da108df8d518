import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { contentsOf } from '../../../src/feeds/files/deliveries.ts';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { openNamed } from '../../../src/feeds/files/opened-file.ts';
import { ReaderEnded, readFileIsolated, readQuotesIsolated } from '../../../src/feeds/reader/isolated-reader.ts';
import { packDelivery, unpackDelivery } from '../../../src/feeds/reader/messages.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { READER_COMMAND } from '../../../src/settings/config.ts';
import { testFolder } from '../../support/test-folder.ts';
import { until } from '../../support/until.ts';
import { asText } from '../files/reading.ts';
import { NOW_MS, tape } from '../files/tapes.ts';

const drop = testFolder();

const HEADER = 'underlying,as_of,spot,symbol,bid,ask,open_interest\n';
const CHAIN = `${HEADER}TEST,2026-08-21T16:00:00Z,98,TEST260918C00100000,1,2,1\nTEST,2026-08-21T16:00:00Z,98,TEST260918P00100000,,,1\n`;
const QUOTES =
  '{"timestamp":"2023-09-21 03:17:42","data":{"current_price":9,"options":[{"option":"RUT231020C01800000","bid":1},{"option":"?"}]}}';
/** One object with more names than fit into the memory of a reader. */
const manyNames = () => `{"data":{"options":[{${Array.from({ length: 4.4e6 }, (_, i) => `"k${i}":1`).join(',')}}]}}`;

const longTape = (prints: number) => gzipSync(tape(...Array.from({ length: prints }, (_, i) => ({ id: String(i) }))));
const LONG_TAPE = longTape(20_000);

async function opened(content: string | Uint8Array) {
  writeFileSync(drop('x'), content);
  return (await openNamed(drop('x'), 'x'))!;
}

async function readBoth(content: string | Uint8Array): Promise<[inProcess: Delivery[], isolated: Delivery[]]> {
  await using file = await opened(content);
  const inProcess = await Array.fromAsync(contentsOf(file.content, { nowMs: NOW_MS }));
  return [inProcess, await Array.fromAsync(readFileIsolated(file.content, NOW_MS))];
}

/** Returns the ids of the readers among the child processes of this process. Other files of tests may have left other child processes. */
function readers(): number[] {
  try {
    const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.map(Number).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(READER_COMMAND));
  } catch {
    return [];
  }
}

test.each([
  ['a chain', CHAIN],
  ['a compressed chain', gzipSync(CHAIN)],
  ['quotes', QUOTES],
  ['dividends', 'ticker,ex_date,amount,status\nSPY,2099-09-18,1.79,declared\nSPY,2099-12-18,2,\nx\n'],
  ['closes', 'date,ticker,close,volume\n2026-08-20,SPY,640.5,\n2026-08-21,SPY,641,7\nx\n'],
  [
    'a tape with missing values',
    tape({}, { nbbo_bid: '', delta: '' }, { price: 'x' }, { canceled: 't', report_flags: '{sweep}' }),
  ],
  [
    'a compressed tape of many batches',
    gzipSync(
      tape(
        ...Array.from({ length: 9_001 }, (_, i) => ({ id: `a\u00e9${i}`, side: ['ask', 'bid', 'mid', ''][i % 4]! })),
      ),
    ),
  ],
  ['a truncated compressed file', gzipSync(CHAIN).subarray(0, -9)],
  ['notes', 'nothing'],
])('%s: a reader process gives the same deliveries as this process', async (_name, content) => {
  const [inProcess, isolated] = await readBoth(content);
  expect(asText(isolated)).toBe(asText(inProcess));
});

test('prints are transferred as columns and return bit by bit', async () => {
  await using file = await opened(
    tape(
      {},
      { nbbo_ask: '', side: 'bid' },
      { option_chain_id: 'SPY260918P00500000', delta: '-0.5', upstream_condition_detail: 'mlet' },
    ),
  );
  for await (const delivery of contentsOf(file.content, { nowMs: NOW_MS })) {
    const packed = packDelivery(delivery);
    expect(packed.kind).toBe('packed prints');
    expect(asText([unpackDelivery(structuredClone(packed))])).toBe(asText([delivery]));
  }
});

test('an answer of a provider gives a chain, nothing, or a rejection', async () => {
  const read = (text: string) => Array.fromAsync(readQuotesIsolated(Buffer.from(text), 'cboe:RUT', 'RUT'));
  expect(await read(QUOTES)).toMatchObject([
    { kind: 'chain', offered: 2, chain: { count: 1, source: 'cboe:RUT', refused: { bad_symbol: 1 } } },
  ]);
  expect(await read('{"a":1}')).toEqual([]);
  await expect(read(`${QUOTES.slice(0, -4)}${' '.repeat(6e6)}`)).rejects.toThrow(/not valid JSON/);
});

describe('a reader', () => {
  test.skipIf(process.platform !== 'linux')(
    'that uses too much memory is killed, and its file is rejected',
    async () => {
      await using file = await opened(manyNames());
      const before = process.memoryUsage.rss();
      await expect(Array.fromAsync(readFileIsolated(file.content, NOW_MS))).rejects.toThrow(
        'reading the data took more than 384 MB of memory',
      );
      expect(process.memoryUsage.rss() - before).toBeLessThan(128 * 2 ** 20);
      // On a busy machine, the system takes longer than a second to free the memory of the reader.
      await until(() => readers().length === 0);
    },
  );

  test.skipIf(process.platform !== 'linux')('that another process kills gives no verdict on its file', async () => {
    await using file = await opened(LONG_TAPE);
    const reading = readFileIsolated(file.content, NOW_MS);
    expect((await reading.next()).done).toBe(false);
    for (const pid of readers()) process.kill(pid, 'SIGKILL');
    const failed = Array.fromAsync(reading);
    await expect(failed).rejects.toThrow('the process that read the data ended (SIGKILL)');
    await expect(failed).rejects.toBeInstanceOf(ReaderEnded);
  });

  test('ends when its consumer stops, and runs at most two deliveries ahead', async () => {
    await using file = await opened(longTape(50_000));
    let reachedLast = 0;
    const reading = readFileIsolated(file.content, NOW_MS, (bytes) => (reachedLast = bytes));
    await reading.next();
    await Bun.sleep(400);
    expect(reachedLast).toBeLessThan(file.content.facts.size / 2);
    await reading.return(undefined);
    expect(readers()).toEqual([]);
  });

  test('readers run one after the other, because their memory adds up', async () => {
    await using file = await opened(gzipSync(CHAIN));
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, readers().length)), 1);
    await Promise.all(Array.from({ length: 3 }, () => Array.fromAsync(readFileIsolated(file.content, NOW_MS))));
    clearInterval(watch);
    expect(most).toBeLessThanOrEqual(1);
  });

  test.skipIf(process.platform !== 'linux')('gets no credential, and only the variables that it needs', async () => {
    const credentials = [
      ...['ZOMMA_TRADIER_TOKEN', 'OTEL_EXPORTER_OTLP_HEADERS', 'AWS_SECRET_ACCESS_KEY', 'NOTIFY_SOCKET'],
      ...['HTTPS_PROXY', 'CREDENTIALS_DIRECTORY', 'MY_PATH', 'PATH_TO_KEY'],
    ];
    const needed = ['PATH', 'TZ', 'LC_ALL', 'TMPDIR', 'BUN_JSC_useJIT'];
    const before = { ...process.env };
    for (const name of credentials) process.env[name] = 'secret';
    Object.assign(process.env, { TZ: 'UTC', LC_ALL: 'C', TMPDIR: '/tmp', BUN_JSC_useJIT: '1' });
    try {
      await using file = await opened(LONG_TAPE);
      const reading = readFileIsolated(file.content, NOW_MS);
      expect((await reading.next()).done).toBe(false);
      const [pid] = readers();
      const given = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
      const names = new Set(given.map((each) => each.split('=', 1)[0]!));
      expect([given.filter((each) => each.includes('secret')), needed.filter((name) => !names.has(name))]).toEqual([
        [],
        [],
      ]);
      // Bun adds the descriptor of the channel to the service.
      const others = [...names].filter(
        (name) => !/^(?:LANG|LC_\w+|LD_LIBRARY_PATH|BUN_JSC_\w+|NODE_CHANNEL_\w+)$/.test(name),
      );
      expect(others.filter((name) => !needed.includes(name))).toEqual([]);
      await reading.return(undefined);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});

test.skipIf(process.platform !== 'linux')(
  'a tape whose reader is killed is read again, and given up after the second time',
  async () => {
    writeFileSync(drop('tape.csv.gz'), LONG_TAPE);
    const checkpoints = new Map<string, string>();
    const feed = createFilesFeed(drop(), { checkpoints: () => checkpoints, pause: async () => {} });
    const poll = async (isKilled: boolean) => {
      const seen = { prints: 0, rejections: [] as string[] };
      for await (const delivery of feed.poll(Date.now())) {
        if (delivery.kind === 'checkpoint' && delivery.value !== null) checkpoints.set(delivery.key, delivery.value);
        if (delivery.kind === 'rejection') seen.rejections.push(delivery.reason);
        if (delivery.kind !== 'prints') continue;
        seen.prints += delivery.prints.length;
        if (isKilled) for (const pid of readers()) process.kill(pid, 'SIGKILL');
      }
      return seen;
    };
    const first = await poll(true);
    expect([first.prints < 20_000, first.rejections]).toEqual([
      true,
      ['the process that read the data ended (SIGKILL)'],
    ]);
    expect(await poll(false)).toEqual({ prints: 20_000, rejections: [] });
    expect(await poll(false)).toEqual({ prints: 0, rejections: [] });
    // Another version of the file, whose reader is killed twice.
    writeFileSync(drop('tape.csv.gz'), Buffer.concat([LONG_TAPE, gzipSync('x')]));
    await poll(true);
    // The second try is due at the next poll, and the third at the poll after that.
    await poll(true);
    const third = await poll(false);
    expect([third.prints, third.rejections.length]).toEqual([0, 1]);
    expect(third.rejections[0]).toContain('has ended 2 times');
  },
);
