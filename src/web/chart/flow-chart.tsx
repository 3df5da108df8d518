import { line } from 'd3-shape';
import { useMemo } from 'preact/hooks';
import { amount } from '../page-format.ts';
import { useSize } from './canvas.tsx';
import { LABEL_DIGIT } from './chart-axis.ts';
import {
  deltaLayout,
  describeFlow,
  type FlowGroup,
  type FlowRow,
  flowKeyText,
  flowLayout,
  flowReadout,
} from './flow-shapes.ts';
import { spacedLabels } from './spaced-labels.ts';
import { useSpoken } from './spoken.ts';

export interface FlowChartProps {
  readonly rows: readonly FlowRow[];
  readonly group: FlowGroup;
  /** Index of the row under the cursor. */
  readonly cursor: number | null;
  readonly onCursor: (index: number | null) => void;
  /** The row that the tape is filtered by. */
  readonly chosen: string | null;
  readonly onChoose: (key: string) => void;
}

/** Room for the amounts at the left edge, pixels. */
const AMOUNTS = 52;
const joined = line<readonly [number, number]>(
  ([x]) => x,
  ([, y]) => y,
);

/** What customers bought and sold, calls solid and puts hatched, and the net delta on a panel of its own below. */
export function FlowChart({ rows, group, cursor, onCursor, chosen, onChoose }: FlowChartProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const below = useSize<HTMLDivElement>();
  const { width, height } = size;
  const bars = useMemo(() => flowLayout(rows, AMOUNTS, width, height), [rows, width, height]);
  const delta = useMemo(
    () => deltaLayout(rows, bars.centers, below.size.height),
    [rows, bars.centers, below.size.height],
  );
  const labels = useMemo(() => {
    const texts = rows.map(({ key }) => flowKeyText(key, group, true));
    const sizes = texts.map((text) => text.length * LABEL_DIGIT);
    // The last label would reach beyond the chart.
    const at = bars.centers.map((center, i) => Math.min(center, width - sizes[i]! / 2));
    return spacedLabels(at, sizes).map((i) => ({ at: at[i]!, text: texts[i]! }));
  }, [rows, group, bars.centers, width]);
  const [spoken, speak] = useSpoken();
  const last = rows.length - 1;
  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(last, index));
    onCursor(next);
    speak(flowReadout(rows[next]!, group));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || last < 0) return;
    const at = cursor ?? last;
    const act = {
      ArrowLeft: () => moveTo(cursor === null ? last : at - 1),
      ArrowRight: () => moveTo(at + 1),
      PageUp: () => moveTo(at - 10),
      PageDown: () => moveTo(at + 10),
      Home: () => moveTo(0),
      End: () => moveTo(last),
      Enter: () => onChoose(rows[at]!.key),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  };
  const indexAt = (event: MouseEvent) => {
    const box = ref.current!.getBoundingClientRect();
    const index = Math.floor((event.clientX - box.left - AMOUNTS) / bars.step);
    return index >= 0 && index <= last ? index : null;
  };
  const band = (index: number, name: string, tall: number) => (
    <rect class={name} x={bars.centers[index]! - bars.step / 2} y={0} width={bars.step} height={tall} />
  );
  const chosenIndex = rows.findIndex(({ key }) => key === chosen);
  const backdrop = (tall: number) => (
    <>
      {chosenIndex >= 0 && band(chosenIndex, 'chosen', tall)}
      {cursor !== null && rows[cursor] && band(cursor, 'under-cursor', tall)}
    </>
  );
  return (
    <div
      class="chart flow"
      data-chart="flow"
      role="application"
      aria-roledescription="chart"
      aria-label={describeFlow(rows, group)}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => onCursor(indexAt(event))}
      onPointerLeave={() => onCursor(null)}
      onClick={(event) => {
        const index = indexAt(event);
        if (index !== null) onChoose(rows[index]!.key);
      }}
    >
      <div ref={ref} class="plot flow-bars">
        {height > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <defs>
              {(['positive', 'negative'] as const).map((tone) => (
                <pattern key={tone} id={`hatch-${tone}`} width="5" height="5" patternUnits="userSpaceOnUse">
                  <path class={`hatch ${tone}`} d="M-1 6 6 -1M-1 1 1 -1M4 6 6 4" />
                </pattern>
              ))}
            </defs>
            {backdrop(height)}
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
        <Amounts ticks={bars.ticks} isBothWays />
      </div>
      <div class="x-axis" aria-hidden="true">
        {labels.map(({ at, text }) => (
          <span data-label class="middle" key={at} style={{ left: `${at}px` }}>
            {text}
          </span>
        ))}
      </div>
      <p class="flow-name" data-label>
        Net delta, $
      </p>
      <div ref={below.ref} class="plot flow-delta">
        {below.size.height > 0 && (
          <svg width={width} height={below.size.height} aria-hidden="true">
            {backdrop(below.size.height)}
            {delta.ticks.map(({ value, y }) => (
              <line key={value} class="grid-line" x1={AMOUNTS} x2={width} y1={y} y2={y} />
            ))}
            <line class="zero" x1={AMOUNTS} x2={width} y1={delta.zero} y2={delta.zero} />
            {/* Manners have no order, so no line joins them. */}
            {group !== 'manner' && <path class="curve" d={joined(delta.points) ?? ''} />}
            {delta.points.map(([x, y], i) => (
              <>
                {group === 'manner' && <line class="curve" x1={x} x2={x} y1={delta.zero} y2={y} />}
                <circle key={i} class="flow-point" cx={x} cy={y} r={rows.length > 60 ? 1.5 : 2.5} />
              </>
            ))}
          </svg>
        )}
        <Amounts ticks={delta.ticks} />
      </div>
      <div class="spoken" aria-live="polite">
        {spoken}
      </div>
    </div>
  );
}

/** The amounts at the left edge. `isBothWays`: the axis has amounts in both directions, none of which is negative. */
function Amounts({
  ticks,
  isBothWays,
}: {
  ticks: readonly { readonly value: number; readonly y: number }[];
  isBothWays?: boolean;
}) {
  return (
    <div class="y-axis amounts" aria-hidden="true">
      {ticks.map(({ value, y }) => (
        <span data-label key={value} style={{ top: `${y}px` }}>
          {amount(isBothWays ? Math.abs(value) : value)}
        </span>
      ))}
    </div>
  );
}
