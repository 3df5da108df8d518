import { Argument, type Command } from 'commander';
import { shownJson } from '../clean-text.ts';
import { settingsIn } from '../config.ts';
import { ClientError, OperatorError } from '../errors.ts';
import { extendedView, perform, toolView } from '../operations/perform.ts';
import { findTool, TOOLS } from '../operations/registry.ts';
import type { Ports } from './ports.ts';
import { withSettings } from './settings.ts';

/** Adds `zomma call`, which calls any tool of the registry on the stored market data. */
export function addCall(program: Command, ports: Ports): void {
  withSettings(
    program
      .command('call')
      .description('Call a tool on the market data in the data folder, and print its answer as JSON.')
      .addArgument(new Argument('<tool>', 'name of the tool'))
      .addArgument(new Argument('<json>', 'arguments of the tool, as a JSON object'))
      .option('--extended', 'print every field of the answer, not only the default fields'),
    settingsIn('data'),
  )
    .addHelpText(
      'after',
      `
Tools:
${TOOLS.map(({ name, title }) => `  ${name.padEnd(30)} ${title}`).join('\n')}

Examples:
  $ zomma call calculate_kelly_sizing '{"win_prob":0.55,"payout_ratio":2}'
  $ zomma call get_live_gex_nodes '{"ticker":"SPY"}' --extended --data-dir /var/lib/zomma
`,
    )
    .action(async (name: string, json: string, options) => {
      const tool = findTool(name);
      if (!tool)
        throw new OperatorError(
          `Tool '${name}' is not registered`,
          `Use one of: ${TOOLS.map((each) => each.name).join(', ')}.`,
        );
      const view = options.extended ? extendedView(tool) : toolView(tool);
      const args = parse(json);
      const { body } = await ports.withMarket(options, (context) => perform(view, args, context, 'invalid_body'));
      process.stdout.write(`${shownJson(body, 2)}\n`);
    });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new ClientError('invalid_body', 'The arguments are not JSON', {
      hint: `Quote the arguments for the shell, e.g. '{"ticker":"SPY"}'.`,
    });
  }
}
