import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { LevelLabels } from '../chart/axis-labels.tsx';
import { useSize } from '../chart/canvas.tsx';
import { chartLevels } from '../chart/chart-levels.ts';
import { historyRange, historySeries } from '../chart/history-series.ts';
import { daysBefore, type HistorySpan, historySpan, spanDomain, spanEnds, spanOfRows } from '../chart/history-span.ts';
import {
  describeHistory,
  historyReadout,
  historyTable,
  rowMoment,
  selectionWords,
  volatilityWords,
} from '../chart/history-words.ts';
import { priceAxis } from '../chart/price-axis.ts';
import { type PlotGroup, type PlotSeries, TimePlot } from '../chart/time-plot.tsx';
import { type History, useAnswer } from '../data/page-answers.ts';
import { amount, strikeText, volatility } from '../page-format.ts';
import { historyCall, navigate, page, tickerCall } from '../state/page.ts';
import { fillingPast } from '../state/page-market.ts';
import { moveToMoment } from '../state/time-stops.ts';
import { ChartPanel } from './chart-panel.tsx';

/** The spans that the member chooses by name, in days. */
const SPANS = [
  ['5 days', 7],
  ['1 month', 31],
  ['3 months', 92],
] as const;
const POINTS_MAX = 2_000;

/** Spot with flip and walls, net gamma, and volatility over time, on one time axis. */
export function HistoryPanel({ moment }: { moment: string }) {
  const [selected, setSelected] = useState<readonly [number, number] | null>(null);
  const { own, ticker } = page.value;
  const span = useMemo(() => historySpan(own, moment), [own.from, own.to, own.per, moment]);
  const { from, to, per } = span;
  const args = { per, ...(from && { from }), ...(to && { to }), points: POINTS_MAX };
  const asked = useAnswer<History>(historyCall('get_gex_history', moment, args), `${moment} ${fillingPast.value}`);
  const history = asked.answer?.body;
  const group = useRef<PlotGroup>(undefined);
  group.current ??= { cursor: signal(null), selected: signal(null) };
  useEffect(() => {
    // A row of one span or ticker is another row in the next.
    group.current!.cursor.value = null;
    group.current!.selected.value = null;
    setSelected(null);
  }, [ticker, own.from, own.to, span.per]);
  // While the next span is on its way, the charts show the last one.
  const shown = useMemo(() => {
    if (!history) return undefined;
    const { from, to } = asked.answer!.call.args as { from?: string; to?: string };
    const answered = { from, to, per: history.per as HistorySpan['per'] };
    const series = historySeries(history, spanEnds(answered, history));
    return { series, domain: spanDomain(answered, series.axis) };
  }, [history]);
  const series = shown?.series;
  const table = useMemo(() => history && historyTable(history, moveToMoment), [history]);
  const rowAt = (index: number | null) => (index === null ? null : (series?.row[index] ?? null));
  const cursorRow = rowAt(group.current.cursor.value);
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
      unit={`by ${span.per}, times of New York${fillingPast.value ? ` · the past is being filled, ${fillingPast.value}` : ''}`}
      call={tickerCall('get_gex_history', moment, args)}
      {...asked}
      table={table}
      readout={
        history && selected
          ? selectionWords(history, selected[0], selected[1])
          : history && cursorRow !== null
            ? historyReadout(history, cursorRow)
            : 'Point at a day, or use the arrow keys in the chart. Drag to choose a span.'
      }
      controls={
        <>
          <button
            type="button"
            disabled={cursorRow === null}
            onClick={() => cursorRow !== null && goTo(cursorRow)}
            data-act="show-moment"
          >
            {history && cursorRow !== null ? `Show ${rowMoment(history, cursorRow)}` : 'Show a moment'}
          </button>
          <label class="choice">
            <span class="spoken">Span</span>
            <select
              value={named ?? (own.from || own.to ? 'chosen' : 'a year')}
              onChange={({ currentTarget: { value } }) => {
                const days = SPANS.find(([name]) => name === value)?.[1];
                if (value !== 'chosen') show({ from: days ? daysBefore(moment, days) : null, to: null });
              }}
            >
              {SPANS.map(([name]) => (
                <option key={name}>{name}</option>
              ))}
              <option>a year</option>
              {named === undefined && (own.from || own.to) && <option value="chosen">span chosen</option>}
            </select>
          </label>
          <label class="choice">
            <span class="spoken">Rows</span>
            <select value={span.per} onChange={({ currentTarget: { value } }) => show({ per: value })}>
              <option value="day">by day</option>
              <option value="snapshot">by snapshot</option>
            </select>
          </label>
        </>
      }
    >
      {history && shown && (
        <HistoryPlots
          history={history}
          {...shown}
          group={group.current}
          selected={selected}
          onSelect={setSelected}
          onSpan={(from, to) => show(spanOfRows(history, from, to))}
          onOpen={goTo}
        />
      )}
    </ChartPanel>
  );
}

interface HistoryPlotsProps {
  readonly history: History;
  readonly series: ReturnType<typeof historySeries>;
  readonly domain: readonly [number, number];
  readonly group: PlotGroup;
  /** The selected rows of the history. */
  readonly selected: readonly [from: number, to: number] | null;
  readonly onSelect: (rows: readonly [number, number] | null) => void;
  /** Called with rows whose span is to be shown alone. */
  readonly onSpan: (from: number, to: number) => void;
  readonly onOpen: (row: number) => void;
}

/** From this width on, levels are labelled with their names, pixels. */
const WIDE = 600;

function HistoryPlots(props: HistoryPlotsProps) {
  const { history, series, domain, group, onSpan, onOpen } = props;
  const { ref, size } = useSize<HTMLDivElement>();
  const isNarrow = size.width < WIDE;
  const prices = useMemo(() => historyRange(series), [series]);
  const panes = useMemo(() => panesOf(series), [series]);
  const { at, pinned } = page.value;
  const marks = useMemo(
    () => [
      ...(at ? [{ at: series.axis.at(Date.parse(at)), letter: 'B' as const, dash: 'solid' as const }] : []),
      ...(pinned ? [{ at: series.axis.at(Date.parse(pinned)), letter: 'A' as const, dash: 'dashed' as const }] : []),
    ],
    [at, pinned, series],
  );
  const keys = useHistoryKeys(props);
  const last = history.count - 1;
  const shared = {
    group,
    domain,
    marks,
    axis: series.axis,
    x: series.x,
    right: isNarrow ? 66 : 108,
    onSelect: (from: number, to: number) => onSpan(series.row[from]!, series.row[to]!),
  };
  return (
    <div class="chart" data-chart="history">
      <div
        ref={ref}
        class="history-plots"
        role="application"
        aria-roledescription="chart"
        aria-label={`${describeHistory(history, series.gaps)} ${volatilityWords(history)}. Arrow keys move from row to row, Enter shows the moment of a row.`}
        tabIndex={0}
        onKeyDown={keys.onKeyDown}
        onDblClick={() => {
          const row = series.row[group.cursor.value ?? -1] ?? null;
          if (row !== null) onOpen(row);
        }}
      >
        <p data-label>Spot, flip and walls, dollars</p>
        <TimePlot
          {...shared}
          name="levels"
          series={panes.levels}
          range={prices}
          print={strikeText}
          hasTimes={false}
          labels={(height) => {
            if (last < 0) return null;
            const middle = (prices[0] + prices[1]) / 2;
            const axis = priceAxis(middle, (50 * (prices[1] - prices[0])) / middle, 0, height);
            const levels = chartLevels({
              spot_price: history.spot[last]!,
              gex_flip: history.gex_flip[last]!,
              flip_resolved: history.flip_resolved[last]!,
              call_wall: history.call_wall[last]!,
              put_wall: history.put_wall[last]!,
              max_pain: Number.NaN,
            });
            return <LevelLabels levels={levels} axis={axis} isNarrow={isNarrow} />;
          }}
        />
        <p data-label>Net GEX, dollars per 1 % move</p>
        <TimePlot
          {...shared}
          name="net_gex"
          series={panes.gamma}
          range={rangeOf(history.net_gex, true)}
          print={amount}
          hasTimes={false}
        />
        <p data-label>{volatilityWords(history)}</p>
        <TimePlot
          {...shared}
          name="volatility"
          series={panes.volatility}
          range={rangeOf(history.atm_iv_30d, false)}
          print={volatility}
          hasTimes
        />
        {last < 0 && <p class="chart-note">No levels are stored in this span.</p>}
      </div>
      <div class="spoken" aria-live="polite">
        {keys.spoken}
      </div>
    </div>
  );
}

/** Levels differ by pattern: spot is a thick line, the flip is dashed, and walls are steps in the hue of their sign. */
function panesOf(series: ReturnType<typeof historySeries>): Record<'levels' | 'gamma' | 'volatility', PlotSeries[]> {
  const line = { kind: 'line', tone: 'text', width: 2, dash: 'solid' } as const;
  const step = { kind: 'step', width: 1.5, dash: 'solid' } as const;
  return {
    levels: [
      { ...step, name: 'call wall', values: series.callWall, tone: 'positive' },
      { ...step, name: 'put wall', values: series.putWall, tone: 'negative' },
      { ...line, name: 'flip', values: series.flip, width: 1.5, dash: 'dashed' },
      { ...line, name: 'spot', values: series.spot },
    ],
    gamma: [
      { name: 'positive', values: series.positive, kind: 'bars', tone: 'positive', width: 0, dash: 'solid' },
      { name: 'negative', values: series.negative, kind: 'bars', tone: 'negative', width: 0, dash: 'solid' },
    ],
    volatility: [{ ...line, name: 'ATM volatility', values: series.volatility, width: 1.5 }],
  };
}

/** Returns the range of an axis with some room. `hasZero` says that bars grow from 0. */
function rangeOf(values: readonly (number | null)[], hasZero: boolean): [number, number] {
  const known = values.filter((each) => each !== null);
  if (known.length === 0) return [0, 1];
  const [low, high] = [Math.min(...known, ...(hasZero ? [0] : [])), Math.max(...known, ...(hasZero ? [0] : []))];
  const room = (high - low || Math.abs(high) * 0.1 || 1) * 0.08;
  return [low < 0 || !hasZero ? low - room : 0, high > 0 || !hasZero ? high + room : 0];
}

const PAGE_ROWS = 20;

/** The keys of the chart: arrows move the cursor of all plots, with Shift they select, Space shows the selection, Enter the moment. */
function useHistoryKeys({ history, series, group, selected, onSelect, onSpan, onOpen }: HistoryPlotsProps) {
  const [spoken, setSpoken] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const anchor = useRef<number | null>(null);
  const filled = useMemo(() => series.row.flatMap((row, index) => (row === null ? [] : [index])), [series]);
  const last = history.count - 1;
  const moveTo = (to: number, isSelecting: boolean) => {
    const row = Math.max(0, Math.min(last, to));
    const from = series.row[group.cursor.value ?? -1] ?? last;
    anchor.current = isSelecting ? (anchor.current ?? from) : null;
    const start = anchor.current;
    const rows = start === null || start === row ? null : ([Math.min(start, row), Math.max(start, row)] as const);
    onSelect(rows);
    group.cursor.value = filled[row]!;
    group.selected.value = rows && [filled[rows[0]]!, filled[rows[1]]!];
    clearTimeout(timer.current);
    const text = rows ? selectionWords(history, rows[0], rows[1]) : historyReadout(history, row);
    timer.current = setTimeout(() => setSpoken(text), 150);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    const at = series.row[group.cursor.value ?? -1] ?? null;
    const step = (by: number) => () => moveTo(at === null ? last : at + by, event.shiftKey);
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: step(-1),
      ArrowRight: step(1),
      PageUp: step(-PAGE_ROWS),
      PageDown: step(PAGE_ROWS),
      Home: () => moveTo(0, event.shiftKey),
      End: () => moveTo(last, event.shiftKey),
      Enter: () => at !== null && onOpen(at),
      ' ': () => selected && onSpan(selected[0], selected[1]),
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  return { onKeyDown, spoken };
}
