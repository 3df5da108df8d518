import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedReport } from '../../src/operations/feed-status.ts';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { writeChain } from '../support/chain-file.ts';
import { FAKETIME, testWithFaketime } from '../support/faketime.ts';
import { PROGRAM, run, startServer, withFolder } from '../support/process.ts';

const FEED_EVERY_MS = 5_000;
const UUID = '6f1c2a34-5b6d-4e7f-8a9b-000000000001';

/** A server over a folder of files whose clock is set from one offset to another. Returns what its clients saw. */
function serveThrough(from: string, to: string) {
  return withFolder(async (folder) => {
    const drop = (name: string) => join(folder, name);
    const [data, clock] = [drop('data'), drop('clock')];
    writeFileSync(clock, from);
    const env = {
      LD_PRELOAD: FAKETIME!,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
    await run(['mkdir', '-p'], [drop('files')]);
    writeChain(drop('files/SPY.csv'), 'SPY', '2026-08-20T16:00:00-04:00');
    const feed = ['--feed', `files:${drop('files')}`, '--data-dir', data];
    await using server = await startServer(PROGRAM, ['serve', '--port', '0', ...feed], env);
    await server.loaded;
    using store = openData(data);
    const key = (await openAccess(store, data).addMember({ uuid: UUID })).apiKey;
    const get = (path: string) => fetch(server.url + path, { headers: { 'X-API-Key': key } });
    const asOf = async () => {
      const response = await get('/api/v1/nodes/gex/SPY');
      statuses.add(response.status);
      return response.headers.get('x-data-as-of')!.slice(0, 10);
    };
    const statuses = new Set<number>();
    expect(await asOf()).toBe('2026-08-20');
    writeFileSync(clock, to);
    writeChain(drop('files/SPY-2.csv'), 'SPY', '2026-08-21T16:00:00-04:00');
    const steppedAt = performance.now();
    while ((await asOf()) !== '2026-08-21') {
      if (performance.now() - steppedAt > 3 * FEED_EVERY_MS) break;
      await Bun.sleep(20);
    }
    const servedMs = performance.now() - steppedAt;
    const report = (await (await get('/api/v1/feeds')).json()) as FeedReport;
    const age = Date.parse(report.checked_at) - Date.parse(report.feeds[0]!.last_data!);
    const told = await run(PROGRAM, ['feeds', '--data-dir', data], undefined, env);
    const checked = await run(PROGRAM, ['check', '--data-dir', data], undefined, env);
    return {
      statuses: [...statuses],
      state: report.feeds[0]!.state,
      isServedSoon: servedMs < 2 * FEED_EVERY_MS,
      isAgeTrue: age >= 0 && age < 1_500,
      byHours: report.clock_step!.by_s / 3_600,
      logged: /"message":"(clock_set_\w+)"/.exec(server.log())?.[1],
      told: /^clock .*$/m.exec(told.stdout)?.[0].replace(/, \d+ s ago$/, ''),
      isPolled: /polled +\d+ s ago, completed \d+ s ago, next in \d s/.test(told.stdout),
      checked: /clock .*(set back)/.exec(checked.stdout)?.[1],
    };
  });
}

testWithFaketime(
  'after each step of the clock, the next file is served in time, and ages and states are true',
  async () => {
    const well = { statuses: [200], state: 'degraded' as const, isServedSoon: true, isAgeTrue: true, isPolled: true };
    const back = { ...well, logged: 'clock_set_back', checked: 'set back' };
    expect(
      await Promise.all([
        serveThrough('+5h', '+0'),
        serveThrough('+0', '-2h'),
        serveThrough('+0', '-30h'),
        serveThrough('+0', '+1d'),
      ]),
    ).toEqual([
      { ...back, byHours: -5, told: 'clock     SET BACK by 5 h' },
      { ...back, byHours: -2, told: 'clock     SET BACK by 2 h' },
      { ...back, byHours: -30, told: 'clock     SET BACK by 30 h' },
      { ...well, logged: 'clock_set_forward', byHours: 24, told: 'clock     SET FORWARD by 24 h', checked: undefined },
    ]);
  },
);
