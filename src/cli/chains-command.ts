import { shownJson, shownName } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { canonicalTicker, isTicker } from '../market/option-symbol.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma chains`, which lists the stored snapshots and removes snapshots that were stored by mistake. */
export function addChains(program: CliCommand): void {
  const chains = program.command('chains').description('List and remove stored option chains.');

  chains
    .command('list')
    .description('List the stored snapshots of option chains.')
    .settings(DATA_PLACE)
    .option('--ticker <ticker>', 'list only this underlying')
    .json()
    .examples('zomma chains list', 'zomma chains list --ticker SPY --json')
    .action(async (options) => {
      const { withStore } = await import('../server/stored-data.ts');
      const ticker = options.ticker === undefined ? undefined : canonicalTicker(options.ticker);
      const rows = await withStore(options, 'read', (store) =>
        store
          .snapshots(ticker)
          .filter(({ underlying }) => isTicker(underlying))
          .map(({ underlying, asOf, source, simulated }) => ({
            ticker: underlying,
            as_of: new Date(asOf).toISOString(),
            source: shownName(source),
            simulated,
          })),
      );
      const lines = rows.map((row) => `${row.ticker.padEnd(6)} ${row.as_of}  ${row.source}`);
      print(options.json ? shownJson({ chains: rows }) : lines.join('\n') || 'No chains yet.');
    });

  chains
    .command('forget')
    .description(
      'Remove stored snapshots of option chains and their levels permanently. A running server stops using the snapshots at once.',
    )
    .settings(DATA_PLACE)
    .requiredOption('--ticker <ticker>', 'underlying of the snapshots (required)')
    .option(
      '--as-of <time>',
      'remove only the snapshot of this moment, ISO 8601 as in `chains list`. Without this option, all snapshots of the ticker are removed',
    )
    .examples('zomma chains forget --ticker XLF --as-of 2026-08-21T20:00:00.000Z')
    .action(async (options) => {
      const { withStore } = await import('../server/stored-data.ts');
      const asOf = options.asOf === undefined ? undefined : Date.parse(options.asOf);
      if (Number.isNaN(asOf))
        throw new OperatorError('--as-of is not a time', 'Use ISO 8601, as in the output of `zomma chains list`.');
      const count = await withStore(options, 'write', (store) =>
        store.write((tx) => tx.forgetSnapshots(canonicalTicker(options.ticker), asOf)),
      );
      if (count === 0)
        throw new OperatorError('there is no such snapshot', 'List the stored snapshots with `zomma chains list`.');
      print(`snapshots removed: ${count}`);
    });
}
