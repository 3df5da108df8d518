import { area, line } from 'd3-shape';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Levels, Radar } from '../data/page-answers.ts';
import { countText, price } from '../page-format.ts';
import { valueAt } from '../state/moment-diff.ts';
import { AxisLabels, LABELS_WIDTH, LevelLabels, LevelRules, NAMES_FROM } from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import { spacedLabels } from './chart-axis.ts';
import { CURSOR_CHART, chartKeys, pointWithin, useSpoken } from './chart-cursor.tsx';
import { type ChartLevel, chartLevels } from './chart-levels.ts';
import { type CursorPair, densityReadout, describeDensity } from './density-text.ts';
import { placeLabels } from './place-labels.ts';
import { type PriceAxis, priceAxis } from './price-axis.ts';

const REST_MS = 150;
/** Height of the price of a cursor, and of the name of a quantile, in pixels. */
const [TAG, NAME] = [24, 15];
/** From this price on, the price of a cursor has no cents, so that it has room beside the names of levels. */
const WHOLE_FROM = 10_000;

/** Returns the levels of an Omni Radar answer for the charts. */
export function radarLevels({ gex_boundaries, spot_price }: Radar): ChartLevel[] {
  return chartLevels({ ...gex_boundaries, spot_price } as unknown as Levels);
}

interface DensityChartProps {
  readonly radar: Radar;
  readonly pair: CursorPair;
  /** Called when a cursor moves. The argument `isDone` is true if the movement of the cursor has ended. */
  readonly onMove: (pair: CursorPair, isDone: boolean) => void;
}

/**
 * Renders the probability density of the price at expiry, with the highest price at the top. The chart also shows the lognormal density,
 * the levels, the quantiles and two cursors.
 */
export function DensityChart({ radar, pair, onMove }: DensityChartProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { width, height } = size;
  const levels = useMemo(() => radarLevels(radar), [radar]);
  /** The levels beyond the usual axis that the member has called up. */
  const [called, setCalled] = useState<readonly string[]>([]);
  const axis = useMemo(() => densityAxis(radar, levels, called, height), [radar, levels, called, height]);
  const shapes = useMemo(() => densityShapes(radar, axis, width), [radar, axis, width]);
  const [active, setActive] = useState<0 | 1>(1);
  const [spoken, speak] = useSpoken();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const dragged = useRef<0 | 1 | null>(null);
  const shown = useRef(pair);
  shown.current = pair;
  useEffect(() => () => clearTimeout(timer.current), []);
  const moveTo = (which: 0 | 1, to: number, isByKey = false) => {
    const at = Math.min(axis.high, Math.max(axis.low, to));
    const next: CursorPair = which === 0 ? [at, pair[1]] : [pair[0], at];
    setActive(which);
    onMove(next, false);
    if (!isByKey) return;
    speak(`${price(at)}. ${densityReadout(radar, next)}`);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onMove(shown.current, true), REST_MS);
  };
  const step = stepOf(axis);
  const marks = [...levels.map((level) => level.price), ...Object.values(radar.state_density.quantiles)];
  const onKeyDown = chartKeys(({ key }) => {
    const at = pair[active];
    const by = (steps: number) => moveTo(active, Math.round(at / step + steps) * step, true);
    const act = {
      ArrowUp: () => by(1),
      ArrowDown: () => by(-1),
      PageUp: () => by(10),
      PageDown: () => by(-10),
      Home: () => moveTo(active, axis.high, true),
      End: () => moveTo(active, axis.low, true),
      '.': () => moveTo(active, Math.min(...marks.filter((each) => each > at + 1e-9), axis.high), true),
      ',': () => moveTo(active, Math.max(...marks.filter((each) => each < at - 1e-9), axis.low), true),
      ' ': () => {
        setActive(active === 0 ? 1 : 0);
        speak(`Cursor at ${price(pair[active === 0 ? 1 : 0])}`);
      },
    }[key];
    act?.();
    return act !== undefined;
  });
  const priceAt = (event: PointerEvent) => axis.priceAt(pointWithin(event).y);
  const onPointerDown = (event: PointerEvent) => {
    const handle = (event.target as HTMLElement).closest<HTMLElement>('[data-cursor]');
    // A touch scrolls the page unless it starts on a cursor's handle.
    if (!handle && event.pointerType === 'touch') return;
    const at = priceAt(event);
    const nearest = Math.abs(at - pair[0]) < Math.abs(at - pair[1]) ? 0 : 1;
    dragged.current = handle ? (Number(handle.dataset.cursor) as 0 | 1) : nearest;
    ref.current!.setPointerCapture(event.pointerId);
    moveTo(dragged.current, at);
  };
  const onPointerUp = () => {
    if (dragged.current !== null) onMove(shown.current, true);
    dragged.current = null;
  };
  const [low, high] = [Math.min(...pair), Math.max(...pair)];
  const cursors = pair.map((at) => ({ at, y: axis.y(Math.min(axis.high, Math.max(axis.low, at))) }));
  const quantiles = Object.entries(radar.state_density.quantiles).toSorted(([, a], [, b]) => b - a);
  const named = spacedLabels(
    quantiles.map(([, at]) => axis.y(at)),
    quantiles.map(() => NAME),
    0,
  ).map((i) => quantiles[i]!);
  // The prices of cursors close to each other, or to an edge, are moved apart and into the plot.
  const tags = placeLabels(
    cursors.map(({ y }) => ({ at: y, size: TAG })),
    0,
    height,
  );
  return (
    <div
      class="chart density"
      data-chart="density"
      {...CURSOR_CHART}
      aria-label={describeDensity(radar)}
      onKeyDown={onKeyDown}
    >
      <div
        ref={ref}
        class="plot"
        onPointerDown={onPointerDown}
        onPointerMove={(event) => dragged.current !== null && moveTo(dragged.current, priceAt(event))}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerUp}
      >
        {height > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            {axis.ticks.map((tick) => (
              <line key={tick} class="grid-line" x1={LABELS_WIDTH} x2={width} y1={axis.y(tick)} y2={axis.y(tick)} />
            ))}
            <path class="density-area" d={shapes.area(axis.low, axis.high)} />
            <path class="density-area between" d={shapes.area(low, high)} />
            <path class="curve lognormal" d={shapes.lognormal} />
            <path class="curve" d={shapes.curve} />
            <LevelRules levels={levels} axis={axis} width={width} />
            {Object.entries(radar.state_density.quantiles).map(([name, at]) => (
              <line
                key={name}
                class="quantile"
                x1={LABELS_WIDTH}
                x2={LABELS_WIDTH + 7}
                y1={axis.y(at)}
                y2={axis.y(at)}
              />
            ))}
            {cursors.map(({ y }, which) => (
              <line key={which} class="cursor-line" x1={LABELS_WIDTH} x2={width} y1={y} y2={y} />
            ))}
          </svg>
        )}
        <AxisLabels axis={axis} taken={tags} />
        {named.map(([name, at]) => (
          <span data-label class="quantile-name small" aria-hidden="true" key={name} style={{ top: `${axis.y(at)}px` }}>
            {Number(name.slice(1))} %
          </span>
        ))}
        {cursors.map(({ at, y }, which) => (
          <div
            key={which}
            class={`density-cursor${active === which ? ' active' : ''}`}
            data-cursor={which}
            aria-hidden="true"
            style={{ top: `${y}px` }}
          >
            <span data-label class="density-price" style={{ top: `${tags[which]! - y}px` }}>
              {at < WHOLE_FROM ? price(at) : countText(at)}
            </span>
          </div>
        ))}
        <LevelLabels
          levels={levels}
          axis={axis}
          isNarrow={width < NAMES_FROM}
          onGo={({ id }) => setCalled([...called, id])}
          onReset={called.length > 0 ? () => setCalled([]) : undefined}
        />
      </div>
      {spoken}
    </div>
  );
}

function densityAxis(
  radar: Radar,
  levels: readonly ChartLevel[],
  called: readonly string[],
  height: number,
): PriceAxis {
  const { spot_price: spot, density_curve: curve } = radar;
  const reach = (curve.high - curve.low) / 2;
  // The axis leaves out a level far from spot, because a long axis would flatten the density.
  const near = levels
    .filter(({ id, price: at }) => called.includes(id) || (at > curve.low - reach && at < curve.high + reach))
    .map((level) => level.price);
  const low = Math.min(curve.low, ...near.map((at) => at * 0.99));
  const high = Math.max(curve.high, ...near.map((at) => at * 1.01));
  return priceAxis(spot, (50 * (high - low)) / spot, 100 * ((high + low) / 2 / spot - 1), height);
}

/** Returns the step of the cursors: a round price difference that fits into the axis at most 200 times. */
function stepOf({ low, high }: PriceAxis): number {
  const raw = (high - low) / 200;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5, 10].find((each) => each * power >= raw) ?? 10);
}

function densityShapes(radar: Radar, axis: PriceAxis, width: number) {
  const { price: prices, density, lognormal_density } = radar.density_curve;
  const points = (values: readonly number[], low: number, high: number) =>
    [low, ...prices.filter((at) => at > low && at < high), high].map((at): [number, number] => [
      at,
      Math.max(0, valueAt({ spot: prices, values }, at)),
    ]);
  const [own, normal] = [points(density, axis.low, axis.high), points(lognormal_density, axis.low, axis.high)];
  const most = Math.max(...density, ...lognormal_density);
  const x = (density: number) => LABELS_WIDTH + 0.94 * (width - LABELS_WIDTH) * (density / most);
  const curve = line<[number, number]>(
    ([, density]) => x(density),
    ([at]) => axis.y(at),
  );
  const filled = area<[number, number]>()
    .y(([at]) => axis.y(at))
    .x0(LABELS_WIDTH)
    .x1(([, density]) => x(density));
  return {
    curve: curve(own) ?? '',
    lognormal: curve(normal) ?? '',
    area: (low: number, high: number) => filled(points(density, low, high)) ?? '',
  };
}
