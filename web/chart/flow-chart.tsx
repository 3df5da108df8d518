import { useMemo } from 'preact/hooks';
import { amount } from '../page-format.ts';
import { type AxisBetween, labelsAt } from './chart-axis.ts';
import {
  describeFlow,
  type FlowGroup,
  type FlowRow,
  flowBars,
  flowKeyText,
  flowRange,
  flowReadout,
} from './flow-shapes.ts';
import { type ChartSeries, CursorFrame, SeriesPlot, type SeriesPlotProps } from './series-chart.tsx';

interface FlowChartProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor'> {
  readonly rows: readonly FlowRow[];
  readonly group: FlowGroup;
  /** Key of the selected row. The list of prints shows only the prints of this row. */
  readonly chosen: string | null;
  readonly onChoose: (key: string) => void;
}

/** Renders bars for the premium that customers bought and sold, and below them a plot of the net delta. Bars of puts are hatched. */
export function FlowChart({ rows, group, cursor, onCursor, chosen, onChoose }: FlowChartProps) {
  const places = useMemo(() => rows.map((_, i) => i), [rows]);
  const axis = useMemo(
    (): AxisBetween => (left, right) => {
      const x = (index: number) => left + ((index + 0.5) * (right - left)) / rows.length;
      const texts = rows.map(({ key }) => flowKeyText(key, group, true));
      return { x, labels: labelsAt(places.map(x), texts, right) };
    },
    [rows, group],
  );
  const delta = useMemo((): ChartSeries[] => {
    // Execution types have no order, so no line connects their rows.
    const mark = group === 'manner' ? 'bars' : 'line';
    return [{ name: 'Net delta, $', mark, y: rows.map(({ net_delta }) => net_delta) }];
  }, [rows, group]);
  const onPick = (index: number) => onChoose(rows[index]!.key);
  const shared = { x: places, axis, cursor, onCursor };
  return (
    <CursorFrame
      id="flow"
      class="flow"
      label={describeFlow(rows, group)}
      count={rows.length}
      cursor={cursor}
      onCursor={onCursor}
      onOpen={onPick}
      readout={(index) => flowReadout(rows[index]!, group)}
    >
      <SeriesPlot
        {...shared}
        series={[]}
        range={flowRange(rows)}
        // The label shows the absolute value, because the premium that customers sold is not a negative amount.
        format={(value) => amount(Math.abs(value))}
        spans={rows.flatMap(({ key }, i) => (key === chosen ? [[i - 0.5, i + 0.5, 'chosen'] as const] : []))}
        overlay={(x, y) => <FlowBars bars={flowBars(rows, x, y)} />}
        hasLabels={false}
        onPick={onPick}
      />
      <SeriesPlot {...shared} series={delta} format={amount} hasZero />
    </CursorFrame>
  );
}

function FlowBars({ bars }: { bars: ReturnType<typeof flowBars> }) {
  return (
    <svg class="marks" aria-hidden="true">
      <defs>
        {['positive', 'negative'].map((tone) => (
          <pattern key={tone} id={`hatch-${tone}`} width="5" height="5" patternUnits="userSpaceOnUse">
            <path class={`hatch ${tone}`} d="M-1 6 6 -1M-1 1 1 -1M4 6 6 4" />
          </pattern>
        ))}
      </defs>
      {bars.map(({ kind, tone, ...place }, i) => (
        <rect
          key={i}
          class={`flow-${kind} ${tone}`}
          fill={kind === 'puts' ? `url(#hatch-${tone})` : undefined}
          {...place}
        />
      ))}
    </svg>
  );
}
