import { type Command, Option } from 'commander';
import { SETTINGS, type Setting, type SettingName } from '../config.ts';

/** Gives a command the flags of some settings; each can also come from its environment variable. */
export function withSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    const option = new Option(setting.flag, setting.help).env(setting.env);
    command.addOption(setting.default === undefined ? option : option.default(setting.default));
  }
  return command;
}

/** Settings of every command that reads stored market data. */
export const DATA_SETTINGS = ['dataDir', 'universe', 'largePrintMin', 'contagionMin'] as const;
