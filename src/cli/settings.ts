import { type Command, Option } from 'commander';
import { parseSetting, SETTINGS, type Setting, type SettingName } from '../config.ts';

interface SettingsOptions {
  /** The settings that get no default. */
  readonly withoutDefault?: readonly SettingName[];
  /** The settings that the help leaves out, because they have no effect on the command. The command accepts them. */
  readonly hidden?: readonly SettingName[];
}

/**
 * Adds the flags of some settings to a command. If a flag is not given, the value comes from the setting's environment variable. Adds
 * nothing for a credential, because a credential has no flag.
 */
export function withSettings(
  command: Command,
  names: readonly SettingName[],
  { withoutDefault = [], hidden = [] }: SettingsOptions = {},
): Command {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    if (setting.flag === undefined) continue;
    const option = new Option(setting.flag, setting.help);
    const parse = (text: string) => parseSetting(name, text);
    // On the command line, a switch has no value. In the environment it has one, and the value `false` must not turn the switch on.
    if (!setting.flag.includes('<')) {
      const byDefault = setting.default ?? 'false';
      option.default(parse(process.env[setting.env] ?? byDefault), `${byDefault}, env: ${setting.env}`);
    } else {
      option.env(setting.env).argParser(parse);
      const text = withoutDefault.includes(name) ? undefined : setting.default;
      if (text !== undefined) option.default(parse(text), JSON.stringify(text));
    }
    command.addOption(option.hideHelp(hidden.includes(name)));
  }
  return command;
}
