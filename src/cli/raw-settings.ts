import type { Command } from 'commander';
import { SettingError, SettingFaults } from '../core/errors.ts';
import type { Ports } from '../server/cli-ports.ts';
import { SETTINGS, type Setting, type SettingName, type SettingValues, settingsIn } from '../settings/config.ts';
import {
  parseWritten,
  type SettingSources,
  unknownVariables,
  type WrittenSetting,
} from '../settings/setting-sources.ts';
import { sourcesFor } from './cli-command.ts';

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
  const { problems, values } = await checkedSettings(command, ports);
  // A misspelled variable alone is a warning of the log, but it is often the reason why another setting is missing.
  if (problems.length > 0) throw new SettingFaults([...misspelledVariables(), ...problems]);
  return values;
}

/** Returns an error for each variable of the environment that belongs to no setting. */
export function misspelledVariables(): SettingError[] {
  return unknownVariables(process.env).map(
    ({ name, nearest }) => new SettingError(`${name} is not a setting`, `Did you mean ${nearest}?`),
  );
}

/** Returns what `readRawSettings` returns. The problems are everything that keeps a server from starting with the settings. */
export async function checkedSettings(command: Command, ports: Ports) {
  const { problems, ...read } = await readRawSettings(command);
  const faults = await ports.settingFaults(read.values);
  return { ...read, problems: [...problems, ...faults.map(({ error }) => error)] };
}

/** Reads all settings. Returns the errors, the names of the given settings, and all values: an invalid setting has its default. */
export async function readRawSettings(command: Command) {
  const problems: SettingError[] = [];
  const collected = <T>(error: unknown): T | undefined => {
    if (!(error instanceof SettingError)) throw error;
    problems.push(error);
    return undefined;
  };
  const given = new Set<SettingName>();
  // If the settings file is unusable, the settings from the other sources are still checked.
  const sources: SettingSources = (await sourcesFor(command).catch(collected<SettingSources>)) ?? {
    find: () => undefined,
  };
  const values = SERVER_SETTINGS.map((name) => {
    try {
      const written = writtenSetting(name, command, sources);
      if (written) {
        given.add(name);
        return [name, parseWritten(name, written)];
      }
    } catch (error) {
      collected(error);
    }
    const { default: text }: Setting = SETTINGS[name];
    return [name, text === undefined ? undefined : parseWritten(name, { text, origin: 'default' })];
  });
  return { problems, given, values: Object.fromEntries(values) as SettingValues };
}
