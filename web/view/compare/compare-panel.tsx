import { type History, useAnswer } from '../../data/page-answers.ts';
import type { Call } from '../../operations.ts';
import { newYorkIsoDate, percent, price, signedAmount, signTone, strikeText, UNKNOWN } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { navigate, page } from '../../state/page.ts';
import { type DayFigures, toggleCompared } from '../../state/watched-tickers.ts';
import { compareTable, ladderRange, ladderSentence, sparkPath } from './compare-shapes.ts';
import { ageOf, ageText, type FiguresOf } from './universe-grid.tsx';

interface ComparePanelProps {
  readonly picked: readonly string[];
  readonly call: Call;
  readonly figuresOf: FiguresOf;
}

/** Renders one row for each picked ticker. All ladders have one axis, in percent of spot. */
export function ComparePanel({ picked, call, figuresOf }: ComparePanelProps) {
  const rows = picked.map((ticker) => [ticker, figuresOf(ticker)] as const);
  const known = rows.flatMap(([, figures]) => figures ?? []);
  const range = ladderRange(known);
  return (
    <ChartPanel
      id="compare"
      class="compare-panel"
      title="Side by side"
      unit="change since the previous close · GEX per 1 % move"
      call={{ ...call, args: { tickers: picked.join(','), ...call.args } }}
      table={compareTable(known)}
    >
      <div class="figure-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Ticker</th>
              <th scope="col">Spot</th>
              <th scope="col">Change</th>
              <th scope="col">Gamma</th>
              <th scope="col">Net GEX</th>
              <th scope="col">Flip away</th>
              <th scope="col">Put wall</th>
              <th scope="col">
                <span class="ladder-row ends">
                  <span>−{range} %</span> <span>+{range} %</span>
                </span>
              </th>
              <th scope="col">Call wall</th>
              <th scope="col">IV rank</th>
              <th scope="col">Move, 1 day</th>
              <th scope="col">60 days</th>
              <th scope="col">Age</th>
              <th scope="col">
                <span class="spoken">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([ticker, figures]) => (
              <CompareRow key={ticker} ticker={ticker} figures={figures} range={range} />
            ))}
          </tbody>
        </table>
        <p class="legend muted" aria-hidden="true">
          <span class="negative">▏put wall</span> <span>┆ flip</span> <span>● spot</span>{' '}
          <span class="positive">▕ call wall</span> <span>◂ ▸ farther away</span>
        </p>
      </div>
    </ChartPanel>
  );
}

interface CompareRowProps {
  readonly ticker: string;
  readonly figures: DayFigures | undefined;
  readonly range: number;
}

function CompareRow({ ticker, figures, range }: CompareRowProps) {
  return (
    <tr data-ticker={ticker}>
      <th scope="row">
        <button type="button" class="bare" onClick={() => navigate({ ticker, view: 'ticker', own: {} })}>
          <strong>{ticker}</strong>
        </button>
      </th>
      {figures ? (
        <Cells figures={figures} range={range} />
      ) : (
        <td colSpan={12} class="no-data muted">
          no data at this moment
        </td>
      )}
      <td>
        <button type="button" aria-label={`Remove ${ticker}`} onClick={() => toggleCompared(ticker)}>
          ×
        </button>
      </td>
    </tr>
  );
}

function Cells({ figures, range }: { figures: DayFigures; range: number }) {
  const { spot, change, flipAway, netGex, move } = figures;
  return (
    <>
      <td>{price(spot)}</td>
      <td class={signTone(change ?? 0)}>
        <strong>{percent(change)}</strong>
      </td>
      <td>{figures.regime}</td>
      <td class={signTone(netGex)}>{signedAmount(netGex)}</td>
      <td>{flipAway === null ? 'no flip' : percent(flipAway, 1)}</td>
      <td>{strikeText(figures.putWall)}</td>
      <td>
        <Ladder figures={figures} range={range} />
      </td>
      <td>{strikeText(figures.callWall)}</td>
      <td>{percent(figures.ivRank, 0, false)}</td>
      <td title={move === null ? undefined : `± ${price(move)} dollars, one standard deviation`}>
        {move === null ? UNKNOWN : `± ${percent((100 * move) / spot, 1, false)}`}
      </td>
      <td>
        <Spark figures={figures} />
      </td>
      <td>{ageText(ageOf(figures))}</td>
    </>
  );
}

const WIDTH = 200;
const HEIGHT = 24;

/** Renders walls, flip and spot on an axis of ± `range` percent of spot. A level farther away is an arrow at the end of the axis. */
function Ladder({ figures, range }: { figures: DayFigures; range: number }) {
  const { spot, putWall, callWall, flip } = figures;
  const away = (level: number) => 100 * (level / spot - 1);
  const at = (level: number) => {
    const share = (away(level) / range + 1) / 2;
    return 8 + Math.min(1, Math.max(0, share)) * (WIDTH - 16);
  };
  const mark = (level: number, name: string) =>
    Math.abs(away(level)) > range ? (
      <path class={`mark ${name}`} d={`M${at(level)} 7l${away(level) > 0 ? 6 : -6} 5l${away(level) > 0 ? -6 : 6} 5z`} />
    ) : (
      <path class={`mark ${name}`} d={`M${at(level)} 3v18`} />
    );
  return (
    <svg class="ladder-row" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={ladderSentence(figures)}>
      <path class="grid-line" d={`M8 12h${WIDTH - 16}`} />
      <path class="between" d={`M${at(putWall)} 12H${at(callWall)}`} />
      {mark(putWall, 'negative')}
      {mark(callWall, 'positive')}
      {flip !== null && mark(flip, 'dashed')}
      <circle class="spot" cx={WIDTH / 2} cy={HEIGHT / 2} r={4} />
    </svg>
  );
}

const DAYS = 60;
const DAY_MS = 86_400_000;

/** Renders the spot at the last snapshot of each of the last 60 days. */
function Spark({ figures: { ticker, asOf, spot } }: { figures: DayFigures }) {
  const { at } = page.value;
  const from = newYorkIsoDate(Date.parse(asOf) - DAYS * DAY_MS);
  const { answer } = useAnswer<History>({
    operation: 'get_gex_history',
    args: { ticker, from, per: 'day', points: DAYS, ...(at !== null && { at }) },
  });
  if (!answer) return null;
  // The last point of the day is the present spot.
  const spots = [...answer.body.spot.slice(0, -1), spot];
  const [first, last] = [spots[0]!, spots.at(-1)!];
  const total = percent(100 * (last / first - 1), 1);
  if (spots.length < 2) return <span class="muted">one day</span>;
  const label = `${spots.length} days, ${total}: from ${price(first)} to ${price(last)}, low ${price(Math.min(...spots))}, high ${price(Math.max(...spots))}`;
  return (
    <span class="row">
      <svg class="spark" viewBox="0 0 96 24" role="img" aria-label={label}>
        <path class="curve" d={sparkPath(spots, 96, 24)} />
      </svg>
      <span class={`spark-total ${signTone(last - first)}`} aria-hidden="true">
        {total}
      </span>
    </span>
  );
}
