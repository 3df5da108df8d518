import { type Command, Option } from 'commander';
import { parseSetting, SETTINGS, type Setting, type SettingName } from '../config.ts';

/**
 * Adds the flags of some settings to a command. If the flag is not given, the value comes from the setting's environment variable. Adds
 * nothing for a credential, which has no flag. The settings in `withoutDefault` get no default.
 */
export function withSettings(
  command: Command,
  names: readonly SettingName[],
  withoutDefault: readonly SettingName[] = [],
): Command {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    if (setting.flag === undefined) continue;
    const option = new Option(setting.flag, setting.help);
    const parse = (text: string) => parseSetting(name, text);
    // On the command line, a switch has no value. In the environment it has one, and the value `false` must not turn the switch on.
    if (!setting.flag.includes('<')) option.default(parse(process.env[setting.env] ?? setting.default ?? 'false'));
    else {
      option.env(setting.env).argParser(parse);
      const text = withoutDefault.includes(name) ? undefined : setting.default;
      if (text !== undefined) option.default(parse(text), JSON.stringify(text));
    }
    command.addOption(option);
  }
  return command;
}
