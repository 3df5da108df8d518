import { SettingError, SettingFaults } from '../core/errors.ts';
import { listenOptions } from '../http/listen.ts';
import { createMyKeyPolicy } from '../http/my-key-policy.ts';
import { STANDARD_UNIVERSE } from '../market/universe.ts';
import type { SettingValues } from '../settings/config.ts';
import { createFeeds } from './create-feeds.ts';
import { readUniverse } from './stored-data.ts';

/**
 * Returns everything that keeps a server from starting with these settings: files and folders that are missing, and settings that
 * contradict each other. The values themselves are valid. Creates and changes nothing.
 */
export function settingFaults(settings: SettingValues): SettingError[] {
  return [
    () => readUniverse(settings.universe),
    // The feeds do not depend on which tickers the universe has. The folder of --set-aside would be created.
    () => createFeeds({ ...settings, setAside: undefined }, STANDARD_UNIVERSE, () => new Map()),
    () => listenOptions(settings),
    () => createMyKeyPolicy(settings),
  ].flatMap(faultsOf);
}

function faultsOf(check: () => unknown): readonly SettingError[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof SettingFaults) return error.faults;
    if (error instanceof SettingError) return [error];
    throw error;
  }
}
