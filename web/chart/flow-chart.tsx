import { useMemo } from 'preact/hooks';
import { amount } from '../page-format.ts';
import { useSize } from './canvas.tsx';
import { LABEL_DIGIT, spacedLabels } from './chart-axis.ts';
import { pointerCursor, pointWithin } from './chart-cursor.tsx';
import { describeFlow, type FlowGroup, type FlowRow, flowKeyText, flowLayout, flowReadout } from './flow-shapes.ts';
import { type ChartSeries, CursorFrame, SeriesPlot, type SeriesPlotProps } from './series-chart.tsx';

interface FlowChartProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor'> {
  readonly rows: readonly FlowRow[];
  readonly group: FlowGroup;
  /** Key of the selected row. The list of prints shows only the prints of this row. */
  readonly chosen: string | null;
  readonly onChoose: (key: string) => void;
}

/** Width of the amounts at the left edge, in pixels. */
const AMOUNTS = 54;

/** Renders bars for the premium that customers bought and sold, and below them a plot of the net delta. Bars of puts are hatched. */
export function FlowChart({ rows, group, cursor, onCursor, chosen, onChoose }: FlowChartProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { width, height } = size;
  const bars = useMemo(() => flowLayout(rows, AMOUNTS, width, height), [rows, width, height]);
  const labels = useMemo(() => {
    const texts = rows.map(({ key }) => flowKeyText(key, group, true));
    const sizes = texts.map((text) => text.length * LABEL_DIGIT);
    // The last label is moved left if it would extend beyond the chart.
    const at = bars.centers.map((center, i) => Math.min(center, width - sizes[i]! / 2));
    return spacedLabels(at, sizes).map((i) => ({ x: at[i]!, text: texts[i]! }));
  }, [rows, group, bars.centers, width]);
  const axis = useMemo(() => () => ({ x: (index: number) => bars.centers[index]!, labels }), [bars.centers, labels]);
  const places = useMemo(() => rows.map((_, i) => i), [rows]);
  const delta = useMemo((): ChartSeries[] => {
    // Execution types have no order, so no line connects their rows.
    const mark = group === 'manner' ? 'bars' : 'line';
    return [{ name: 'Net delta, $', mark, y: rows.map(({ net_delta }) => net_delta) }];
  }, [rows, group]);
  const last = rows.length - 1;
  const indexAt = (event: MouseEvent) => {
    const index = Math.floor((pointWithin(event).x - AMOUNTS) / bars.step);
    return index >= 0 && index <= last ? index : null;
  };
  const band = (index: number, name: string) => (
    <rect class={name} x={bars.centers[index]! - bars.step / 2} y={0} width={bars.step} height={height} />
  );
  const chosenIndex = rows.findIndex(({ key }) => key === chosen);
  return (
    <CursorFrame
      id="flow"
      class="flow"
      label={describeFlow(rows, group)}
      count={rows.length}
      cursor={cursor}
      onCursor={onCursor}
      onOpen={(index) => onChoose(rows[index]!.key)}
      readout={(index) => flowReadout(rows[index]!, group)}
    >
      <div
        ref={ref}
        class="plot flow-bars"
        {...pointerCursor(indexAt, onCursor)}
        onClick={(event) => {
          const index = indexAt(event);
          if (index !== null) onChoose(rows[index]!.key);
        }}
      >
        {height > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <defs>
              {(['positive', 'negative'] as const).map((tone) => (
                <pattern key={tone} id={`hatch-${tone}`} width="5" height="5" patternUnits="userSpaceOnUse">
                  <path class={`hatch ${tone}`} d="M-1 6 6 -1M-1 1 1 -1M4 6 6 4" />
                </pattern>
              ))}
            </defs>
            {chosenIndex >= 0 && band(chosenIndex, 'chosen')}
            {cursor !== null && rows[cursor] && band(cursor, 'under-cursor')}
            {bars.ticks.map(({ value, y }) => (
              <line key={value} class={value === 0 ? 'zero' : 'grid-line'} x1={AMOUNTS} x2={width} y1={y} y2={y} />
            ))}
            <line class="zero" x1={AMOUNTS} x2={width} y1={bars.zero} y2={bars.zero} />
            {bars.bars.map(({ kind, sign, ...place }, i) => (
              <rect
                key={i}
                class={`flow-${kind} ${sign > 0 ? 'positive' : sign < 0 ? 'negative' : ''}`}
                {...(kind === 'puts' && { fill: `url(#hatch-${sign > 0 ? 'positive' : 'negative'})` })}
                {...place}
              />
            ))}
          </svg>
        )}
        <div class="y-axis small" aria-hidden="true">
          {bars.ticks.map(({ value, y }) => (
            // The label shows the absolute value, because the premium that customers sold is not a negative amount.
            <span data-label key={value} style={{ top: `${y}px` }}>
              {amount(Math.abs(value))}
            </span>
          ))}
        </div>
      </div>
      <SeriesPlot x={places} axis={axis} series={delta} format={amount} hasZero cursor={cursor} onCursor={onCursor} />
    </CursorFrame>
  );
}
