import { SettingError, SettingFaults } from '../core/errors.ts';
import { listenOptions } from '../http/listen.ts';
import { createMyKeyPolicy } from '../http/my-key-policy.ts';
import { STANDARD_UNIVERSE } from '../market/universe.ts';
import type { SettingValues } from '../settings/config.ts';
import { createFeeds } from './create-feeds.ts';
import { readUniverse } from './stored-data.ts';

/** What the settings of a server must allow, by subject. Creates and changes nothing. */
const CHECKS: Readonly<Record<string, (settings: SettingValues) => unknown>> = {
  universe: ({ universe }) => readUniverse(universe),
  // Which tickers a feed polls does not matter here. The folder of --set-aside would be created.
  feeds: (settings) => createFeeds({ ...settings, setAside: undefined }, STANDARD_UNIVERSE, () => new Map()),
  certificate: listenOptions,
  'my-key': createMyKeyPolicy,
};

/** Returns what keeps a server from starting with valid values, by subject: missing files and folders, and contradictions. */
export function settingFaults(settings: SettingValues): { readonly of: string; readonly error: SettingError }[] {
  return Object.entries(CHECKS).flatMap(([of, check]) => {
    try {
      check(settings);
      return [];
    } catch (error) {
      const errors = error instanceof SettingFaults ? error.faults : [error];
      if (!errors.every((each) => each instanceof SettingError)) throw error;
      return errors.map((each) => ({ of, error: each }));
    }
  });
}
