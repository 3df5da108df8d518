import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { OperatorError } from '../../../src/core/errors.ts';
import { instrumentsOf } from '../../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../../src/feeds/simulated/simulated-chain.ts';
import { type HistoryRequest, loadHistory } from '../../../src/feeds/thetadata/thetadata-history.ts';
import { closeOf } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { LoadedDay } from '../../../src/market/feed.ts';
import { loadUniverse } from '../../../src/market/universe.ts';
import { openStore, type Store } from '../../../src/store/sqlite.ts';
import { rowsOf } from '../../support/provider-answers.ts';
import type { Behaviour } from '../../support/provider-faults.ts';
import { type ProviderServer, startProviderServer } from '../../support/provider-server.ts';
import { recordLevels } from '../../support/record-levels.ts';
import { testClock } from '../provider-market.ts';

const [CHPT] = instrumentsOf({ seed: 1, universe: loadUniverse('{"themes":{"few":["CHPT"]}}'), clock: 'real' });
const chainOn = (day: string): Chain => simulatedChain(CHPT!, closeOf(day));
/** The last day of summer time is before November, Thanksgiving is November 26, and November 27 is a half day. */
const WEEKS: HistoryRequest = { ticker: 'CHPT', from: '2026-11-20', to: '2026-11-30' };
const DAYS = ['2026-11-20', '2026-11-23', '2026-11-24', '2026-11-25', '2026-11-27', '2026-11-30'];
const JANUARY_MS = Date.parse('2027-01-05T15:00:00Z');

let terminal: ProviderServer;
let store: Store;
beforeEach(async () => {
  terminal = await startProviderServer({
    chainOf: (ticker, day) => (ticker === 'CHPT' && day !== undefined ? chainOn(day) : undefined),
  });
  store = openStore(':memory:', () => JANUARY_MS);
});
afterEach(async () => {
  store.close();
  await terminal.close();
});

function load(request: HistoryRequest = WEEKS, nowMs = JANUARY_MS, fullReason?: () => string | undefined) {
  const seen: string[] = [];
  const onDay = (days: readonly LoadedDay[], count: number) => void seen.push(`${days.length} of ${count}`);
  const room = fullReason && { fullReason };
  const deps = { baseUrl: terminal.url, store, clock: testClock(nowMs), onDay, ...(room && { room }) };
  return Object.assign(loadHistory(request, deps), { seen });
}
const statesOf = (days: readonly LoadedDay[]) => days.map(({ day, state }) => `${day} ${state}`);
const failureOf = async (work: Promise<unknown>): Promise<OperatorError> => {
  const error = await work.catch((each) => each);
  expect(error).toBeInstanceOf(OperatorError);
  return error as OperatorError;
};
const failing = (part: string, behaviour: Behaviour) => {
  terminal.behaviour = (path) => (path.includes(part) ? behaviour : undefined);
};
const status = (code: number): Behaviour => ({ kind: 'status', status: code });

test('stores each trading day at its close, with every contract, and the levels follow', async () => {
  const loading = load();
  expect(statesOf(await loading)).toEqual(DAYS.map((day) => `${day} stored`));
  expect(loading.seen).toEqual(DAYS.map((_, i) => `${i + 1} of ${DAYS.length}`));
  expect(store.snapshots('CHPT')).toEqual(
    DAYS.map((day) => ({ underlying: 'CHPT', asOf: closeOf(day), source: 'thetadata:CHPT', simulated: false })),
  );
  // The half day ends at 13:00 in New York.
  expect(closeOf('2026-11-27')).toBe(Date.parse('2026-11-27T18:00:00Z'));
  for (const day of DAYS) {
    const stored = store.chain(store.chainIdAt('CHPT', false, closeOf(day))!)!;
    const expected = rowsOf(chainOn(day)).map((row) => ({ ...row, iv: null, delta: null, gamma: null }));
    expect(rowsOf(stored)).toEqual(expected);
    expect(Math.abs(stored.spot / chainOn(day).spot - 1)).toBeLessThan(0.01);
  }
  await recordLevels(store);
  expect(store.levelTimes('CHPT', 0, JANUARY_MS, 'day', false)).toEqual(DAYS.map(closeOf));
});

test('requests one day at a time, as the documentation requires', async () => {
  await load({ ticker: 'CHPT', from: '2026-10-30', to: '2026-10-30' });
  expect(terminal.asked).toEqual([
    '/v3/option/history/eod?symbol=CHPT&expiration=*&start_date=20261030&end_date=20261030',
    '/v3/option/history/open_interest?symbol=CHPT&expiration=*&date=20261030',
  ]);
  // New York has summer time until November 1.
  expect(store.snapshots('CHPT')[0]?.asOf).toBe(Date.parse('2026-10-30T20:00:00Z'));
});

test('skips days that are stored', async () => {
  await load();
  const requests = terminal.asked.length;
  expect(statesOf(await load())).toEqual(DAYS.map((day) => `${day} known`));
  expect(terminal.asked).toHaveLength(requests);
  store.forgetSnapshots('CHPT', closeOf('2026-11-25'));
  const again = statesOf(await load());
  expect(again.filter((each) => each.endsWith('stored'))).toEqual(['2026-11-25 stored']);
  expect(terminal.asked).toHaveLength(requests + 2);
});

test.each<[string, Behaviour, RegExp]>([
  ['500', status(500), /^2026-11-24: the provider answered 500 in the last of 3 tries$/],
  ['no connection to ThetaData', status(474), /^2026-11-24: the terminal answered 474: it has lost .* 3 tries$/],
  ['no subscription', status(403), /^2026-11-24: the terminal answered 403: the subscription/],
  [
    'half of the table',
    { kind: 'half' },
    /^2026-11-24: the answer is incomplete \(\d+ bytes of CSV\) in the last of 3/,
  ],
])('%s on a day ends the run, which can be continued', async (_what, behaviour, message) => {
  failing('open_interest?symbol=CHPT&expiration=*&date=20261124', behaviour);
  const error = await failureOf(load());
  expect(error.message).toMatch(message);
  expect(error.hint).toMatch(/stored days are skipped/);
  expect(store.snapshots('CHPT').map(({ asOf }) => asOf)).toEqual(DAYS.slice(0, 2).map(closeOf));
  terminal.behaviour = () => undefined;
  expect(statesOf(await load())).toEqual(DAYS.map((day, i) => `${day} ${i < 2 ? 'known' : 'stored'}`));
});

describe('a day', () => {
  test.each<[string, string, Behaviour, Partial<LoadedDay>]>([
    ['without quotes', 'eod', status(472), { state: 'no_data' }],
    [
      'without open interest',
      'open_interest',
      status(472),
      { state: 'rejected', reason: 'the terminal has quotes of CHPT, but no open interest' },
    ],
    [
      'whose open interest is 0',
      'open_interest',
      { kind: 'changed', change: (rows) => rows.map((row: object) => ({ ...row, open_interest: 0 })) },
      { state: 'rejected', reason: 'CHPT: no contract has open interest' },
    ],
    [
      'whose report is of another day',
      'eod',
      { kind: 'changed', change: (rows) => rows.map((row: object) => ({ ...row, created: '2026-11-20T17:16:00' })) },
      { state: 'rejected', reason: expect.stringMatching(/^the report has another day$/) },
    ],
    [
      'whose quotes are 0, as before December 2023',
      'eod',
      { kind: 'changed', change: (rows) => rows.map((row: object) => ({ ...row, bid: 0, ask: 0 })) },
      { state: 'rejected', reason: expect.stringMatching(/no price of the underlying, and no quotes imply a price/) },
    ],
  ])('%s does not end the run', async (_what, table, behaviour, expected) => {
    terminal.behaviour = (path) => (path.includes(table) && path.includes('20261124') ? behaviour : undefined);
    const days = await load();
    expect(days[2]).toMatchObject({ day: '2026-11-24', contracts: 0, ...expected });
    expect(days.filter(({ state }) => state === 'stored')).toHaveLength(DAYS.length - 1);
    expect(store.snapshots('CHPT')).toHaveLength(DAYS.length - 1);
  });

  test('that is too large is requested as calls and puts', async () => {
    terminal.behaviour = (path) => (path.includes('right=') ? undefined : status(570));
    const [day] = await load({ ...WEEKS, to: WEEKS.from });
    expect(day).toEqual({ day: '2026-11-20', state: 'stored', contracts: chainOn('2026-11-20').count });
  });
});

test.each<[string, string, string | undefined, string, string]>([
  ['before the report', '2026-11-23', undefined, '2026-11-24T22:29:00Z', '2026-11-23'],
  ['after the report', '2026-11-23', undefined, '2026-11-24T22:30:00Z', '2026-11-23 2026-11-24'],
  ['an end in the future', '2026-11-23', '2027-06-01', '2026-11-24T12:00:00Z', '2026-11-23'],
])('loads up to the last report: %s', async (_what, from, to, now, days) => {
  const loaded = await load({ ticker: 'CHPT', from, to }, Date.parse(now));
  expect(loaded.map(({ day }) => day).join(' ')).toBe(days);
});

test.each([
  ['a weekend', '2026-11-21', '2026-11-22'],
  ['reversed', '2026-11-24', '2026-11-20'],
  ['the future', '2027-02-01', '2027-02-05'],
])('a period without a report is an error: %s', async (_what, from, to) => {
  expect((await failureOf(load({ ticker: 'CHPT', from, to }))).message).toMatch(/no trading day/);
  expect(terminal.asked).toEqual([]);
});

test('a full data folder ends the run before the next request', async () => {
  let left = 2;
  const error = await failureOf(load(WEEKS, JANUARY_MS, () => (left-- > 0 ? undefined : 'The data folder is full.')));
  expect(error.message).toBe('The data folder is full.');
  expect([store.snapshots('CHPT').length, terminal.asked.length]).toEqual([2, 4]);
});
