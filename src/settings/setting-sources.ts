import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SettingError } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import { parseSetting, SETTINGS, type Setting, type SettingName, type SettingValues } from './config.ts';

/** The flag and the variable for the path of the settings file. The settings file cannot contain its own path. */
export const SETTINGS_FILE = {
  flag: '--config <file>',
  env: 'ZOMMA_CONFIG',
  help: 'TOML file of settings. `zomma config example` prints one with every setting',
} as const;

/** The text of a setting and its origin. */
export interface WrittenSetting {
  readonly text: string;
  /** The place of the text, for example `ZOMMA_PORT` or `port in /etc/zomma/zomma.toml`. */
  readonly origin: string;
}

/** The settings in a file, by name. */
export type WrittenSettings = Readonly<Partial<Record<SettingName, WrittenSetting>>>;

/** The settings from the environment and from the settings file. */
export interface SettingSources {
  /** Returns the text of a setting from the environment or else from the file, or undefined if it gets its default. */
  find(name: SettingName): WrittenSetting | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = Object.keys(SETTINGS) as SettingName[];

/** Variables for tests and builds. The service does not warn about variables for tests and builds. */
const OTHER_VARIABLES = /^ZOMMA_(?:BUILD_COMMIT|RECORDED_CHAINS|FAULT_\w+|TERMINAL_FULL|UPDATE_STORED)$/;

const isCredential = (name: SettingName) => (SETTINGS[name] as Setting).flag === undefined;

/** Returns the key of a setting in the settings file: the flag without dashes, or for the file of a credential, one with `-file`. */
export function settingKey(name: SettingName): string {
  const key = SETTINGS[name].env.slice('ZOMMA_'.length).toLowerCase().replaceAll('_', '-');
  return isCredential(name) ? `${key}-file` : key;
}

/**
 * Returns the settings of the environment and of the settings file, whose contents are `inFile`. An empty variable counts as absent. `find`
 * also reads a credential from the file that `<VARIABLE>_FILE` or the settings file names, and throws `SettingError` if it cannot.
 */
export function settingSources(env: Environment, inFile: WrittenSettings): SettingSources {
  const variable = (name: string): WrittenSetting | undefined => {
    const text = env[name];
    return text ? { text, origin: name } : undefined;
  };
  return {
    find(name) {
      const { env: own } = SETTINGS[name];
      if (!isCredential(name)) return variable(own) ?? inFile[name];
      const [direct, file] = [variable(own), variable(`${own}_FILE`)];
      if (direct && file) {
        throw new SettingError(`${own} and ${own}_FILE are both set`, 'Set one of them.');
      }
      const from = file ?? inFile[name];
      return direct ?? (from && credentialOf(from));
    },
  };
}

/**
 * Returns the variables that begin with `ZOMMA_` but belong to no setting. Each unknown variable is returned with the most similar known
 * name. An unknown variable is probably a typing error. An empty variable counts as absent.
 */
export function unknownVariables(env: Environment) {
  const known = [SETTINGS_FILE.env, ...NAMES.flatMap(variablesOf)];
  return Object.entries(env)
    .filter(([name, text]) => name.startsWith('ZOMMA_') && text && !known.includes(name) && !OTHER_VARIABLES.test(name))
    .map(([name]) => ({ name, nearest: nearestNames(name, known)[0]! }));
}

/** Converts the text of a setting to its value. If the text is invalid, throws a `SettingError` that names its origin. */
export function parseWritten<Name extends SettingName>(
  name: Name,
  { text, origin }: WrittenSetting,
): SettingValues[Name] {
  try {
    return parseSetting(name, text);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    const { flag, env }: Setting = SETTINGS[name];
    const own = flag?.split(' ')[0] ?? env;
    // Many messages begin with the name of the setting. The origin takes its place.
    const message = error.message.startsWith(`${own} `)
      ? `${origin}${error.message.slice(own.length)}`
      : `${origin}: ${error.message}`;
    throw new SettingError(message, error.hint, { cause: error });
  }
}

function variablesOf(name: SettingName): string[] {
  const { env } = SETTINGS[name];
  return isCredential(name) ? [env, `${env}_FILE`] : [env];
}

/** Reads a credential from its file. The file has a single line. */
function credentialOf({ text: path, origin }: WrittenSetting): WrittenSetting {
  const text = readNamedFile(path, origin, 'credential').trim();
  if (text === '') throw new SettingError(`${origin}: the file ${path} is empty`, 'Write the credential into it.');
  return { text, origin: `${path} (${origin})` };
}

/** The mode bits that a file must not have. Its group may read a credential, so that an administrator can own the file of a service. */
const FORBIDDEN = {
  settings: { bits: 0o022, may: 'write to', hint: 'chmod go-w' },
  credential: { bits: 0o037, may: 'use', hint: 'chmod 600' },
} as const;

/**
 * Reads a file that a setting names, at `origin`. Throws `SettingError` if it cannot be read, or if other users may write to settings or
 * use a credential. The folder of credentials that systemd protects itself is not checked.
 */
export function readNamedFile(path: string, origin: string, content: keyof typeof FORBIDDEN): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const stat = fstatSync(file);
    const { bits, may, hint } = FORBIDDEN[content];
    if (stat.isFile() && HAS_MODES && (stat.mode & bits) !== 0 && !isOfSystemd(path)) {
      throw new SettingError(`${origin}: other users of this machine may ${may} ${path}`, `Run \`${hint} ${path}\`.`);
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof SettingError) throw error;
    throw new SettingError(
      `${origin}: cannot read ${path}: ${(error as Error).message}`,
      'Check the path, and whether the user who runs zomma may read the file.',
      { cause: error },
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Whether the system gives files mode bits. Windows has access lists instead, and reports every file as accessible to all users. */
const HAS_MODES = process.platform !== 'win32';

function isOfSystemd(path: string): boolean {
  const folders = ['/run/credentials', process.env.CREDENTIALS_DIRECTORY].filter((each) => each !== undefined);
  return folders.some((folder) => resolve(path).startsWith(`${resolve(folder)}/`));
}
