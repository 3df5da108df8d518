import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma upgrade`, which upgrades the database of a data folder, or restores the database from before the last upgrade. */
export function addUpgrade(program: CliCommand): void {
  program
    .command('upgrade')
    .description(
      'Upgrade the database to the schema of this program, in one transaction and after a copy was made. The server does the same when it starts. No server may run on the data folder.',
    )
    .settings(['dataDir', 'store'])
    .aloneOnly('A server upgrades the database when it starts, and nothing takes the upgrade back.')
    .option('--back', 'put the copy from before the last upgrade in the place of the database, for the earlier program')
    .examples('zomma upgrade --data-dir /var/lib/zomma', 'zomma upgrade --back --data-dir /var/lib/zomma')
    .action(async (options) => {
      const { undoDataUpgrade, upgradeData } = await import('../server/maintain-data.ts');
      if (options.back) {
        const { schema, kept } = undoDataUpgrade(options.dataDir);
        print(`the database has schema ${schema} again. The one that it replaced is ${kept}`);
        return;
      }
      const { from, to, copy } = upgradeData(options.dataDir);
      print(
        from === to
          ? `the database has schema ${to} already`
          : `the database has schema ${to}, before ${from}. The copy from before is ${copy}`,
      );
    });
}
