import { existsSync } from 'node:fs';
import { DEFAULT_OPTIONS } from '../analytics/chain/options.ts';
import { prepareChain } from '../analytics/chain/prepare.ts';
import { fitSurface } from '../analytics/surface/fit-surface.ts';
import type { FittedSurface, SurfaceSlice } from '../analytics/surface/fitted-surface.ts';
import { shownName } from '../core/clean-text.ts';
import { runToCompletion } from '../core/steps.ts';
import { DAY_MS, newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { SurfaceAnswer } from '../operations/surface/surface-answer.ts';
import { reportSurface } from '../operations/surface/surface-report.ts';
import type { Ports } from '../server/cli-ports.ts';
import { settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { requireOneForm, writeResult } from './forms.ts';
import { chainOf, rejectStated } from './gex-files.ts';
import { formatPrice, formatVolatility } from './plot/figures.ts';
import { type Style, titleLine } from './plot/line.ts';
import { type TimeLine, timeChart } from './plot/time-chart.ts';
import { columns, csvText } from './text-format.ts';

/** The smile is drawn for the settlement that is nearest to this number of days after the snapshot. */
const SMILE_DAYS = 30;
/** The drawn smile covers this number of standard deviations of the log-price on each side of the forward. */
const SMILE_REACH = 2.5;
const SMILE_POINTS = 81;

interface Shown {
  readonly chain: Chain;
  readonly surface: FittedSurface;
  readonly answer: SurfaceAnswer;
}

/** Adds `zomma surface`, which fits the volatility surface of a file or of a stored ticker. */
export function addSurface(program: CliCommand, ports: Ports): void {
  program
    .command('surface')
    .description('Fit the volatility surface of a chain file, or of a ticker in the data folder.')
    .argument('<file|ticker>', 'chain file of any known format, or ticker')
    .option('--ticker <ticker>', 'underlying to use if the file has chains of several underlyings')
    .stated()
    .option('--json', 'print one JSON object, the answer of GET /api/v1/surface/{ticker}')
    .option('--csv', 'print one CSV table with a row for each settlement')
    .option('--plot', 'plot even if stdout is not a terminal')
    .option('--no-plot', 'do not plot')
    .settings(settingsIn('data'), { hidden: ['largePrintMin', 'contagionMin', 'staleAfter'] })
    .addHelpText(
      'after',
      `
Without --json and --csv, the command prints a table. The table has a row for each settlement, and a row for each of the
maturities 7, 30, 60, 90, 180 and 365 days that is not after the last settlement. Its columns are:
  quotes         number of quoted contracts to which the smile of the settlement is fitted
  outside        number of these contracts whose fitted price is below the bid or above the ask
  forward        forward price, dollars
  IV             volatility at the money, per calendar year
  trading        volatility at the money, per year of trading time, in which nights, and days without trading, count less
  no events      the same as "trading", but without the variance of events such as earnings reports
  25-delta skew  volatility of the put with delta -0.25 less that of the call with delta 0.25;
                 the figure after ± is half the width of the range that bid and ask allow
  variance swap  fair volatility of a variance swap
Below the table is a line for each event that the volatilities show: its implied move (one standard deviation of the log-price),
its band (by how much the move can change within bid and ask), and the dates between which the event is. A line that begins
with "refused" names a series whose quotes do not determine a smile.
The plot shows the smile of the settlement nearest to ${SMILE_DAYS} days, and the volatility at the money of all settlements,
with and without the variance of events.`,
    )
    .examples('zomma surface SPY', 'zomma surface spx_quotedata.csv --csv > surface.csv', 'zomma surface SPY --json')
    .action(async (target: string, flags) => {
      requireOneForm(flags);
      if (!existsSync(target)) rejectStated(flags);
      const chain = existsSync(target)
        ? (await chainOf(target, flags.ticker, await ports.stated(flags), ports)).chain
        : (await import('../server/stored-data.ts')).withMarket(flags, ({ market }) => market.chain(target));
      const surface = runToCompletion(fitSurface(runToCompletion(prepareChain(chain, DEFAULT_OPTIONS))));
      const answer = runToCompletion(reportSurface(chain, surface, 'figures'));
      const shown: Shown = { chain, surface, answer };
      await writeResult(flags, {
        value: answer,
        isSimulated: chain.simulated,
        csv: () => csvOf(answer),
        text: `${tableOf(shown).join('\n')}\n`,
        plot: (...size) => plotOf(shown, ...size),
        plotLines: { least: 20, most: 40 },
      });
    });
}

/** Formats the settlements as CSV, one row per settlement. An unknown value becomes an empty cell. */
function csvOf({ expiries }: SurfaceAnswer): string {
  const { count, ...table } = expiries;
  const names = Object.keys(table) as (keyof typeof table)[];
  const cell = (value: string | number | null) => {
    if (typeof value === 'number') return String(value);
    return value === null ? '' : value.includes(',') ? `"${value}"` : value;
  };
  const rows = Array.from({ length: count }, (_, row) => names.map((name) => cell(table[name][row]!)));
  return csvText(names, rows);
}

function tableOf({ chain, answer }: Shown): string[] {
  const { expiries, maturities, refused, clock } = answer;
  const head = ['', 'quotes', 'outside', 'forward', 'IV', 'trading', 'no events', '25-delta skew', 'variance swap'];
  const rows = [
    ...expiries.expiry.map((expiry, i) => [
      expiry,
      String(expiries.quotes[i]!),
      String(expiries.outside_band[i]!),
      ...figuresOf(expiries, i),
    ]),
    ...maturities.days.map((days, i) => [`${days} days`, '', '', ...figuresOf(maturities, i)]),
  ];
  return [
    `${chain.underlying}  ${formatPrice(chain.spot)}  ${shownName(chain.source)}${chain.simulated ? '  SIMULATED' : ''}`,
    `  fitted to ${answer.fitted_to === 'quotes' ? 'quotes' : 'the volatilities of the feed'}; clock: ${clock}${weightsText(answer)}`,
    ...columns([head, ...rows]).map((text) => `  ${text}`),
    ...eventLines(answer).map((text) => `  ${text}`),
    ...refused.series.map((series, i) => `  refused: ${series} (${refused.reason[i]!}${atmText(refused.atm_iv[i]!)})`),
  ];
}

/** Returns the volatility at the money of a refused series, if its quotes determine one. */
function atmText(iv: number | null): string {
  return iv === null ? '' : `, volatility at the money ${formatVolatility(iv)}`;
}

/** Returns the weights of the trading clock, and where that of a night comes from. */
function weightsText({ night_weight, night_weight_dates, shut_day_weight }: SurfaceAnswer): string {
  if (night_weight === null || shut_day_weight === null) return '';
  const from = night_weight_dates === 0 ? 'the default' : `fitted to ${night_weight_dates} AM and PM dates`;
  return `, a night counts ${night_weight.toFixed(2)} (${from}), a day of a weekend ${shut_day_weight.toFixed(2)}`;
}

/** Returns a line per event: the implied move with an error band, and the dates before and after the event. */
function eventLines({ events }: SurfaceAnswer): string[] {
  return events.implied_move.map((move, i) => {
    const [after, before] = [events.after[i]!, events.before[i]!].map((instant) => newYorkDate(Date.parse(instant)));
    const band = (100 * events.implied_move_band[i]!).toFixed(1);
    return `event: implied move ${formatVolatility(move)}, band ${band} %, between ${after!} and ${before!}`;
  });
}

function figuresOf(table: SurfaceAnswer['maturities'] | SurfaceAnswer['expiries'], i: number): string[] {
  return [
    formatPrice(table.forward[i]!),
    formatVolatility(table.atm_iv[i]!),
    formatVolatility(table.atm_iv_trading[i]!),
    formatVolatility(table.atm_iv_trading_without_events[i]!),
    withBand(table.skew_25d[i]!, table.skew_25d_band[i]!),
    formatVolatility(table.variance_swap_iv[i]!),
  ];
}

/** Formats a figure and its band's half-width, both in percent. */
function withBand(value: number | null, band: number | null): string {
  return value === null || band === null
    ? formatVolatility(value)
    : `${formatVolatility(value)} ± ${(100 * band).toFixed(2)}`;
}

/** Draws two charts within `height` lines: the smile of one settlement, and below it the at-the-money volatilities of all settlements. */
function plotOf({ chain, surface, answer }: Shown, width: number, height: number, style: Style): string[] {
  const { slices } = surface;
  const at = chain.asOf + SMILE_DAYS * DAY_MS;
  const near = slices.reduce((best, each) =>
    Math.abs(each.settlesAt - at) < Math.abs(best.settlesAt - at) ? each : best,
  );
  const below = Math.floor((height - 3) / 2);
  const title = (text: string) => titleLine({ ...chain, ticker: chain.underlying }, text, width, style);
  const reach = SMILE_REACH * Math.sqrt(near.atmVariance);
  const strikeAt = (x: number) => formatPrice(near.forward * Math.exp(x));
  const dates = slices.map(({ series }) => series[0]!.series.expiry);
  return [
    title(`volatility by strike, ${near.series[0]!.series.expiry}, percent a year`),
    ...timeChart(
      {
        lines: [{ name: 'IV', values: smileOf(near, reach), ink: 'level' }],
        ends: [strikeAt(-reach), strikeAt(reach)],
        zero: false,
        figure: formatVolatility,
      },
      width,
      height - 3 - below,
      style,
    ),
    '',
    title('volatility at the money by settlement, percent a year'),
    ...timeChart(
      {
        lines: [
          { name: 'trading time', values: termOf(slices, ({ years }) => years), ink: 'level' },
          { name: 'calendar', values: termOf(slices, ({ tte }) => tte), ink: 'faint' },
          ...(answer.events.count > 0 ? [withoutEvents(answer)] : []),
        ],
        ends: [dates[0]!, dates.at(-1)!],
        zero: false,
        figure: formatVolatility,
      },
      width,
      below,
      style,
    ),
  ];
}

/** Returns the volatilities of a smile, decimal per calendar year, at strikes that are evenly spaced in `ln(K/F)`. */
function smileOf({ law, tte }: SurfaceSlice, reach: number): Float64Array {
  return Float64Array.from({ length: SMILE_POINTS }, (_, i) =>
    Math.sqrt(law.totalVariance(reach * ((2 * i) / (SMILE_POINTS - 1) - 1)) / tte),
  );
}

function termOf(slices: readonly SurfaceSlice[], years: (slice: SurfaceSlice) => number): Float64Array {
  return Float64Array.from(slices, (slice) => Math.sqrt(slice.atmVariance / years(slice)));
}

function withoutEvents({ expiries }: SurfaceAnswer): TimeLine {
  const values = Float64Array.from(expiries.atm_iv_trading_without_events, (each) => each ?? Number.NaN);
  return { name: 'no events', values, ink: 'positive' };
}
