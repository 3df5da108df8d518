import { OperatorError, SettingError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { SETTINGS } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';

interface RemoteOptions {
  readonly url?: string;
  readonly key?: string;
  readonly insecureHttp?: boolean;
}

/** Adds the flags that name a running server and its API key. */
export function withRemoteServer(command: CliCommand, urlHelp: string): CliCommand {
  return command
    .option('--url <url>', `${urlHelp}, e.g. http://127.0.0.1:8080; needs an API key`)
    .option(
      '--key <key>',
      `API key for the server. Prefer the environment variable ${SETTINGS.key.env}, because every user of the machine can see a command line`,
    )
    .option(
      '--insecure-http',
      'with --url: send the API key unencrypted to a server on another machine, for example within an encrypted tunnel',
    );
}

/**
 * Returns the address and the key of the server that the flags name. Returns `undefined` without --url. Throws `OperatorError` for an address
 * that the key must not be sent to and for a key without an address, and `SettingError` if the key is missing.
 */
export function remoteServerOf(
  { url, key, insecureHttp = false }: RemoteOptions,
  command: CliCommand,
): { url: URL; key: string } | undefined {
  if (url !== undefined) return { url: urlOf(url, insecureHttp), key: keyOf(key) };
  if (command.getOptionValueSource('key') === 'cli')
    throw new OperatorError('--key needs --url', 'Name the server with --url.');
  return undefined;
}

function urlOf(text: string, insecureHttp: boolean): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new OperatorError(`"${text}" is not the address of a server`, 'Use e.g. --url http://127.0.0.1:8080.');
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.protocol === 'https:' || insecureHttp || isLoopback(host)) return url;
  throw new OperatorError(
    `the API key would cross the network in the clear, because ${url.origin} is plain HTTP and not this machine`,
    'Use https. If the network in between is encrypted, for example a VPN, add --insecure-http.',
  );
}

function keyOf(given: string | undefined): string {
  const key = given?.trim();
  if (key) return key;
  throw new SettingError(
    '--url needs an API key',
    `Set ${SETTINGS.key.env} or ${SETTINGS.key.env}_FILE, or use --key.`,
  );
}
