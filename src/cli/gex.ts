import { existsSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { exposuresByStrike } from '../analytics/exposures-by-strike.ts';
import { FLOW_WINDOW_DAYS, largePrints, opinionPremium } from '../analytics/flow.ts';
import { type AnalysisOptions, DEFAULT_OPTIONS, type ExpirySelection, parseExpiries } from '../analytics/options.ts';
import { OperatorError } from '../errors.ts';
import type { Chain } from '../market/chain.ts';
import { canonicalTicker } from '../market/option-symbol.ts';
import { writeOut } from './csv/streams.ts';
import { analyseGex, type GexAnalysis, profileAround } from './gex-analysis.ts';
import { profileCsv, strikesCsv } from './gex-csv.ts';
import { gexPicture } from './gex-picture.ts';
import { gexPlot } from './plot/gex-plot.ts';
import { terminalOf } from './plot/terminal.ts';
import type { Ports } from './ports.ts';
import { DATA_SETTINGS, withSettings } from './settings.ts';

/** Lines of the plot. */
const PLOT_LINES = { least: 23, most: 50 };

type CsvTable = 'strikes' | 'profile';

/** `zomma gex`: levels of a file or a stored ticker, under options that reproduce other tools' figures. */
export function addGex(program: Command, ports: Ports): void {
  withSettings(
    program
      .command('gex')
      .description('Gamma-exposure levels of a chain file, or of a ticker of the stored market.')
      .argument('<file|ticker>', 'a chain file of any known format, or a ticker')
      .option('--ticker <ticker>', 'which underlying of a file that holds several')
      .addOption(
        choice(
          '--forward <how>',
          'forward price: parity of the quotes, or spot carried flat',
          ['parity', 'flat'],
          'parity',
        ),
      )
      .addOption(
        new Option('--rate <r>', 'rate where the quotes imply none, decimal per year').default(
          String(DEFAULT_OPTIONS.rate),
        ),
      )
      .addOption(new Option('--dividend <q>', 'dividend yield with a flat forward, decimal per year').default('0'))
      .addOption(choice('--gamma <which>', 'gamma for net GEX and walls', ['recomputed', 'feed'], 'recomputed'))
      .addOption(
        choice(
          '--iv <which>',
          "out-of-the-money side's tested IV, or each contract's own as given",
          ['otm', 'own'],
          'otm',
        ),
      )
      .addOption(choice('--weight <by>', 'what a contract counts by', ['open_interest', 'volume'], 'open_interest'))
      .addOption(new Option('--expiries <which>', 'all, 0dte, YYYY-MM-DD, or next:N (days)').default('all'))
      .option('--json', 'print one JSON object')
      .addOption(
        new Option('--csv [table]', 'print one CSV table: strikes (GEX by strike), or profile (net GEX over spot)')
          .argParser(csvTable)
          .preset('strikes'),
      )
      .option('--plot', 'draw strikes and profile where stdout is no terminal, too')
      .option('--no-plot', 'draw nothing'),
    DATA_SETTINGS,
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
  $ zomma gex SPY --expiries 0dte --data-dir /var/lib/zomma
`,
    )
    .action(async (target: string, flags) => {
      const options = analysisOptions(flags);
      const forms = (['json', 'csv', 'plot'] as const).filter((form) => flags[form]);
      if (forms.length > 1) {
        throw new OperatorError(`${forms.map((form) => `--${form}`).join(' and ')} exclude each other`, 'choose one');
      }
      // No ticker has a path or an extension: it was meant as a file.
      if (!existsSync(target) && /[/\\]|\.\w{2,}$/.test(target)) {
        throw new OperatorError(`there is no file ${target}`, 'name a chain file, or a ticker');
      }
      const analysis = existsSync(target)
        ? analyseGex(chainOf(target, await ports.readFile(target), flags.ticker), new Map(), options)
        : await ports.withMarket(flags, ({ market, largePrintMinUsd }) => {
            const chain = market.chain(target);
            return analyseGex(
              chain,
              opinionPremium(largePrints(market.recentPrints(chain, FLOW_WINDOW_DAYS), largePrintMinUsd)),
              options,
            );
          });
      // The tables have no place to say it.
      if (flags.csv && analysis.report.simulated) process.stderr.write('zomma: these figures are SIMULATED\n');
      await writeOut(Buffer.from(rendered(analysis, flags)));
    });
}

interface Flags {
  readonly json?: true;
  readonly csv?: CsvTable;
  /** Undefined: where stdout is a terminal. */
  readonly plot?: boolean;
}

function rendered(analysis: GexAnalysis, { json, csv, plot }: Flags): string {
  const { prepared, report } = analysis;
  if (json) return `${JSON.stringify(report)}\n`;
  if (csv === 'profile') return profileCsv(profileAround(prepared));
  if (csv === 'strikes') return strikesCsv(exposuresByStrike(prepared), prepared.options.weight);
  const levels = table(report);
  if (!(plot ?? process.stdout.isTTY)) return levels;
  const { width, height, style } = terminalOf(process.stdout, process.env);
  // As high as the screen leaves beside the levels, but legible on a low one too.
  const room = height - levels.split('\n').length - 1;
  const lines = Math.min(PLOT_LINES.most, Math.max(PLOT_LINES.least, room));
  return `${levels}\n${gexPlot(gexPicture(analysis), width, lines, style).join('\n')}\n`;
}

/** The newest chain of a file, of one underlying where it holds several. */
function chainOf(path: string, deliveries: Awaited<ReturnType<Ports['readFile']>>, ticker: string | undefined): Chain {
  const chains = deliveries.flatMap((each) => (each.kind === 'chain' ? [each.chain] : []));
  const refusal = deliveries.find((each) => each.kind === 'refusal');
  const named =
    ticker === undefined ? chains : chains.filter(({ underlying }) => underlying === canonicalTicker(ticker));
  const underlyings = [...new Set(named.map(({ underlying }) => underlying))];
  if (underlyings.length > 1) {
    throw new OperatorError(`${path} holds several underlyings`, `choose one with --ticker: ${underlyings.join(', ')}`);
  }
  const newest = named.toSorted((a, b) => b.asOf - a.asOf)[0];
  if (newest) return newest;
  throw new OperatorError(
    refusal?.kind === 'refusal' ? `${path}: ${refusal.reason}` : `${path} holds no option chain`,
    'known formats: normalised chain CSV, delayed-quote JSON, quote-table CSV',
  );
}

function analysisOptions(flags: Record<string, string>): AnalysisOptions {
  return {
    forward: flags.forward as AnalysisOptions['forward'],
    rate: decimal(flags.rate!, '--rate'),
    dividend: decimal(flags.dividend!, '--dividend'),
    gamma: flags.gamma as AnalysisOptions['gamma'],
    iv: flags.iv as AnalysisOptions['iv'],
    weight: flags.weight as AnalysisOptions['weight'],
    expiries: expirySelection(flags.expiries!),
  };
}

function expirySelection(text: string): ExpirySelection {
  const selection = parseExpiries(text);
  if (selection) return selection;
  throw new OperatorError(
    `--expiries ${text} is not understood`,
    'use all, 0dte, a date YYYY-MM-DD, or next:N for N days',
  );
}

function decimal(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Math.abs(value) <= 1) return value;
  throw new OperatorError(
    `${flag} ${text} is not a rate`,
    `use a decimal per year from -1 to 1: ${flag} 0.04 means 4 %`,
  );
}

function csvTable(text: string): CsvTable {
  if (text === 'strikes' || text === 'profile') return text;
  throw new InvalidArgumentError('The tables are strikes and profile; the file stands before --csv.');
}

function choice(flag: string, help: string, choices: readonly string[], byDefault: string): Option {
  return new Option(flag, help).choices(choices).default(byDefault);
}

function table(report: GexAnalysis['report']): string {
  const price = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
  const used = report.contracts;
  const rows: [string, string][] = [
    ['spot', price(report.spot_price)],
    ['call wall', price(report.call_wall)],
    ['gamma flip', `${price(report.gex_flip)}${report.flip_resolved ? '' : '  (unresolved: nearest to zero)'}`],
    ['put wall', price(report.put_wall)],
    ['max pain', `${price(report.max_pain)}  (${report.expiry}, by ${report.expiry_chosen_by.replace('_', ' ')})`],
    ['net GEX', `${price(report.net_gex_mil)} million per 1 %  (${report.regime.replace('_', ' ')})`],
    ['gross GEX', `${price(report.gross_gex_mil)} million per 1 %`],
    [
      'contracts',
      `${used.used} used of ${used.contracts}; IV ${used.iv.taken} taken, ${used.iv.solved} solved, ${used.iv.interpolated + used.iv.extended} interpolated`,
    ],
  ];
  const head = `${report.ticker}  ${report.as_of}  ${report.source}${report.simulated ? '  SIMULATED' : ''}`;
  return `${head}\n${rows.map(([name, value]) => `  ${name.padEnd(11)} ${value}`).join('\n')}\n`;
}
