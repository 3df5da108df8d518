import type { Ports } from '../server/cli-ports.ts';
import { SETTINGS, type Setting, settingsIn } from '../settings/config.ts';
import { type CliCommand, requireAlone } from './cli-command.ts';
import { serverSettings } from './raw-settings.ts';

/** The environment variables of the providers' credentials, each with its feed. */
const CREDENTIALS = Object.values<Setting>(SETTINGS)
  .filter(({ provider }) => provider !== undefined)
  .map(({ env, provider }) => `${env} for --feed ${provider}`);

const CREDENTIALS_HELP = `Credentials have no flag, because every user of the machine can see a command line. They come from the environment,
or from a file that the variable with _FILE at its end names:
  ${[...CREDENTIALS, `${SETTINGS.myKeyToken.env} for /api/v1/auth/my-key`, `${SETTINGS.storePassword.env} for --store`].join(', ')}
The file that PGPASSFILE names can have the password for --store, too.`;

/** Adds `zomma serve`, which runs the service, and `zomma start`, which runs the same service with a demo member. */
export function addServe(program: CliCommand, ports: Ports): void {
  const add = (name: string, description: string, help: string, demo: boolean) =>
    program
      .command(name)
      .description(description)
      .rawSettings(settingsIn('server', 'feeds', 'mcp', 'log', 'data'), { shown: true })
      .addHelpText('after', `\n${help}${CREDENTIALS_HELP}`)
      .action(async (_, command) => {
        const settings = await serverSettings(command, ports);
        if (demo) requireAlone('zomma start', settings.store, 'Serve the database with `zomma serve`.');
        await ports.serve(settings, { demo });
      });
  const listening =
    'As soon as the server accepts requests, it writes this line to stdout: listening on http://HOST:PORT (https with --tls-cert)\n\n';
  add('serve', 'Serve REST and MCP from market-data feeds.', listening, false).examples(
    'zomma serve --feed files:/srv/chains --data-dir /var/lib/zomma',
    'zomma serve --feed files:./chains --port 0 --rate-limit off',
    'zomma serve --host 0.0.0.0 --port 443 --tls-cert cert.pem --tls-key key.pem',
    'zomma serve --config /etc/zomma/zomma.toml',
  );
  add(
    'start',
    "Serve REST and MCP like `zomma serve`, with a demo member. Prints an address that opens the web terminal signed in, the demo member's API key and a first request to try.",
    '',
    true,
  ).examples('zomma start', 'zomma start --port 9000 --seed 7');
}
