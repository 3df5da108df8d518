import { shownJson } from '../core/clean-text.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { formatCount } from './text-format.ts';

/** Adds `zomma compact`, which removes data that is older than its retention, and makes the database smaller. */
export function addCompact(program: CliCommand): void {
  program
    .command('compact')
    .description(
      'Remove the data that is past its retention at once, and write the database anew without the space of removed data. No server may run on the data folder, and the disk needs room for a second copy of the database. With a Postgres database as --store, remove the data for all servers, also while they run, and make the copy of this machine smaller.',
    )
    .json()
    .settings([...DATA_PLACE, 'keepChains', 'keepIntraday', 'keepPrints', 'keepLevels'])
    .examples(
      'zomma compact --data-dir /var/lib/zomma',
      'zomma compact --config /etc/zomma/zomma.toml --keep-chains 90 --keep-intraday 10',
    )
    .action(async ({ json, keepChains, keepIntraday, keepPrints, keepLevels, ...place }) => {
      const { compactData } = await import('../server/maintain-data.ts');
      const kept = { chains: keepChains, intraday: keepIntraday, prints: keepPrints, levels: keepLevels };
      process.stderr.write('compacting the database: this may take minutes\n');
      const { removed, before, after } = await compactData(place, kept);
      const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
      const counts = `${formatCount(removed.chains)} snapshots, ${formatCount(removed.prints)} prints, ${formatCount(removed.levels)} levels`;
      print(
        json
          ? shownJson({ removed, bytes_before: before, bytes_after: after })
          : `removed: ${counts}\ndatabase: ${mb(before)} before, ${mb(after)} after`,
      );
    });
}
