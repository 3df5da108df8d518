import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  type ChainReadOptions,
  DEFAULT_OPTIONS,
  DEFAULT_SIGN,
  type ExpirySelection,
  parseExpiries,
} from '../analytics/chain/options.ts';
import { exposuresByStrike } from '../analytics/exposure/exposures-by-strike.ts';
import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { runToCompletion } from '../core/steps.ts';
import { settingsIn } from '../settings/config.ts';
import { writeOut } from './csv/streams.ts';
import { analyseGex, type ChainPrints, type GexAnalysis, profileAround } from './gex-analysis.ts';
import { profileCsv, strikesCsv } from './gex-csv.ts';
import { chainOf, readPrintsFile } from './gex-files.ts';
import { gexPicture } from './gex-picture.ts';
import { gexTable } from './gex-table.ts';
import { gexPlot } from './plot/gex-plot.ts';
import { terminalOf } from './plot/terminal.ts';
import type { Ports } from './ports.ts';
import { withSettings } from './settings.ts';

/** Minimum and maximum height of the plot, in lines. */
const PLOT_LINES = { least: 23, most: 50 };

type CsvTable = 'strikes' | 'profile';

/**
 * Adds `zomma gex`, which computes the levels of a chain file or of a stored ticker. With its options, the command can reproduce the
 * figures of other programs that compute GEX.
 */
export function addGex(program: Command, ports: Ports): void {
  withSettings(
    program
      .command('gex')
      .description('Compute the gamma-exposure (GEX) levels of a chain file, or of a ticker in the data folder.')
      .argument('<file|ticker>', 'chain file of any known format, or ticker')
      .option('--ticker <ticker>', 'underlying to use if the file has chains of several underlyings')
      .addOption(
        choice(
          '--forward <how>',
          'forward price: from put-call parity of the quotes, or from spot with a flat rate and dividend',
          ['parity', 'flat'],
          'parity',
        ),
      )
      .addOption(
        new Option(
          '--rate <r>',
          'interest rate, decimal per year, from -1 to 1; used with --forward flat, and for series whose quotes imply no rate',
        ).default(String(DEFAULT_OPTIONS.rate)),
      )
      .addOption(
        new Option(
          '--dividend <q>',
          'dividend yield, decimal per year, from -1 to 1; used with --forward flat, and for series whose quotes imply no forward',
        ).default('0'),
      )
      .addOption(
        choice(
          '--gamma <which>',
          'gamma for net GEX and walls: recomputed from the volatility, or the gamma that the feed gives',
          ['recomputed', 'feed'],
          'recomputed',
        ),
      )
      .addOption(
        choice(
          '--iv <which>',
          'otm: call and put of a strike share the volatility that the mid of the out-of-the-money quote implies; feed: call and put ' +
            "share the feed's volatility of the out-of-the-money option, if the option price at this volatility is between bid and ask or " +
            'at most one tick outside, or if bid or ask is missing; without such a volatility, feed is the same as otm; own: each contract has its own volatility from the feed',
          ['otm', 'feed', 'own'],
          'otm',
        ),
      )
      .addOption(
        choice(
          '--weight <by>',
          'weight of a contract: its open interest, or its volume of the day',
          ['open_interest', 'volume'],
          'open_interest',
        ),
      )
      .addOption(
        choice(
          '--sign <how>',
          "dealers' positions: long calls and short puts, or the opposite of what customers bought and sold according to the prints",
          ['calls_long_puts_short', 'flow'],
          DEFAULT_SIGN,
        ),
      )
      .option(
        '--prints <tape>',
        "CSV or Parquet file of option trades (prints); allowed only with a chain file. The output then also has the levels that follow from customers' trades",
      )
      .addOption(
        new Option(
          '--expiries <which>',
          'expiries to analyse: all, 0dte (expiries on the New York day of the snapshot), YYYY-MM-DD, or next:N (series that settle within N days of the snapshot)',
        ).default('all'),
      )
      .option('--json', 'print one JSON object')
      .addOption(
        new Option(
          '--csv [table]',
          'print one CSV table: strikes (GEX by strike) or profile (net GEX at other spots). --csv without a value prints strikes',
        ).argParser(csvTable),
      )
      .option('--plot', 'plot strikes and profile even if stdout is not a terminal')
      .option('--no-plot', 'do not plot'),
    settingsIn('data'),
    { hidden: ['contagionMin'] },
  )
    .addHelpText(
      'after',
      `
Examples:
  $ zomma gex SPX.quotedata.csv
  $ zomma gex SPX.quotedata.csv --gamma feed --json
  $ zomma gex SPX.quotedata.csv --csv > strikes.csv
  $ zomma gex SPX.quotedata.csv --csv profile > profile.csv
  $ zomma gex SPX.quotedata.csv --plot | less
  $ zomma gex SPX.quotedata.csv --forward flat --rate 0 --dividend 0 --iv own
  $ zomma gex chain.csv --prints tape.csv --sign flow
  $ zomma gex SPY --expiries 0dte --data-dir /var/lib/zomma
`,
    )
    .action(async (target: string, flags) => {
      const options = analysisOptions(flags);
      const forms = (['json', 'csv', 'plot'] as const).filter((form) => flags[form]);
      if (forms.length > 1) {
        throw new OperatorError(`${forms.map((form) => `--${form}`).join(' and ')} exclude each other`, 'Choose one.');
      }
      if (flags.prints !== undefined && !existsSync(target)) {
        throw new OperatorError(
          '--prints works only with a chain file',
          'For a stored ticker, load the tape with `zomma ingest`.',
        );
      }
      // A ticker has no slash and no extension, so the argument was meant as the path of a file.
      if (!existsSync(target) && /[/\\]|\.\w{2,}$/.test(target)) {
        throw new OperatorError(`there is no file ${target}`, 'Name a chain file or a ticker.');
      }
      const analysis = existsSync(target)
        ? await analyseFile(target, flags, options, ports)
        : await ports.withMarket(flags, ({ market, largePrintMinUsd: least }) => {
            const chain = market.chain(target);
            const large = market.flow(chain, FLOW_WINDOW_DAYS, least);
            const withDividends = { ...options, cashDividends: market.dividends(chain) };
            return analyseGex(chain, { large, tape: market.tape(chain) }, withDividends);
          });
      // The CSV tables have no column that says that the data is simulated.
      if (flags.csv && analysis.report.simulated) process.stderr.write('zomma: these figures are SIMULATED\n');
      await writeOut(Buffer.from(rendered(analysis, flags)));
    });
}

interface Flags {
  readonly json?: true;
  /** `true` if the flag has no value. The table is then `strikes`. */
  readonly csv?: CsvTable | true;
  /** If omitted, the plot is drawn if stdout is a terminal. */
  readonly plot?: boolean;
}

function rendered(analysis: GexAnalysis, { json, csv, plot }: Flags): string {
  const { prepared, report } = analysis;
  if (json) return `${shownJson(report)}\n`;
  if (csv === 'profile') return profileCsv(profileAround(prepared));
  if (csv) return strikesCsv(runToCompletion(exposuresByStrike(prepared)), prepared.options.weight);
  const levels = gexTable(report);
  if (!(plot ?? process.stdout.isTTY)) return levels;
  const { width, height, style } = terminalOf(process.stdout, process.env);
  // The plot fills the lines that the levels leave on the screen, within the bounds of `PLOT_LINES`.
  const room = height - levels.split('\n').length - 1;
  const lines = Math.min(PLOT_LINES.most, Math.max(PLOT_LINES.least, room));
  return `${levels}\n${gexPlot(gexPicture(analysis), width, lines, style).join('\n')}\n`;
}

async function analyseFile(
  path: string,
  flags: FileFlags,
  options: ChainReadOptions,
  ports: Ports,
): Promise<GexAnalysis> {
  const chain = await chainOf(path, flags.ticker, ports);
  const prints =
    flags.prints === undefined ? NO_PRINTS : await readPrintsFile(flags.prints, chain, flags.largePrintMin, ports);
  return analyseGex(chain, prints, options);
}

interface FileFlags {
  readonly ticker?: string;
  readonly prints?: string;
  readonly largePrintMin: number;
}

const NO_PRINTS: ChainPrints = { large: [], tape: { count: 0, version: '', prints: [] } };

function analysisOptions(flags: Record<string, string>): ChainReadOptions {
  return {
    forward: flags.forward as ChainReadOptions['forward'],
    rate: decimal(flags.rate!, '--rate'),
    dividend: decimal(flags.dividend!, '--dividend'),
    gamma: flags.gamma as ChainReadOptions['gamma'],
    iv: flags.iv as ChainReadOptions['iv'],
    weight: flags.weight as ChainReadOptions['weight'],
    sign: flags.sign as ChainReadOptions['sign'],
    expiries: expirySelection(flags.expiries!),
    cashDividends: [],
  };
}

function expirySelection(text: string): ExpirySelection {
  const selection = parseExpiries(text);
  if (selection) return selection;
  throw new OperatorError(
    `--expiries ${text} is not a selection of expiries`,
    'Use all, 0dte, a date YYYY-MM-DD, or next:N for N days.',
  );
}

function decimal(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Math.abs(value) <= 1) return value;
  throw new OperatorError(
    `${flag} ${text} is not a rate`,
    `Use a decimal per year from -1 to 1. For example, ${flag} 0.04 means 4 %.`,
  );
}

function csvTable(text: string): CsvTable {
  if (text === 'strikes' || text === 'profile') return text;
  throw new InvalidArgumentError('The tables are strikes and profile. Put the file before --csv.');
}

function choice(flag: string, help: string, choices: readonly string[], byDefault: string): Option {
  return new Option(flag, help).choices(choices).default(byDefault);
}
