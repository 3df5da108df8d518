import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Access, createAccess } from './access/access.ts';
import { isOpenToGroup, loadSecret } from './access/secret.ts';
import type { ValuesIn } from './config.ts';
import { createMarket } from './market/market.ts';
import { loadUniverse, STANDARD_UNIVERSE, type Universe } from './market/universe.ts';
import type { Context } from './operations/operation.ts';
import { openStore, type Store } from './store/sqlite.ts';

/** The settings that all commands that read stored market data have in common. The service is one of these commands. */
export type DataSettings = ValuesIn<'data'>;

/** Creates the context of the operations over an open store. `simulated` selects the simulated data instead of the data of real feeds. */
export function createContext(settings: DataSettings, store: Store, universe: Universe, simulated: boolean): Context {
  return {
    market: createMarket(store, universe, simulated, Date.now),
    universe,
    nowMs: Date.now,
    feedStates: () => store.feedStates(),
    gapsIn: (fromMs, toMs) => store.gapsIn(fromMs, toMs),
    staleAfterMs: settings.staleAfter,
    largePrintMinUsd: settings.largePrintMin,
    contagionMinUsd: settings.contagionMin,
  };
}

/** Reads the universe from a file. Without a file, returns the standard universe. */
export function readUniverse(file: string | undefined): Universe {
  return file === undefined ? STANDARD_UNIVERSE : loadUniverse(readFileSync(file, 'utf8'));
}

/**
 * Opens the database of a data folder. Creates the folder with mode 0700 if it does not exist. Throws `OperatorError` if every user of the
 * machine may write to the folder. Calls `warn` if the group of the folder may write to the folder.
 */
export function openData(dataDir: string, warn = () => {}): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (isOpenToGroup(dataDir)) warn();
  return openStore(join(dataDir, 'zomma.sqlite'), Date.now);
}

/** Opens an empty store in memory. */
export function openMemory(): Store {
  return openStore(':memory:', Date.now);
}

export function openAccess(store: Store, dataDir: string): Access {
  return createAccess({ members: store, secret: () => loadSecret(dataDir), nowMs: Date.now });
}
