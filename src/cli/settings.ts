import { type Command, Option } from 'commander';
import { SETTINGS, type Setting, type SettingName } from '../config.ts';
import { OperatorError } from '../errors.ts';

/**
 * Adds the flags of some settings to a command. Each setting can also come from its environment variable. Credentials have no flag, only
 * the variable. The settings in `leftOpen` get no default.
 */
export function withSettings(
  command: Command,
  names: readonly SettingName[],
  leftOpen: readonly SettingName[] = [],
): Command {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    if (setting.flag === undefined) continue;
    const option = new Option(setting.flag, setting.help);
    // A switch has no value on the command line, but it has one in the environment. There `false` must not turn it on.
    if (!setting.flag.includes('<')) option.default(isOn(setting.env));
    else {
      option.env(setting.env);
      if (setting.default !== undefined && !leftOpen.includes(name)) option.default(setting.default);
    }
    command.addOption(option);
  }
  return command;
}

function isOn(env: string): boolean {
  const value = (process.env[env] ?? '').toLowerCase();
  if (['', '0', 'false', 'no', 'off'].includes(value)) return false;
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  throw new OperatorError(`${env} is neither on nor off`, 'Use true or false.');
}

/** Settings of every command that reads stored market data. */
export const DATA_SETTINGS = ['dataDir', 'universe', 'largePrintMin', 'contagionMin', 'staleAfter'] as const;

/** Settings of every command that polls feeds while it runs. */
export const FEED_SETTINGS = [
  'feed',
  'setAside',
  'dataMax',
  'seed',
  'feedRate',
  'feedEvery',
  'feedHours',
  'cboeUrl',
  'tradierUrl',
  'massiveUrl',
  'massiveSocketUrl',
] as const;
