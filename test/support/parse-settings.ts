import {
  parseSetting,
  SETTINGS,
  type Setting,
  type SettingName,
  type SettingValues,
} from '../../src/settings/config.ts';

/** Returns the values of all settings. A setting without a text gets its default. Throws `SettingError` if a text is invalid. */
export function parseSettings(texts: Partial<Record<SettingName, string>>): SettingValues {
  const names = Object.keys(SETTINGS) as SettingName[];
  return Object.fromEntries(
    names.map((name) => {
      const text = texts[name] ?? (SETTINGS[name] as Setting).default;
      return [name, text === undefined ? undefined : parseSetting(name, text)];
    }),
  ) as SettingValues;
}
