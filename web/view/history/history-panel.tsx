import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { LevelLabels } from '../../chart/axis-labels.tsx';
import { useSize } from '../../chart/canvas.tsx';
import { chartLevels } from '../../chart/chart-levels.ts';
import { historyRange, historySeries } from '../../chart/history-series.ts';
import {
  daysBefore,
  type HistorySpan,
  historySpan,
  spanDomain,
  spanEnds,
  spanOfRows,
} from '../../chart/history-span.ts';
import {
  describeHistory,
  historyReadout,
  historyTable,
  rowMoment,
  selectionText,
  volatilitySentence,
} from '../../chart/history-text.ts';
import { linearScale } from '../../chart/linear-scale.ts';
import { type ChartSeries, CursorFrame, SeriesPlot } from '../../chart/series-chart.tsx';
import { type History, useAnswer } from '../../data/page-answers.ts';
import { amount, strikeText, volatility } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { Choice } from '../../panel/choices.tsx';
import { historyCall, navigate, page, tickerCall } from '../../state/page.ts';
import { fillingPast } from '../../state/page-market.ts';
import { horizonOf, horizonText } from '../../state/scope-words.ts';
import { moveToMoment } from '../../state/time-stops.ts';
import { tradingTicks } from '../../time/trading-axis.ts';

/** The lengths of the named time ranges, in days. */
const SPANS = [
  ['5 days', 7],
  ['1 month', 31],
  ['3 months', 92],
] as const;
const POINTS_MAX = 2_000;

/** Renders three plots over one time axis: spot with flip and walls, net gamma, and volatility. */
export function HistoryPanel({ moment }: { moment: string }) {
  const [cursor, setCursor] = useState<number | null>(null);
  const [selected, setSelected] = useState<RowSpan | null>(null);
  const { own, ticker } = page.value;
  const span = useMemo(() => historySpan(own, moment), [own.from, own.to, own.per, moment]);
  const { from, to, per } = span;
  const horizon = horizonOf(page.value.options.expiries) ?? 'all';
  const args = {
    per,
    ...(from && { from }),
    ...(to && { to }),
    points: POINTS_MAX,
    ...(horizon !== 'all' && { horizon }),
  };
  const asked = useAnswer<History>(historyCall('get_gex_history', moment, args), `${moment} ${fillingPast.value}`);
  const history = asked.answer?.body;
  useEffect(() => {
    // A new time range or ticker resets the cursor and the selection, because the row indices change.
    setCursor(null);
    setSelected(null);
  }, [ticker, own.from, own.to, span.per]);
  // While the next time range is loading, the charts show the previous range.
  const leftOut = history?.notes.filter((note) => note.startsWith('Left out')).join(' ');
  const shown = useMemo(() => {
    if (!history) return undefined;
    const { from, to } = asked.answer!.call.args as { from?: string; to?: string };
    const answered = { from, to, per: history.per as HistorySpan['per'] };
    const series = historySeries(history, spanEnds(answered, history));
    return { series, domain: spanDomain(answered, series.axis) };
  }, [history]);
  const table = useMemo(() => history && historyTable(history, moveToMoment), [history]);
  const cursorRow = history && cursor !== null && cursor < history.count ? cursor : null;
  const show = (change: Readonly<Record<string, string | null>>) => {
    const next = Object.entries({ ...own, ...change }).filter((entry): entry is [string, string] => entry[1] !== null);
    navigate({ own: Object.fromEntries(next) });
  };
  const goTo = (row: number) => moveToMoment(history!.as_of[row]!);
  const named = SPANS.find(([, days]) => own.from === daysBefore(moment, days) && own.to === undefined)?.[0];
  return (
    <ChartPanel
      id="history"
      class="history-panel"
      title="History of the levels"
      unit={`by ${span.per}, times of New York · ${horizonText(horizon)}${fillingPast.value ? ` · the past is being filled, ${fillingPast.value}` : ''}`}
      call={tickerCall('get_gex_history', moment, args)}
      {...asked}
      table={table}
      readout={
        history && (selected || cursorRow !== null)
          ? readoutOf(history, selected, cursorRow!)
          : 'Point at a day, or use the arrow keys in the chart. Drag to choose a span.'
      }
      controls={
        <>
          <button
            type="button"
            disabled={cursorRow === null}
            onClick={() => cursorRow !== null && goTo(cursorRow)}
            data-action="show-moment"
          >
            {history && cursorRow !== null ? `Show ${rowMoment(history, cursorRow)}` : 'Show a moment'}
          </button>
          <Choice
            label="Span"
            value={named ?? (own.from || own.to ? 'span chosen' : 'a year')}
            values={[...SPANS.map(([name]) => name), 'a year']}
            onChoose={(value) => {
              const days = SPANS.find(([name]) => name === value)?.[1];
              if (value !== 'span chosen') show({ from: days ? daysBefore(moment, days) : null, to: null });
            }}
          />
          <Choice
            label="Rows"
            value={span.per}
            values={['day', 'snapshot']}
            text={(per) => `by ${per}`}
            onChoose={(per) => show({ per })}
          />
        </>
      }
    >
      {history && shown && (
        <HistoryPlots
          history={history}
          {...shown}
          cursor={cursorRow}
          selected={selected}
          onMove={(row, rows) => {
            setCursor(row);
            setSelected(rows);
          }}
          onSpan={(from, to) => show(spanOfRows(history, from, to))}
          onOpen={goTo}
        />
      )}
      {leftOut && <p class="muted small inset">{leftOut}</p>}
    </ChartPanel>
  );
}

/** The first and the last row of a selection, as indices. */
type RowSpan = readonly [from: number, to: number];

/** Returns a text: the changes over the selected rows, or the figures at the cursor if no rows are selected. */
function readoutOf(history: History, selected: RowSpan | null, row: number): string {
  return selected ? selectionText(history, ...selected) : historyReadout(history, row);
}

interface HistoryPlotsProps {
  readonly history: History;
  readonly series: ReturnType<typeof historySeries>;
  readonly domain: readonly [number, number];
  readonly cursor: number | null;
  readonly selected: RowSpan | null;
  readonly onMove: (row: number, selected: RowSpan | null) => void;
  /** The chart calls this function with the first and the last selected row when the member zooms to the selection. */
  readonly onSpan: (from: number, to: number) => void;
  readonly onOpen: (row: number) => void;
}

/** Minimum width of a chart whose levels have full names, in pixels. */
const WIDE = 600;
/** Minimum distance between two time labels on the axis, in pixels. */
const TIMES_APART = 58;

/** Renders three plots with one axis and cursor. Dragging, or Shift with an arrow key, selects rows. Space zooms to the selection. */
function HistoryPlots({ history, series, domain, cursor, selected, onMove, onSpan, onOpen }: HistoryPlotsProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const isNarrow = size.width < WIDE;
  /** The levels beyond the usual axis that the member has called up. */
  const [called, setCalled] = useState<readonly string[]>([]);
  const range = useMemo(() => historyRange(series, called), [series, called]);
  const panes = useMemo(() => panesOf(series), [series]);
  const axis = useMemo(
    () => (left: number, right: number) => {
      const end = right - (isNarrow ? 56 : 98);
      const x = linearScale(domain, [left, end]);
      const ticks = tradingTicks(series.axis, domain[0], domain[1], (end - left) / TIMES_APART);
      return { x: (value: number) => x(value), labels: ticks.map(({ at, label }) => ({ x: x(at), text: label })) };
    },
    [series, ...domain, isNarrow],
  );
  const { at, pinned } = page.value;
  const last = history.count - 1;
  /** The first row of the selection. Null while the pointer is pressed but has not reached a row. Undefined without a selection. */
  const anchor = useRef<number | null>(undefined);
  const selectedTo = (row: number): RowSpan | null => {
    const from = anchor.current ?? row;
    return from === row ? null : [Math.min(from, row), Math.max(from, row)];
  };
  const moveTo = (row: number | null) => {
    if (row === null) return;
    if (anchor.current === null) anchor.current = row;
    onMove(row, selectedTo(row));
  };
  const x = series.at;
  const spans = [
    ...series.axis.days.flatMap(({ start, width, count }) =>
      count === 0 && start > (x[0] ?? 0) && start < (x.at(-1) ?? 0) ? [[start, start + width] as const] : [],
    ),
    ...(selected ? [[x[selected[0]]!, x[selected[1]]!, 'selected'] as const] : []),
  ];
  const pins = [['A', pinned] as const, ['B', at] as const];
  const marks = (place: (value: number) => number) =>
    pins.map(([letter, moment]) => {
      const position = moment ? series.axis.at(Date.parse(moment)) : Number.NaN;
      if (!(position >= domain[0] && position <= domain[1])) return null;
      const left = `${place(position)}px`;
      return (
        <>
          <div class="cursor-line" style={{ left }} />
          <span data-label class="rule-name top" aria-hidden="true" style={{ left }}>
            {letter}
          </span>
        </>
      );
    });
  const shared = { x, axis, spans, cursor, overlay: marks, onCursor: moveTo, onOpen, hasLabels: false };
  return (
    <div
      ref={ref}
      class="history-plots"
      onKeyDownCapture={(event) => {
        anchor.current = event.shiftKey ? (anchor.current ?? cursor ?? last) : undefined;
        if (event.key !== ' ' || !selected) return;
        onSpan(...selected);
        event.preventDefault();
      }}
      onPointerDownCapture={({ pointerType }) => (anchor.current = pointerType === 'touch' ? undefined : null)}
      onPointerUp={() => {
        if (selected && anchor.current !== undefined) onSpan(...selected);
        anchor.current = undefined;
      }}
      onPointerLeave={() => (anchor.current = undefined)}
    >
      <CursorFrame
        id="history"
        label={`${describeHistory(history, series.gaps)} ${volatilitySentence(history)}. Arrow keys move from row to row, Enter shows the moment of a row.`}
        count={history.count}
        cursor={cursor}
        onCursor={moveTo}
        onOpen={onOpen}
        readout={(row) => readoutOf(history, selectedTo(row), row)}
      >
        <p class="small" data-label>
          Spot, flip and walls, dollars
        </p>
        <SeriesPlot
          {...shared}
          series={panes.levels}
          range={range}
          format={strikeText}
          overlay={(place, y, height) => {
            if (last < 0) return null;
            const levels = chartLevels({
              spot_price: history.spot[last]!,
              gex_flip: history.gex_flip[last]!,
              flip_resolved: history.flip_resolved[last]!,
              call_wall: history.call_wall[last]!,
              put_wall: history.put_wall[last]!,
              max_pain: Number.NaN,
            });
            return (
              <>
                {marks(place)}
                <LevelLabels
                  levels={levels}
                  axis={{ low: range[0], high: range[1], height, y }}
                  isNarrow={isNarrow}
                  onGo={({ id }) => setCalled([...called, id])}
                  onReset={called.length > 0 ? () => setCalled([]) : undefined}
                />
              </>
            );
          }}
        />
        <p class="small" data-label>
          Net GEX, dollars per 1 % move
        </p>
        <SeriesPlot {...shared} series={panes.gamma} format={amount} hasZero />
        <p class="small" data-label>
          {volatilitySentence(history)}
        </p>
        <SeriesPlot {...shared} series={panes.volatility} format={volatility} hasLabels />
        {last < 0 && <p class="chart-note muted">No levels are stored in this span.</p>}
      </CursorFrame>
    </div>
  );
}

/** Returns the series of the plots. Spot is thick, and the flip is dashed. Each wall is a line with steps, in the colour of its sign. */
function panesOf({
  x,
  ...values
}: ReturnType<typeof historySeries>): Record<'levels' | 'gamma' | 'volatility', ChartSeries[]> {
  return {
    levels: [
      { x, name: 'call wall', mark: 'stairs', y: values.callWall, class: 'positive' },
      { x, name: 'put wall', mark: 'stairs', y: values.putWall, class: 'negative' },
      { x, name: 'flip', mark: 'line', y: values.flip, class: 'dashed' },
      { x, name: 'spot', mark: 'line', y: values.spot, class: 'spot' },
    ],
    gamma: [
      { x, name: 'positive', mark: 'bars', y: values.positive, class: 'positive' },
      { x, name: 'negative', mark: 'bars', y: values.negative, class: 'negative' },
    ],
    volatility: [{ x, name: 'ATM volatility', mark: 'line', y: values.volatility }],
  };
}
