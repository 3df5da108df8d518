import { parse, TomlError } from 'smol-toml';
import { SettingError } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import { SETTINGS, type SettingName } from './config.ts';
import { readNamedFile, SETTINGS_FILE, settingKey, type WrittenSettings } from './setting-sources.ts';

/** Reads a settings file. Throws `SettingError` if the file cannot be read, is not TOML, or has an unknown key. */
export function readSettingsFile(path: string): WrittenSettings {
  const byKey = new Map((Object.keys(SETTINGS) as SettingName[]).map((name) => [settingKey(name), name]));
  const entries = Object.entries(tableOf(path));
  for (const [key] of entries) {
    if (byKey.has(key)) continue;
    const credential = byKey.get(`${key}-file`);
    throw new SettingError(
      `${path}: "${key}" is not a setting`,
      credential
        ? `A credential has a file of its own, which others cannot read: ${key}-file = "/path/of/the/file".`
        : `Did you mean ${nearestNames(key, [...byKey.keys()])[0]}? \`zomma config example\` lists every setting.`,
    );
  }
  return Object.fromEntries(
    entries.map(([key, value]) => {
      const origin = `${key} in ${path}`;
      return [byKey.get(key)!, { text: textOf(value, origin), origin }];
    }),
  );
}

function tableOf(path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(readNamedFile(path, SETTINGS_FILE.flag, 'settings'));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new SettingError(
      `${path}, line ${error.line}, column ${error.column}: ${error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')}`,
      'A setting is a line such as port = 8080 or data-dir = "/var/lib/zomma".',
      { cause: error },
    );
  }
}

/** Converts a value of the settings file to the text of the equivalent flag. */
function textOf(value: unknown, origin: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  if (Array.isArray(value)) return value.map((each) => textOf(each, origin)).join(',');
  throw new SettingError(
    `${origin}: the value is not text, a number, true, false, or a list of these`,
    'Write it as the flag takes it, in quotation marks.',
  );
}
