import { Command, Option } from 'commander';
import { OperatorError } from '../core/errors.ts';
import { parseSetting, SETTINGS, type Setting, type SettingName } from '../settings/config.ts';
import { parseWritten, SETTINGS_FILE, type SettingSources, settingSources } from '../settings/setting-sources.ts';

/** The settings that say where the data of a command is. */
export const DATA_PLACE = ['dataDir', 'store', 'storePassword'] as const satisfies readonly SettingName[];

/** A credential has no flag that would show it in the help. */
const { env: STORE_PASSWORD } = SETTINGS.storePassword;
const STORE_PASSWORD_HELP = `The password of a Postgres database comes from ${STORE_PASSWORD}, from the file that ${STORE_PASSWORD}_FILE names,
or from the file of libpq's form that PGPASSFILE names.`;

interface SettingsOptions {
  /** The settings that have no default in this command. */
  readonly withoutDefault?: readonly SettingName[];
  /** The settings that do not affect the command, so its help leaves them out. The command still accepts these settings. */
  readonly hidden?: readonly SettingName[];
}

/** A command with the features that many commands share. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /**
   * Adds the flags of some settings, and `--config`. Before the command's action runs, a missing setting gets its value from the
   * environment, the settings file or the default, in this order. Credentials have no flags.
   */
  settings(names: readonly SettingName[], { withoutDefault = [], hidden = [] }: SettingsOptions = {}): this {
    const defaultOf = (name: SettingName) =>
      withoutDefault.includes(name) ? undefined : (SETTINGS[name] as Setting).default;
    for (const name of names) {
      const option = settingOption(name, defaultOf(name));
      // A flag without a placeholder is a switch and has no value to parse.
      if (option?.required) option.argParser((text) => parseSetting(name, text));
      if (option) this.addOption(option.hideHelp(hidden.includes(name)));
    }
    this.settingsFile();
    this.storePasswordHelp(names);
    return this.hook('preAction', async (_, action) => {
      const sources = await sourcesFor(action);
      for (const name of names) {
        if (action.getOptionValueSource(name) === 'cli') continue;
        const written = sources.find(name);
        const byDefault = defaultOf(name);
        if (written) action.setOptionValueWithSource(name, parseWritten(name, written), written.origin);
        else if (byDefault !== undefined)
          action.setOptionValueWithSource(name, parseSetting(name, byDefault), 'default');
      }
    });
  }

  /** Refuses a database that servers share as `--store`, with what to do instead. */
  aloneOnly(hint: string): this {
    return this.hook('preAction', (_, action) => requireAlone(nameOf(action), action.optsWithGlobals().store, hint));
  }

  /** Adds the flags of some settings, and `--config`. The values stay texts, so that all can be shown and checked at once. */
  rawSettings(names: readonly SettingName[], { shown = false } = {}): this {
    if (!shown) this.settingsFile().storePasswordHelp(names);
    for (const name of names) {
      const option = settingOption(name, (SETTINGS[name] as Setting).default);
      if (option) this.addOption(option.hideHelp(!shown));
    }
    return shown ? this.settingsFile() : this;
  }

  choice(flag: string, help: string, values: readonly string[], byDefault: string): this {
    return this.addOption(new Option(flag, help).choices(values).default(byDefault));
  }

  json(): this {
    return this.option('--json', 'print one JSON object');
  }

  /** Adds the flags that state what a file does not say (`StatedFlags`). */
  stated(): this {
    return this.option(
      '--as-of <time>',
      'time of the quotes in a file that states none: 2026-08-21 for the close of that day, or 2026-08-21T15:45-04:00; of a file with several days, the day to use',
    )
      .option('--zone <name>', 'time zone of times that state none, for example America/New_York or UTC')
      .option('--close <HH:MM>', 'New York time of the quotes of dates without a time, instead of the close')
      .option('--map <file>', 'mapping (TOML) that says which column is what, see docs/vendors.md');
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  $ ${line}\n`).join('')}`);
  }

  private storePasswordHelp(names: readonly SettingName[]): this {
    return names.includes('storePassword') ? this.addHelpText('after', `\n${STORE_PASSWORD_HELP}`) : this;
  }

  private settingsFile(): this {
    return this.option(SETTINGS_FILE.flag, `${SETTINGS_FILE.help} (env: ${SETTINGS_FILE.env})`);
  }
}

/** Throws `OperatorError` if `--store` of a command names a database that servers share. */
export function requireAlone(command: string, store: string, hint: string): void {
  if (store === 'sqlite') return;
  const message = `\`${command}\` is for a server alone, and --store names a database that servers share`;
  throw new OperatorError(message, hint);
}

function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

/** Returns the flag of a setting with its help, or undefined for a credential, which has no flag. */
function settingOption(name: SettingName, byDefault: string | undefined): Option | undefined {
  const { flag, help, env }: Setting = SETTINGS[name];
  const defaultText = byDefault === undefined ? '' : `default: ${byDefault}, `;
  return flag === undefined ? undefined : new Option(flag, `${help} (${defaultText}env: ${env})`);
}

/** Returns a command's settings from the environment and from the file of `--config`. Throws `SettingError` if the file cannot be used. */
export async function sourcesFor(command: Command): Promise<SettingSources> {
  // A command with subcommands takes the flags that both have, wherever they are.
  const path: string | undefined = command.optsWithGlobals().config ?? process.env[SETTINGS_FILE.env];
  // The code loads the TOML parser only if there is a settings file.
  const inFile = path ? (await import('../settings/settings-file.ts')).readSettingsFile(path) : {};
  return settingSources(process.env, inFile);
}
