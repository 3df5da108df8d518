import { shownJson } from '../core/clean-text.ts';
import { EXIT_CODES } from '../core/exit-codes.ts';
import type { Ports } from '../server/cli-ports.ts';
import { SETTINGS, type Setting, type SettingGroup, type SettingName, settingsIn } from '../settings/config.ts';
import { SETTINGS_FILE, settingKey, type WrittenSetting } from '../settings/setting-sources.ts';
import { type CliCommand, sourcesFor } from './cli-command.ts';
import { writeOut } from './csv/streams.ts';
import { checkedSettings, misspelledVariables, SERVER_SETTINGS, writtenSetting } from './raw-settings.ts';
import { columns } from './text-format.ts';

/** The groups of settings with their headings, in the order of the example file. */
const GROUPS = {
  data: 'The data folder and what is read from it',
  server: 'The server',
  feeds: 'Market data',
  mcp: 'What AI agents get over MCP',
  log: 'The log',
} as const satisfies Partial<Record<SettingGroup, string>>;

/** Line width of the example file, in characters. */
const WIDTH = 100;

/** Adds `zomma config`, which writes an example settings file, shows where each setting comes from, and checks all settings. */
export function addConfig(program: CliCommand, ports: Ports): void {
  const config = program.command('config').description('Show and check the settings of `zomma serve`.');
  config
    .command('example')
    .description(`Print a TOML file with every setting, its meaning and its default. ${SETTINGS_FILE.flag} reads it.`)
    .addHelpText('after', '\nExample:\n  $ zomma config example > zomma.toml\n')
    .action(async () => {
      await writeOut(exampleFile());
    });
  config
    .command('show')
    .rawSettings(SERVER_SETTINGS)
    .description(
      'Print the value of every setting, and where it comes from. Accepts the flags of `zomma serve`. Prints no credential.',
    )
    .json()
    .examples('zomma config show', 'zomma config show --config /etc/zomma/zomma.toml --port 9000 --json')
    .action(async ({ json }, command: CliCommand) => {
      const sources = await sourcesFor(command);
      const rows = SERVER_SETTINGS.map((name) => shownSetting(name, writtenSetting(name, command, sources)));
      await writeOut(json ? `${shownJson({ settings: rows })}\n` : tableOf(rows));
    });
  config
    .command('check')
    .rawSettings(SERVER_SETTINGS)
    .description(
      `Check the settings as \`zomma serve\` does at its start: values, files, folders and contradictions. Also name variables of the environment that belong to no setting. Accepts the flags of \`zomma serve\`. Exits with ${EXIT_CODES.setting.code} if something is wrong.`,
    )
    .json()
    .examples('zomma config check --config /etc/zomma/zomma.toml', 'zomma config check && systemctl restart zomma')
    .action(async ({ json }, command: CliCommand) => {
      const { problems: invalid, given } = await checkedSettings(command, ports);
      const problems = [...misspelledVariables(), ...invalid].map(({ message, hint }) => ({ message, hint }));
      if (problems.length > 0) process.exitCode = EXIT_CODES.setting.code;
      const words = problems.map(({ message, hint }) => `${message}\n  ${hint}\n`).join('');
      const counts = `${given.size} of ${SERVER_SETTINGS.length} are set, the others have their defaults`;
      if (json) await writeOut(`${shownJson({ valid: problems.length === 0, problems })}\n`);
      else await writeOut(words || `The settings are valid. ${counts}.\n`);
    });
}

/** Returns a setting for display. The value is null if the setting is not set and has no default, and `(hidden)` for a credential. */
function shownSetting(name: SettingName, written: WrittenSetting | undefined) {
  const { flag, default: byDefault }: Setting = SETTINGS[name];
  const value = flag === undefined && written ? '(hidden)' : (written?.text ?? byDefault ?? null);
  return {
    setting: settingKey(name),
    value,
    origin: written?.origin ?? (byDefault === undefined ? 'not set' : 'default'),
  };
}

function tableOf(rows: readonly ReturnType<typeof shownSetting>[]): string {
  const cells = rows.map(({ setting, value, origin }) => [setting, value ?? '', origin]);
  return `${columns([['setting', 'value', 'origin'], ...cells]).join('\n')}\n`;
}

function exampleFile(): string {
  const parts = Object.entries(GROUPS).map(([group, heading]) => {
    const lines = settingsIn(group as SettingGroup).map((name) => {
      const { help, flag, default: byDefault }: Setting = SETTINGS[name];
      const meaning = flag === undefined ? `file that contains the ${help}` : help;
      // For a setting without a default, the example shows the placeholder of the flag.
      const value = byDefault === undefined ? JSON.stringify(/<(.+)>/.exec(flag ?? '<file>')![1]) : literal(byDefault);
      return `${comment(meaning)}\n# ${settingKey(name)} = ${value}\n`;
    });
    return `## ${heading}\n\n${lines.join('\n')}`;
  });
  return `${comment(
    'Settings of Zomma. A line that begins with # has no effect: remove the # to change the setting. A flag and a variable of the environment take precedence over this file. A credential stands in a file of its own. Relative paths begin at the folder in which zomma is started.',
  )}\n\n${parts.join('\n')}`;
}

function literal(text: string): string {
  return /^(?:true|false|[1-9]\d*|0)$/.test(text) ? text : JSON.stringify(text);
}

function comment(text: string): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length < WIDTH) lines[lines.length - 1] = longer;
    else lines.push(` ${word}`);
  }
  return lines.map((line) => `#${line}`).join('\n');
}
