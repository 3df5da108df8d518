import { shownJson } from '../core/clean-text.ts';
import { ClientError, OperatorError } from '../core/errors.ts';
import { runToCompletion } from '../core/steps.ts';
import type { Operation } from '../operations/engine/operation.ts';
import { extendedView, perform, plainToolView, restView, type View } from '../operations/engine/perform.ts';
import { findOperation, OPERATIONS, TOOLS } from '../operations/registry.ts';
import { pngOf } from '../picture/render-png.ts';
import { settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { writeOut } from './csv/streams.ts';

/** Adds `zomma call`, which calls any operation of the registry on the stored market data. */
export function addCall(program: CliCommand): void {
  program
    .command('call')
    .description(
      'Call an operation on the market data in the data folder, and print its answer as JSON. A tool gives the same figures as over MCP, without provenance and with all digits. Any other operation gives the same answer as its REST route.',
    )
    .argument('<operation>', 'name of the operation')
    .argument('<json>', 'arguments of the operation, as a JSON object')
    .option('--extended', 'print every field of the answer and its provenance, not only the default fields')
    .settings(settingsIn('data'))
    .addHelpText(
      'after',
      `
Tools:
${listOf(TOOLS)}

Other operations:
${listOf(OPERATIONS.filter(({ tool }) => !tool))}`,
    )
    .examples(
      `zomma call calculate_kelly_sizing '{"win_prob":0.55,"payout_ratio":2}'`,
      `zomma call get_live_gex_nodes '{"ticker":"SPY"}' --extended --data-dir /var/lib/zomma`,
      `zomma call get_gex_by_strike '{"ticker":"SPY","expiries":"next:30"}'`,
      `zomma call get_hedging_profile '{"ticker":"SPY","format":"image"}' > spy.png`,
    )
    .action(async (name: string, json: string, options) => {
      const { withMarket } = await import('../server/stored-data.ts');
      const operation = findOperation(name);
      if (!operation)
        throw new OperatorError(
          `Tool '${name}' is not registered`,
          `Use one of: ${OPERATIONS.map((each) => each.name).join(', ')}.`,
        );
      const view = options.extended ? extendedView(operation) : defaultView(operation);
      const args = parse(json);
      const { body, picture } = withMarket(options, (context) =>
        runToCompletion(perform(view, args, context, 'invalid_body')),
      );
      if (picture && process.stdout.isTTY)
        throw new OperatorError('A picture cannot be shown on a terminal', 'Redirect it to a file: > picture.png');
      await writeOut(Buffer.from(picture ? await pngOf(picture) : `${shownJson(body, 2)}\n`));
    });
}

function defaultView(operation: Operation): View {
  return operation.tool ? plainToolView(operation) : restView(operation);
}

function listOf(operations: readonly Operation[]): string {
  return operations.map(({ name, title }) => `  ${name.padEnd(30)} ${title}`).join('\n');
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
