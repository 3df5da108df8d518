import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, createAccess } from './access/access.ts';
import { isOpenToGroup, loadSecret } from './access/secret.ts';
import { OperatorError } from './errors.ts';
import { createMarket } from './market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from './market/universe.ts';
import type { Context } from './operations/operation.ts';
import { openStore, type Store } from './store/sqlite.ts';

/** Settings of everything that reads the stored market of a data folder, with a service or without one. */
export interface DataSettings {
  readonly dataDir: string;
  readonly universe?: string | undefined;
  readonly largePrintMin: string;
  readonly contagionMin: string;
  readonly staleAfter: string;
}

/** What operations need, over an open store: recorded data, or the simulated market's. */
export function createContext(settings: DataSettings, store: Store, universe: Universe, simulated: boolean): Context {
  return {
    market: createMarket(store, universe, simulated),
    universe,
    nowMs: Date.now,
    feedStates: () => store.feedStates(),
    gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
    staleAfterMs: minutes(settings.staleAfter, '--stale-after'),
    largePrintMinUsd: dollars(settings.largePrintMin, '--large-print-min'),
    contagionMinUsd: dollars(settings.contagionMin, '--contagion-min'),
  };
}

export function readUniverse(file: string | undefined): Universe {
  return file === undefined ? STANDARD_UNIVERSE : loadUniverse(readFileSync(file, 'utf8'));
}

/**
 * Opens the database of a data folder, made where it is missing and closed to others than its owner. Throws `OperatorError` if every user of
 * the machine may write there; `warn` hears that its group may.
 */
export function openData(dataDir: string, warn = () => {}): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (isOpenToGroup(dataDir)) warn();
  return openStore(join(dataDir, 'zomma.sqlite'));
}

/** A store of nothing, gone with the process. */
export function openMemory(): Store {
  return openStore(':memory:');
}

export function openAccess(store: Store, dataDir: string): Access {
  return createAccess({ members: store, secret: () => loadSecret(dataDir), now: Date.now });
}

function dollars(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new OperatorError(`${flag} is not an amount of dollars`, `use a number of 0 or more, e.g. ${flag} 100000`);
}

function minutes(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value * 60_000;
  throw new OperatorError(`${flag} is not a number of minutes`, `use a number above 0, e.g. ${flag} 30`);
}
