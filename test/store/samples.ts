import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS, newYorkDate } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { LevelRecord } from '../../src/market/level-record.ts';
import type { Close, Print } from '../../src/market/prints.ts';
import type { MarketStore } from '../../src/market/store.ts';

/** Runs `work` with a new folder and removes the folder afterwards. */
export async function inFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-store-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 15:00 in New York on a Monday. */
export const MONDAY_MS = Date.UTC(2026, 0, 5, 20);
export { DAY_MS };

/** A chain of `count` contracts in two series. Every cell is different, and some are missing. */
export function chainOf(changes: Partial<Chain> = {}): Chain {
  const count = changes.count ?? 5;
  const column = (seed: number) => Float64Array.from({ length: count }, (_, row) => seed + row / 7);
  const gappy = (seed: number) => Float64Array.from({ length: count }, (_, row) => (row % 3 === 1 ? NaN : seed + row));
  const cut = Math.ceil(count / 2);
  return {
    underlying: 'SPX',
    asOf: MONDAY_MS,
    spot: 6000.25,
    source: 'simulated',
    simulated: true,
    count,
    series: [
      series('SPX', 'AM', 0, cut, MONDAY_MS + 11 * DAY_MS),
      { ...series('SPXW', 'PM', cut, count, MONDAY_MS + 12 * DAY_MS), adjusted: true },
    ],
    seriesIndex: Uint16Array.from({ length: count }, (_, row) => (row < cut ? 0 : 1)),
    callPut: Float64Array.from({ length: count }, (_, row) => (row % 2 === 0 ? 1 : -1)),
    strike: column(5900),
    bid: gappy(1),
    ask: gappy(2),
    last: gappy(3),
    volume: column(10),
    openInterest: column(20),
    iv: gappy(0.2),
    delta: column(-0.5),
    gamma: column(1e-9),
    multiplier: column(100),
    refused: { 'no strike': 3, 'Zürich "quoted"': 1 },
    ...changes,
  };
}

function series(root: string, settlement: 'AM' | 'PM', start: number, end: number, settlesAt: number) {
  return { root, expiry: '2026-01-16', settlement, settlesAt, adjusted: false, start, end };
}

export function printOf(id: string, changes: Partial<Print> = {}): Print {
  return {
    id,
    underlying: 'SPX',
    root: 'SPXW',
    expiry: '2026-01-16',
    callPut: -1,
    strike: 5900.5,
    price: 12.35,
    size: 40,
    multiplier: 100,
    at: MONDAY_MS,
    side: 'ask',
    bid: 12.1,
    ask: 12.35,
    delta: -0.41,
    multiLeg: true,
    sweep: false,
    block: true,
    canceled: false,
    simulated: true,
    ...changes,
  };
}

export function closeWith(changes: Partial<Close>): Close {
  return { ...{ ticker: 'SPX', date: '2026-01-05', close: 1, volume: null, simulated: false }, ...changes };
}

/** A level record with a different value in every field. */
export function recordOf(overrides: Partial<LevelRecord> = {}): LevelRecord {
  const asOf = overrides.asOf ?? MONDAY_MS;
  return {
    ...{ underlying: 'SPX', simulated: false, asOf, day: newYorkDate(asOf), spot: 6000.25 },
    ...{ netGex: -1.5e9, grossGex: 9.25e9, gexFlip: 6010.5, flipResolved: true, callWall: 6100, putWall: 5900 },
    ...{ maxPain: 6000, expiry: '2026-01-16', dex: 1e11, vex: -2e8, cex: 3.5e7, atmIv30d: 0.1625 },
    ...overrides,
  };
}

/** Stores a snapshot and its levels. Returns the id of the snapshot. */
export function keepLevels(store: MarketStore, overrides: Partial<LevelRecord> = {}): number {
  const record = recordOf(overrides);
  const { underlying, asOf, spot, simulated } = record;
  store.saveChain(chainOf({ underlying, asOf, spot, simulated }));
  const id = store.levelsDue()[0]!;
  store.saveLevels(id, record);
  return id;
}
