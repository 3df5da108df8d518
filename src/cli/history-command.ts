import { HORIZONS } from '../analytics/exposure/horizons.ts';
import { cleanLine } from '../core/clean-text.ts';
import { runToCompletion } from '../core/steps.ts';
import type { Operation, Provenance } from '../operations/engine/operation.ts';
import { extendedView, perform } from '../operations/engine/perform.ts';
import { type GexHistory, getGexHistory } from '../operations/history/gex-history.ts';
import { settingsIn } from '../settings/config.ts';
import type { CliCommand } from './cli-command.ts';
import { requireOneForm, writeResult } from './forms.ts';
import { formatDollars, formatPrice, formatVolatility } from './plot/figures.ts';
import { type HistoryPicture, historyPlot } from './plot/history-plot.ts';
import { csvText } from './text-format.ts';

/** A history with its provenance. The provenance is missing if the ticker has no chain. */
type History = GexHistory & { readonly provenance?: Provenance };

/** Adds `zomma history`, which shows the recorded levels of a ticker over time. */
export function addHistory(program: CliCommand): void {
  program
    .command('history')
    .description('Show the gamma-exposure (GEX) levels of a ticker over time, as a server has recorded them.')
    .argument('<ticker>', 'ticker whose levels are in the data folder')
    .option(
      '--from <moment>',
      'first moment: New York date or instant (default: 364 days before the newest levels that are not after --to)',
    )
    .option('--to <moment>', 'last moment: New York date (included to its end) or instant (default: the newest levels)')
    .choice('--per <what>', 'rows: every snapshot, or only the last snapshot of each day', ['snapshot', 'day'], 'day')
    .choice(
      '--horizon <which>',
      'levels of the options that settle by the end of the session, within 35 days, or of all options',
      HORIZONS,
      'all',
    )
    .option('--points <n>', 'maximum number of rows; if there are more, evenly spaced rows are printed', '5000')
    .json()
    .option('--csv', 'print one CSV table')
    .option('--plot', 'plot even if stdout is not a terminal')
    .option('--no-plot', 'do not plot')
    .settings(settingsIn('data'), { hidden: ['contagionMin'] })
    .examples(
      'zomma history SPY',
      'zomma history SPY --from 2026-10-01 --csv > spy.csv',
      'zomma history SPY --from 2026-11-20 --per snapshot --json',
    )
    .action(async (ticker: string, { from, to, per, horizon, points, ...flags }) => {
      const { withMarket } = await import('../server/stored-data.ts');
      requireOneForm(flags);
      const args = { ticker, per, horizon, points: Number(points), ...(from && { from }), ...(to && { to }) };
      const view = extendedView(getGexHistory as unknown as Operation);
      const { body } = withMarket(flags, (context) =>
        runToCompletion(perform(view, args, context, 'invalid_parameter')),
      );
      const history = body as unknown as History;
      if (history.downsampled_from !== undefined) {
        process.stderr.write(
          `zomma: ${history.count} of ${history.downsampled_from} rows are shown; use a later --from to show all\n`,
        );
      }
      await writeResult(flags, {
        value: history,
        isSimulated: history.provenance?.simulated ?? false,
        csv: () => historyCsv(history),
        text: summaryOf(history),
        details: table(history),
        // A plot over time needs at least two points in time.
        plot: history.count < 2 ? undefined : (...size) => historyPlot(pictureOf(history), ...size),
        plotLines: { least: 20, most: 40 },
      });
    });
}

function pictureOf(history: History): HistoryPicture {
  const { ticker, per, day, as_of, spot, gex_flip, flip_resolved, call_wall, put_wall } = history;
  const moments = per === 'day' ? day : as_of;
  return {
    ticker,
    simulated: history.provenance?.simulated ?? false,
    ends: [moments[0]!, moments.at(-1)!],
    prices: [
      { name: 'spot', values: Float64Array.from(spot), ink: 'title' },
      { name: 'flip', values: Float64Array.from(gex_flip, (each, i) => (flip_resolved[i] ? each : NaN)), ink: 'level' },
      { name: 'call wall', values: Float64Array.from(call_wall), ink: 'positive' },
      { name: 'put wall', values: Float64Array.from(put_wall), ink: 'negative' },
    ],
    netGex: Float64Array.from(history.net_gex),
  };
}

function summaryOf(history: History): string {
  const { ticker, count, per, iv_rank, iv_percentile, iv_days, iv_low, iv_high, provenance } = history;
  const source = provenance ? `  ${provenance.source}${provenance.simulated ? '  SIMULATED' : ''}` : '';
  const range =
    iv_low === null || iv_high === null ? '' : `, ${formatVolatility(iv_low)} to ${formatVolatility(iv_high)}`;
  const rank =
    iv_percentile === null ? '' : `  (rank ${iv_rank?.toFixed(0) ?? 'none'}, percentile ${iv_percentile.toFixed(0)})`;
  const rows = [
    `${ticker}  ${countOf(count, per)}${source}`,
    ...history.notes.map((note) => `  ${cleanLine(note)}`),
    ...(history.notes.some((note) => note.includes('not computed yet')) ? [COMPUTED_BY_SERVER] : []),
    `  30-day IV   ${formatVolatility(history.atm_iv_30d.at(-1) ?? null)}${rank}  over ${countOf(iv_days, 'day')}${range}`,
  ];
  return `${rows.join('\n')}\n`;
}

/** Without `--feed`, a server simulates a market, whose tickers would be beside the recorded ones. */
const COMPUTED_BY_SERVER =
  '  A running server computes them. `zomma serve --feed files:DIR` runs one with the files of a folder, and without the simulated market.';

function countOf(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function table(history: History): string {
  if (history.count === 0) return '';
  const head = [
    history.per === 'day' ? 'day' : 'as of',
    'spot',
    'net GEX',
    'flip',
    'call wall',
    'put wall',
    'max pain',
    'IV',
  ];
  const rows = history.as_of.map((as_of, i) => [
    history.per === 'day' ? history.day[i]! : as_of,
    formatPrice(history.spot[i]!),
    formatDollars(history.net_gex[i]!),
    `${formatPrice(history.gex_flip[i]!)}${history.flip_resolved[i] ? '' : '?'}`,
    formatPrice(history.call_wall[i]!),
    formatPrice(history.put_wall[i]!),
    formatPrice(history.max_pain[i]!),
    formatVolatility(history.atm_iv_30d[i]!),
  ]);
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const lines = [head, ...rows].map((row) => row.map((text, i) => text.padStart(widths[i]!)).join('  '));
  if (history.flip_resolved.includes(false))
    lines.push('?  flip not resolved: the spot at which net GEX is nearest to zero');
  return lines.map((text) => `  ${text}\n`).join('');
}

/** Formats a history as CSV. An unknown value becomes an empty cell. */
function historyCsv(history: GexHistory): string {
  const columns = HISTORY_COLUMNS.map((name) => history[name].map((value) => String(value ?? '')));
  const rows = history.as_of.map((_, row) => columns.map((column) => column[row]!));
  return csvText(HISTORY_COLUMNS, rows);
}

const HISTORY_COLUMNS = [
  ...(['as_of', 'day', 'spot', 'net_gex', 'gross_gex', 'sign_margin_pct', 'gex_flip', 'flip_resolved'] as const),
  ...(['call_wall', 'put_wall', 'max_pain', 'expiry', 'net_dex', 'net_vex', 'net_cex', 'atm_iv_30d'] as const),
];
