import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, createAccess } from './access/access.ts';
import { isOpenToGroup, loadSecret } from './access/secret.ts';
import { OperatorError } from './errors.ts';
import { createMarket } from './market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from './market/universe.ts';
import type { Context } from './operations/operation.ts';
import { openStore, type Store } from './store/sqlite.ts';

/** Settings of every command that reads the stored market of a data folder, the service included. */
export interface DataSettings {
  readonly dataDir: string;
  readonly universe?: string | undefined;
  readonly largePrintMin: string;
  readonly contagionMin: string;
  readonly staleAfter: string;
}

/** Creates the context of the operations over an open store. `simulated` selects the simulated data instead of the recorded data. */
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
 * Opens the database of a data folder. Creates the folder with mode 0700 if it does not exist. Throws `OperatorError` if every user of the
 * machine may write to the folder. Calls `warn` if the group of the folder may write to it.
 */
export function openData(dataDir: string, warn = () => {}): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (isOpenToGroup(dataDir)) warn();
  return openStore(join(dataDir, 'zomma.sqlite'));
}

/** Opens an empty store in memory. */
export function openMemory(): Store {
  return openStore(':memory:');
}

export function openAccess(store: Store, dataDir: string): Access {
  return createAccess({ members: store, secret: () => loadSecret(dataDir), now: Date.now });
}

function dollars(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value;
  throw new OperatorError(`${flag} is not an amount of dollars`, `Use a number of 0 or more, e.g. ${flag} 100000.`);
}

function minutes(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value * 60_000;
  throw new OperatorError(`${flag} is not a number of minutes`, `Use a number above 0, e.g. ${flag} 30.`);
}
