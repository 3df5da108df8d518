import { existsSync } from 'node:fs';
import { cleanLine } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import type { Ports } from '../server/cli-ports.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma map`, which helps to write a mapping for the files of a vendor that is not known. */
export function addMap(program: CliCommand, ports: Ports): void {
  program
    .command('map')
    .description('Help to read the files of other vendors.')
    .command('guess')
    .argument('<file>', 'CSV or JSON file with options or trades')
    .description(
      'Print a draft of a mapping (TOML) for a file, and the first three contracts as Zomma reads them. With --map, print only the contracts. Files of vendors that Zomma knows need no mapping.',
    )
    .stated()
    .examples(
      'zomma map guess vendor.csv > vendor.toml',
      'zomma map guess vendor.csv --zone America/New_York > vendor.toml',
      'zomma map guess vendor.csv --map vendor.toml',
      'zomma gex vendor.csv --map vendor.toml',
    )
    .action(async (path: string, flags) => {
      if (!existsSync(path)) throw new OperatorError(`there is no file ${path}`, 'Name a file with options or trades.');
      const { toml, vendor, contracts, refusal } = await ports.guess(path, flags);
      const read = contracts.map((contract) => `#   ${cleanLine(contract)}`);
      const comments = [
        ...(vendor === undefined || flags.map !== undefined
          ? []
          : [`# This is a table of ${vendor}, which Zomma reads without a mapping.`]),
        ...(read.length > 0 ? ['# The first contracts, as Zomma reads them:', ...read] : []),
        ...(refusal === undefined ? [] : [`# Zomma cannot read the file with it yet: ${cleanLine(refusal, 300)}`]),
      ];
      // Who has a mapping has edited the draft.
      print(flags.map === undefined ? `${toml}\n${comments.join('\n')}` : comments.join('\n'));
    });
}
