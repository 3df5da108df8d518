import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { readPrints } from '../../../src/feeds/files/prints-csv.ts';
import { ingestOnce } from '../../../src/feeds/ingest.ts';
import { loadFiles } from '../../../src/feeds/load-files.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import type { Stated } from '../../../src/feeds/vendors/stated.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { withStore } from '../../store/samples.ts';
import { testFolder } from '../../support/test-folder.ts';
import { inPieces, NOW_MS, tape } from './tapes.ts';

/** Times of tapes without a zone, and tapes whose zone is probably wrong. */
const path = testFolder();

const UTC_HEADER =
  'executed_at,underlying_symbol,option_chain_id,side,strike,option_type,expiry,underlying_price,nbbo_bid,nbbo_ask,ewma_nbbo_bid,ewma_nbbo_ask,price,size,premium,volume,open_interest,implied_volatility,delta,theta,gamma,vega,rho,theo,sector,exchange,report_flags,canceled,upstream_condition_detail,equity_type';
const VENDOR = Object.fromEntries(UTC_HEADER.split(',').map((name) => [name, '']));
const ZONE_OF_FOLDER = '[columns]\nas_of = "time"\n[forms]\nzone = "America/New_York"\n';
const MAPPING = parseMapping(ZONE_OF_FOLDER, 'map.toml');

const NAIVE = '2026-08-17 09:30:01.5';
const AS_NEW_YORK = '2026-08-17T13:30:01.500Z';
const AS_UTC = '2026-08-17T09:30:01.500Z';

async function timesOf(text: string, stated?: Stated): Promise<string[]> {
  const times: string[] = [];
  for await (const { prints } of readPrints(inPieces(text), NOW_MS, stated))
    for (const { at } of prints) times.push(new Date(at).toISOString());
  return times;
}

describe('a time without a zone', () => {
  const plain = tape({ executed_at: NAIVE });
  const vendor = tape({ ...VENDOR, ...rowOf(NAIVE) });
  test.each<[string, string, Stated | undefined, string]>([
    ['with --zone', plain, { zone: 'America/New_York' }, AS_NEW_YORK],
    ['with --zone UTC', plain, { zone: 'UTC' }, AS_UTC],
    ['with the zone of a mapping', plain, { mapping: MAPPING }, AS_NEW_YORK],
    ['with the zone of a folder', plain, { mapping: MAPPING, isOfFolder: true }, AS_NEW_YORK],
    ['with the header of a vendor that writes UTC', vendor, undefined, AS_UTC],
    ['of this vendor in a folder with a zone', vendor, { mapping: MAPPING, isOfFolder: true }, AS_UTC],
    ['of this vendor with --zone', vendor, { zone: 'America/New_York' }, AS_NEW_YORK],
    [
      'of another day of the year',
      tape({ executed_at: '2026-01-16T09:30:00' }),
      { zone: 'America/New_York' },
      '2026-01-16T14:30:00.000Z',
    ],
    [
      'with nine decimals',
      tape({ executed_at: '2026-08-17 09:30:01.500000001' }),
      { zone: 'America/New_York' },
      AS_NEW_YORK,
    ],
  ])('%s', async (_what, text, stated, expected) => expect(await timesOf(text, stated)).toEqual([expected]));

  test.each([NAIVE, '2026-08-17T09:30:01', '2026-08-17 09:30:01,123456789'])(
    '%s: without a known zone, the tape is refused',
    async (time) => {
      const text = tape({}, { price: 'x' }, { executed_at: time }, {});
      await expect(timesOf(text)).rejects.toThrow(
        `column executed_at has times without a time zone, first "${time}" in row 3. State the zone: --zone America/New_York`,
      );
    },
  );

  test('a time that says its zone needs none, whatever is stated', async () => {
    const zones = ['+00', 'Z', ' UTC', '-04:00'].map((zone) => ({ executed_at: `2026-08-17 09:30:01${zone}` }));
    const expected = [...Array(3).fill('2026-08-17T09:30:01.000Z'), '2026-08-17T13:30:01.000Z'];
    for (const zone of [undefined, 'Asia/Tokyo']) expect(await timesOf(tape(...zones), { zone })).toEqual(expected);
  });

  test('a number since the epoch needs no zone, down to nanoseconds', async () => {
    const ns = 1_786_973_401_500_999_999n;
    for (const zone of [undefined, 'America/New_York']) {
      const numbers = [ns, ns / 1_000n, ns / 1_000_000n].map((each) => ({ executed_at: String(each) }));
      expect(await timesOf(tape(...numbers), { zone })).toEqual(Array(3).fill('2026-08-17T13:30:01.500Z'));
    }
  });
});

function rowOf(executed_at: string) {
  return {
    ...{ executed_at, underlying_symbol: 'SPXW', option_chain_id: 'SPXW260821C05000000', side: 'ask', strike: '5000' },
    ...{ option_type: 'call', expiry: '2026-08-21', price: '25.3', size: '40', canceled: 'f' },
  };
}

const load = async (store: Store, file: string, stated?: Stated) =>
  (
    await loadFiles([path(file)], { store, nowMs: () => NOW_MS, onProgress: () => {}, ...(stated && { stated }) })
  )[0]![0]!;
const stored = (store: Store) => store.prints('SPX', 0, NOW_MS, false, 0).length;

test('nothing of a refused tape is stored, and --zone stores all of it', () =>
  withStore(async (store) => {
    const text = tape(...Array.from({ length: 50 }, () => ({})), { executed_at: NAIVE });
    for (const [name, content] of [
      ['tape.csv', text],
      ['tape.csv.gz', gzipSync(text)],
    ] as const) {
      writeFileSync(path(name), content);
      expect(await load(store, name)).toMatchObject({ kept: 0, refusals: [expect.stringContaining('in row 51')] });
      expect(stored(store)).toBe(0);
    }
    expect(await load(store, 'tape.csv', { zone: 'America/New_York' })).toMatchObject({ kept: 51, refusals: [] });
    expect(stored(store)).toBe(51);
  }));

test('a time without a zone after many prints: the reading stops, and the reason counts the prints before', () =>
  withStore(async (store) => {
    writeFileSync(path('long.csv'), tape(...Array.from({ length: 20_000 }, () => ({})), { executed_at: NAIVE }, {}));
    const { refusals, kept } = await load(store, 'long.csv');
    const [, before] = /in row 20001\. .* The (\d+) prints before it are read$/.exec(refusals[0]!)!;
    expect(kept).toBe(Number(before));
    expect(stored(store)).toBe(kept);
  }));

test('a drop folder rejects the tape, and reads it when its zomma-map.toml names the zone', () =>
  withStore(async (store) => {
    mkdirSync(path('mapped'));
    writeFileSync(path('mapped/tape.csv'), tape({ executed_at: NAIVE }, { executed_at: NAIVE }));
    const feed = createFilesFeed(path('mapped'), { checkpoints: () => store.checkpoints('files') });
    store.openFeeds([feed]);
    const poll = () => ingestOnce({ feed, store, observe: () => {}, nowMs: () => NOW_MS });
    await poll();
    expect(store.feedStates()[0]!.refusals).toMatchObject([
      { origin: 'tape.csv', reason: expect.stringMatching(/in row 1\. State the zone/) },
    ]);
    expect(stored(store)).toBe(0);
    writeFileSync(path('mapped/zomma-map.toml'), ZONE_OF_FOLDER);
    await poll();
    expect(store.feedStates()[0]!.refusals).toEqual([]);
    expect(store.prints('SPX', 0, NOW_MS, false, 0).map(({ at }) => new Date(at).toISOString())).toEqual([
      AS_NEW_YORK,
      AS_NEW_YORK,
    ]);
  }));

describe('many prints outside the session', () => {
  const at = (time: string) => ({ executed_at: time });
  const many = (count: number, time: string) => Array.from({ length: count }, () => at(time));
  const inside = '2026-08-17 13:30:00+00';
  const warned = (share: number) => [
    `warning: ${share} % of the prints are outside the New York session: is the zone of the times right? See --zone`,
  ];
  test.each<[string, { executed_at: string }[], string[] | undefined]>([
    ['none', many(40, inside), undefined],
    ['5 %', [...many(38, inside), ...many(2, '2026-08-17 13:29:59+00')], undefined],
    ['more', [...many(37, inside), ...many(3, '2026-08-17 13:29:59+00')], warned(8)],
    ['all, before the open', many(20, '2026-08-17 09:31:00+00'), warned(100)],
    ['few prints', many(19, '2026-08-17 09:31:00+00'), undefined],
    ['within a quarter of an hour after the close', many(20, '2026-08-17 20:15:00+00'), undefined],
    ['later', many(20, '2026-08-17 20:15:01+00'), warned(100)],
    ['after a half day', many(20, '2025-11-28 18:15:01+00'), warned(100)],
    ['on a half day', many(20, '2025-11-28 18:15:00+00'), undefined],
    ['on a Sunday', many(20, '2026-08-16 15:00:00+00'), warned(100)],
    ['on several days', ['14', '17', '18'].flatMap((day) => many(9, `2026-08-${day} 20:00:00+00`)), undefined],
  ])('%s', (_what, rows, notices) =>
    withStore(async (store) => {
      writeFileSync(path('tape.csv'), tape(...rows));
      const loaded = await load(store, 'tape.csv');
      expect(loaded).toMatchObject({ kept: rows.length, refusals: [] });
      expect(loaded.notices).toEqual(notices);
    }),
  );

  test('a drop folder reports it, and stores the prints; the warning of a vendor’s tape is the same', () =>
    withStore(async (store) => {
      mkdirSync(path('drop'));
      writeFileSync(path('drop/tape.csv'), tape(...many(20, '2026-08-17 09:31:00+00')));
      const trade = (i: number) => `O:SPXW260821C05000000,209,0,302,25.${i},${1_786_959_000 + i}000000000,4`;
      const vendor = [
        'ticker,conditions,correction,exchange,price,sip_timestamp,size',
        ...Array.from({ length: 30 }, (_, i) => trade(10 + i)),
      ];
      writeFileSync(path('drop/trades.csv'), `${vendor.join('\n')}\n`);
      const feed = createFilesFeed(path('drop'), { checkpoints: () => store.checkpoints('files') });
      store.openFeeds([feed]);
      await ingestOnce({ feed, store, observe: () => {}, nowMs: () => NOW_MS });
      const reason = expect.stringMatching(/^\d+ % of the prints are outside the New York session: .* See --zone$/);
      const refusals = store.feedStates()[0]!.refusals.toSorted((a, b) => (a.origin < b.origin ? -1 : 1));
      expect(refusals).toMatchObject([
        { origin: 'tape.csv', reason },
        { origin: 'trades.csv', reason },
      ]);
      expect(stored(store)).toBe(50);
    }));
});
