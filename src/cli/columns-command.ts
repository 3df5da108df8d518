import type { CliCommand } from './cli-command.ts';
import { ROW_MESSAGES_MAX } from './csv/csv-run.ts';
import type { RowKernel } from './csv/row-kernel.ts';
import { greeksKernel, impliedVolatilityKernel, mertonKernel } from './csv/row-kernels.ts';
import { streamCsv } from './csv/stream-csv.ts';

/** Adds `zomma greeks`, `zomma iv` and `zomma merton`, which run a kernel over the rows of a CSV of any length. */
export function addColumns(program: CliCommand): void {
  csvCommand(
    program,
    'greeks',
    'Compute the price and the Greeks (Black-Scholes-Merton) of each row of a CSV.',
    greeksKernel('market'),
  )
    .choice(
      '--units <units>',
      'market: vega and vanna per vol point (0.01), volga per vol point squared, theta and charm per calendar day, rho per 1 % of rate; raw: per 1.00 of spot, volatility or rate, and per year of time. Price, delta and gamma are the same in both',
      ['market', 'raw'],
      'market',
    )
    .examples('zomma greeks options.csv > greeks.csv', 'gunzip -c options.csv.gz | zomma greeks --units raw')
    .action((file, { units }) => streamCsv(greeksKernel(units), file));
  csvCommand(
    program,
    'iv',
    'Compute the implied volatility (Black-Scholes-Merton) of each row of a CSV, decimal per year. The volatility is 0 if the price is at or below the discounted intrinsic value.',
    impliedVolatilityKernel,
  )
    .examples('zomma iv quotes.csv > volatilities.csv', 'zomma iv < quotes.csv | zomma greeks')
    .action((file) => streamCsv(impliedVolatilityKernel, file));
  csvCommand(
    program,
    'merton',
    'Compute for each row of a CSV the probability (0 to 1) that the underlying ends at or above the strike, and the prices of call and put (Merton jump diffusion).',
    mertonKernel,
  )
    .examples('zomma merton jumps.csv > probabilities.csv', 'head -1000 jumps.csv | zomma merton')
    .action((file) => streamCsv(mertonKernel, file));
}

function csvCommand(
  program: CliCommand,
  name: string,
  description: string,
  { inputs, outputs, unanswered }: RowKernel,
): CliCommand {
  const columns = Object.entries(inputs).map(([column, { default: value }]) =>
    value === undefined ? column : `${column} (default ${value})`,
  );
  return program
    .command(name)
    .description(description)
    .argument('[file]', 'CSV file with the column names in the first line (default: stdin)')
    .addHelpText(
      'after',
      `
Input columns:   ${columns.join(', ')}
Output columns:  ${outputs.join(', ')}, with all digits of a double
Input units:     ${unitsOf(Object.keys(inputs))}
Other columns pass through unchanged. If an input column has the name of an output column, the output replaces it.
A row cannot be computed if a cell is invalid, or if
${unanswered}.
Such a row does not stop the run, but its outputs are empty. At the end, stderr has the number of such rows and the
errors of the first ${ROW_MESSAGES_MAX}, and the exit code is 1.`,
    );
}

const UNITS: Readonly<Record<string, string>> = {
  put_call: 'C or P',
  price: 'dollars',
  spot: 'dollars',
  strike: 'dollars',
  tte: 'years',
  iv: 'decimal per year',
  rate: 'decimal per year',
  dividend: 'decimal per year',
  jump_intensity: 'jumps per year',
  jump_mean: 'mean log-return of one jump',
  jump_vol: 'standard deviation of the log-return of one jump',
};

function unitsOf(inputs: readonly string[]): string {
  const byUnit = Map.groupBy(inputs, (column) => UNITS[column]!);
  return [...byUnit].map(([unit, names]) => `${names.join(', ')}: ${unit}`).join('; ');
}
