import { type Command, Option } from 'commander';
import { parseSetting, SETTINGS, type Setting, type SettingName } from '../settings/config.ts';
import { parseWritten, SETTINGS_FILE, type SettingSources, settingSources } from '../settings/setting-sources.ts';

interface SettingsOptions {
  /** The settings that get no default. */
  readonly withoutDefault?: readonly SettingName[];
  /** The settings that the help leaves out, because they have no effect on the command. The command accepts these settings. */
  readonly hidden?: readonly SettingName[];
}

/**
 * Adds the flags of some settings to a command, and `--config`. Before the action of the command runs, a setting without a flag on the
 * command line gets its value from the environment, else from the file of settings, else its default. Adds no flag for a credential,
 * because a credential has none.
 */
export function withSettings(
  command: Command,
  names: readonly SettingName[],
  { withoutDefault = [], hidden = [] }: SettingsOptions = {},
): Command {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    if (setting.flag === undefined) continue;
    const byDefault = withoutDefault.includes(name) ? undefined : setting.default;
    const notes = [...(byDefault === undefined ? [] : [`default: ${byDefault}`]), `env: ${setting.env}`];
    const option = new Option(setting.flag, `${setting.help} (${notes.join(', ')})`);
    // A switch has no value on the command line.
    if (setting.flag.includes('<')) option.argParser((text) => parseSetting(name, text));
    command.addOption(option.hideHelp(hidden.includes(name)));
  }
  command.option(SETTINGS_FILE.flag, `${SETTINGS_FILE.help} (env: ${SETTINGS_FILE.env})`);
  return command.hook('preAction', async (_, action) => {
    const sources = await sourcesFor(action);
    for (const name of names) {
      if (action.getOptionValueSource(name) === 'cli') continue;
      const written = sources.find(name);
      const byDefault = withoutDefault.includes(name) ? undefined : (SETTINGS[name] as Setting).default;
      if (written) action.setOptionValueWithSource(name, parseWritten(name, written), written.origin);
      else if (byDefault !== undefined) action.setOptionValueWithSource(name, parseSetting(name, byDefault), 'default');
    }
  });
}

/** Returns the settings outside the command line of a command that has `--config`. Throws `SettingError` if the file cannot be used. */
export async function sourcesFor(command: Command): Promise<SettingSources> {
  const path: string | undefined = command.getOptionValue('config') ?? process.env[SETTINGS_FILE.env];
  // The parser of TOML is loaded only for a file.
  const inFile = path ? (await import('../settings/settings-file.ts')).readSettingsFile(path) : {};
  return settingSources(process.env, inFile);
}
