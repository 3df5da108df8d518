import type { Command } from 'commander';
import { SettingError, SettingFaults } from '../core/errors.ts';
import { SETTINGS, type Setting, type SettingName, type SettingValues, settingsIn } from '../settings/config.ts';
import { parseWritten, type SettingSources, type WrittenSetting } from '../settings/setting-sources.ts';
import { sourcesFor } from './cli-command.ts';
import type { Ports } from './ports.ts';

/** The settings of `zomma serve`, in the order in which they are shown. */
export const SERVER_SETTINGS = settingsIn('data', 'server', 'feeds', 'mcp', 'log');

/** Returns a setting's text from the command line, the environment or the settings file. */
export function writtenSetting(
  name: SettingName,
  command: Command,
  sources: SettingSources,
): WrittenSetting | undefined {
  const given: string | true | undefined = command.getOptionValue(name);
  if (given === undefined) return sources.find(name);
  return { text: String(given), origin: (SETTINGS[name] as Setting).flag!.split(' ')[0]! };
}

/** Returns the settings of the server. Throws `SettingFaults` with everything that keeps the server from starting with them. */
export async function serverSettings(command: Command, ports: Ports): Promise<SettingValues> {
  const { problems, values } = await readRawSettings(command, ports);
  if (problems.length > 0) throw new SettingFaults(problems);
  return values;
}

/**
 * Reads all settings of the server. Returns everything that is wrong with them, the number of given settings, and all values. An invalid
 * setting has its default.
 */
export async function readRawSettings(command: Command, ports: Ports) {
  const problems: SettingError[] = [];
  const collected = <T>(error: unknown): T | undefined => {
    if (!(error instanceof SettingError)) throw error;
    problems.push(error);
    return undefined;
  };
  let count = 0;
  // If the settings file is unusable, the settings from the other sources are still checked.
  const sources: SettingSources = (await sourcesFor(command).catch(collected<SettingSources>)) ?? {
    find: () => undefined,
  };
  const values = SERVER_SETTINGS.map((name) => {
    try {
      const written = writtenSetting(name, command, sources);
      if (written) {
        count++;
        return [name, parseWritten(name, written)];
      }
    } catch (error) {
      collected(error);
    }
    const { default: text }: Setting = SETTINGS[name];
    return [name, text === undefined ? undefined : parseWritten(name, { text, origin: 'default' })];
  });
  const settings = Object.fromEntries(values) as SettingValues;
  problems.push(...(await ports.settingFaults(settings)));
  return { problems, count, values: settings };
}
