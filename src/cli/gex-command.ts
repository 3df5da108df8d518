import { existsSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import {
  type ChainReadOptions,
  DEFAULT_OPTIONS,
  DEFAULT_SIGN,
  type ExpirySelection,
  parseExpiries,
  parseSmileDynamics,
  SSR_MAX,
} from '../analytics/chain/options.ts';
import { HORIZONS, type Horizon } from '../analytics/exposure/horizons.ts';
import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { OperatorError } from '../core/errors.ts';
import type { Chain } from '../market/chain.ts';
import type { Ports } from '../server/cli-ports.ts';
import { settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { requireOneForm, writeResult } from './forms.ts';
import {
  analyseGex,
  type ChainPrints,
  type GexAnalysis,
  gexPicture,
  gexTable,
  profileCsv,
  strikesCsv,
} from './gex-analysis.ts';
import { chainOf, readPrintsFile, rejectStated, type StatedTexts } from './gex-files.ts';
import { gexPlot } from './plot/gex-plot.ts';

type CsvTable = 'strikes' | 'profile';

/** Adds `zomma gex`, whose options reproduce the figures of other programs that compute GEX. */
export function addGex(program: CliCommand, ports: Ports): void {
  program
    .command('gex')
    .description('Compute the gamma-exposure (GEX) levels of a chain file, or of a ticker in the data folder.')
    .argument('<file|ticker>', 'chain file of any known format, or ticker')
    .option('--ticker <ticker>', 'underlying to use if the file has chains of several underlyings')
    .choice(
      '--forward <how>',
      'forward price: from put-call parity of the quotes, or from spot with a flat rate and dividend',
      ['parity', 'flat'],
      'parity',
    )
    .option(
      '--rate <r>',
      'interest rate, decimal per year, from -1 to 1; used with --forward flat, and for series whose quotes imply no rate',
      String(DEFAULT_OPTIONS.rate),
    )
    .option(
      '--dividend <q>',
      'dividend yield, decimal per year, from -1 to 1; used with --forward flat, and for series whose quotes imply no forward',
      '0',
    )
    .choice(
      '--gamma <which>',
      'gamma for net GEX and walls: recomputed from the volatility, or the gamma that the feed gives',
      ['recomputed', 'feed'],
      'recomputed',
    )
    .choice(
      '--iv <which>',
      'otm: call and put of a strike share the volatility that the mid of the out-of-the-money quote implies; feed: call and put ' +
        "share the feed's volatility of the out-of-the-money option, if the option price at this volatility is between bid and ask or " +
        'at most one tick outside, or if bid or ask is missing; without such a volatility, feed is the same as otm; own: each contract has its own volatility from the feed',
      ['otm', 'feed', 'own'],
      'otm',
    )
    .choice(
      '--weight <by>',
      'weight of a contract: its open interest, or its volume of the day',
      ['open_interest', 'volume'],
      'open_interest',
    )
    .choice(
      '--sign <how>',
      "dealers' positions: long calls and short puts, short calls and puts, or the opposite of what customers bought and sold according to the prints",
      ['calls_long_puts_short', 'short_both', 'flow'],
      DEFAULT_SIGN,
    )
    .option(
      '--smile-dynamics <how>',
      'volatilities at other spots: sticky_strike, sticky_moneyness, or ssr=R (R from 0 to 2.5; ssr alone: 1.5 for an index, else 1)',
      'sticky_strike',
    )
    .option(
      '--prints <tape>',
      "CSV or Parquet file of option trades (prints); allowed only with a chain file. The output then also has the levels that follow from customers' trades",
    )
    .option(
      '--expiries <which>',
      'expiries to analyse: all, 0dte (expiries on the New York day of the snapshot), session (series that settle by its end), YYYY-MM-DD, or next:N (series that settle within N days of the snapshot)',
      'all',
    )
    .addOption(
      new Option(
        '--horizon <which>',
        'levels that the text and the plot show first: of 35 days, of the session, or of all analysed expiries (default: 35d; with --expiries, all)',
      ).choices(HORIZONS),
    )
    .stated()
    .json()
    .option(
      '--csv [table]',
      'print one CSV table: strikes (GEX by strike) or profile (net GEX at other spots). --csv without a value prints strikes',
      csvTable,
    )
    .option('--plot', 'plot strikes and profile even if stdout is not a terminal')
    .option('--no-plot', 'do not plot')
    .settings(settingsIn('data'), { hidden: ['contagionMin'] })
    .examples(
      'zomma gex SPX.quotedata.csv',
      'zomma gex SPX.quotedata.csv --gamma feed --json',
      'zomma gex SPX.quotedata.csv --csv > strikes.csv',
      'zomma gex SPX.quotedata.csv --csv profile > profile.csv',
      'zomma gex SPX.quotedata.csv --plot | less',
      'zomma gex SPX.quotedata.csv --forward flat --rate 0 --dividend 0 --iv own',
      'zomma gex chain.csv --prints tape.csv --sign flow',
      'zomma gex SPX.quotedata.csv --smile-dynamics ssr=1.5',
      'zomma gex SPY --expiries 0dte --data-dir /var/lib/zomma',
      'zomma gex SPY --horizon session',
      'zomma gex yfinance.csv --as-of 2026-08-21',
      'zomma gex SPX_201804.csv --as-of 2018-04-13',
    )
    .action(async (target: string, flags) => {
      const options = analysisOptions(flags);
      requireOneForm(flags);
      if (flags.prints !== undefined && !existsSync(target)) {
        throw new OperatorError(
          '--prints works only with a chain file',
          'For a stored ticker, load the tape with `zomma ingest`.',
        );
      }
      // A ticker has no slash and no extension, so an argument with a slash or an extension is the path of a missing file.
      if (!existsSync(target) && /[/\\]|\.\w{2,}$/.test(target)) {
        throw new OperatorError(`there is no file ${target}`, 'Name a chain file or a ticker.');
      }
      if (!existsSync(target)) rejectStated(flags);
      const analysis = existsSync(target)
        ? await analyseFile(target, flags, options, ports)
        : (await import('../server/stored-data.ts')).withMarket(flags, ({ market, largePrintMinUsd: least }) => {
            const chain = market.chain(target);
            const large = market.flow(chain, FLOW_WINDOW_DAYS, least);
            const ssr = ssrOf(flags.smileDynamics, chain.underlying);
            const withDividends = { ...options, ssr, cashDividends: market.dividends(chain) };
            return analyseGex(chain, { large, tape: market.tape(chain) }, withDividends);
          });
      const { prepared, report } = analysis;
      const horizon: Horizon = flags.horizon ?? (options.expiries.kind === 'all' ? '35d' : 'all');
      await writeResult(flags, {
        value: report,
        isSimulated: report.simulated,
        csv: () => (flags.csv === 'profile' ? profileCsv(prepared) : strikesCsv(prepared)),
        text: gexTable(analysis, horizon),
        plot: (...size) => gexPlot(gexPicture(analysis, horizon), ...size),
        plotLines: { least: 23, most: 50 },
      });
    });
}

async function analyseFile(
  path: string,
  flags: FileFlags,
  options: ChainReadOptions,
  ports: Ports,
): Promise<GexAnalysis> {
  const stated = await ports.stated(flags);
  const { chain, ...remarks } = await chainOf(path, flags.ticker, stated, ports);
  assertUnsettled(chain, path);
  const prints =
    flags.prints === undefined
      ? NO_PRINTS
      : await readPrintsFile(flags.prints, chain, flags.largePrintMin, { zone: stated.zone }, ports);
  return analyseGex(chain, prints, { ...options, ssr: ssrOf(flags.smileDynamics, chain.underlying) }, remarks);
}

/** Throws `OperatorError` if every contract of a file had settled at its time, because its expiries or its time were read in a wrong way. */
function assertUnsettled({ underlying, asOf, series }: Chain, path: string): void {
  if (series.length === 0 || series.some(({ settlesAt }) => settlesAt > asOf)) return;
  const expiries = series.map(({ expiry }) => expiry).sort();
  throw new OperatorError(
    `${path}: every contract of ${underlying} had settled at the time of the quotes, ${new Date(asOf).toISOString()}; its expiries are ${expiries[0]} to ${expiries.at(-1)}`,
    'The column of expiries or the time is probably wrong. State the time with --as-of, or name the columns in a mapping: docs/vendors.md.',
  );
}

interface FileFlags extends StatedTexts {
  readonly ticker?: string;
  readonly prints?: string;
  readonly largePrintMin: number;
  readonly smileDynamics: string;
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
    ssr: ssrOf(flags.smileDynamics!, ''),
    cashDividends: [],
  };
}

function expirySelection(text: string): ExpirySelection {
  const selection = parseExpiries(text);
  if (selection) return selection;
  throw new OperatorError(
    `--expiries ${text} is not a selection of expiries`,
    'Use all, 0dte, session, a date YYYY-MM-DD, or next:N for N days.',
  );
}

function ssrOf(text: string, underlying: string): number {
  const ssr = parseSmileDynamics(text, underlying);
  if (ssr !== undefined) return ssr;
  throw new OperatorError(
    `--smile-dynamics ${text} is not an assumption`,
    `Use sticky_strike, sticky_moneyness, ssr, or ssr=R with R from 0 to ${SSR_MAX}.`,
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
