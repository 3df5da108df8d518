import { area, line } from 'd3-shape';
import { useMemo } from 'preact/hooks';
import type { Levels, ProfileAnswer } from '../data/page-answers.ts';
import { amount, percent, price } from '../page-format.ts';
import { type CurvePair, curvePairs, gexCurve, type SpotCurve, valueAt } from '../state/moment-diff.ts';
import { columnTable, type PanelTable } from '../state/panels.ts';
import { moveAxisTo, priceRange } from '../state/price-range.ts';
import {
  AxisLabels,
  Crosshair,
  ExtentAxis,
  extentTicks,
  LABELS_WIDTH,
  LevelLabels,
  LevelRules,
} from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import { pointerCursor, pointWithin } from './chart-cursor.tsx';
import { chartLevels, greekFlips } from './chart-levels.ts';
import { type Hedging, sharesCurve } from './hedging-moves.ts';
import { linearScale } from './linear-scale.ts';
import { cursorPrice, isWithin, priceAxis } from './price-axis.ts';
import { type ChartSeries, Legend } from './series-chart.tsx';

interface SpotProfileProps {
  readonly profile: ProfileAnswer;
  readonly levels: Levels;
  readonly before?: ProfileAnswer | undefined;
  /** The shares that dealers trade over the moves. If they are given, the chart shows them instead of net gamma. */
  readonly hedging?: Hedging | undefined;
}

/**
 * Renders the net gamma at hypothetical spot prices, on the price axis of the ladder. `before` is the curve at moment A of a comparison. In
 * a comparison, the colour of the area between the two curves shows the sign of the change.
 */
export function SpotProfile({ profile, levels, before, hedging }: SpotProfileProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { zoom, shift } = priceRange.value;
  const { width, height } = size;
  const axis = useMemo(
    () => priceAxis(profile.spot_price, zoom, shift, height),
    [profile.spot_price, zoom, shift, height],
  );
  const shapes = useMemo(() => {
    const curve = hedging ? sharesCurve(hedging) : gexCurve(profile);
    return profileShapes(curve, hedging || !before ? undefined : gexCurve(before), axis, width);
  }, [profile, before, hedging, axis, width]);
  const shown = useMemo(
    () => [...chartLevels(levels), ...greekFlips(profile).filter(({ price: at }) => isWithin(axis, at))],
    [levels, profile, axis],
  );
  const [left, right] = [LABELS_WIDTH, width - 4];
  const pointer = pointerCursor(
    (event) => axis.priceAt(pointWithin(event).y),
    (at) => (cursorPrice.value = at),
  );
  return (
    <div class="chart profile" data-chart="profile">
      <div ref={ref} class="plot" {...pointer}>
        {height > 0 && (
          <svg width={width} height={height} role="img" aria-label={describeProfile(profile)}>
            {axis.ticks.map((tick) => (
              <line key={tick} class="grid-line" x1={LABELS_WIDTH} x2={width} y1={axis.y(tick)} y2={axis.y(tick)} />
            ))}
            {extentTicks(left, right).map((share) => {
              const x = left + ((1 + share) / 2) * (right - left);
              return <line key={`x ${share}`} class="grid-line" x1={x} x2={x} y1={0} y2={height} />;
            })}
            <path class="area positive" d={shapes.positive} />
            <path class="area negative" d={shapes.negative} />
            <line class="zero" x1={shapes.zero} x2={shapes.zero} y1={0} y2={height} />
            {shapes.before && <path class="curve before" d={shapes.before} />}
            <path class="curve" d={shapes.curve} />
            <LevelRules levels={shown} axis={axis} width={width} />
          </svg>
        )}
        <AxisLabels axis={axis} />
        <Crosshair axis={axis} />
        <LevelLabels
          levels={shown}
          axis={axis}
          isNarrow={width < NARROW}
          onGo={(level) => moveAxisTo(level.price, profile.spot_price)}
        />
      </div>
      <ExtentAxis
        left={left}
        right={right}
        extent={shapes.extent}
        title={hedging ? 'shares in all: − dealers sell, + buy' : 'net GEX, $ per 1 % move'}
      />
      <Legend series={hedging ? SHARES : before ? COMPARED : profile.flip_resolved ? NET : WITHOUT_FLIP} />
    </div>
  );
}

/** Minimum width of a profile that shows the full names of levels, in pixels. No bars are below them. */
const NARROW = 260;

const curveNamed = (name: string, more: object = {}): ChartSeries => ({ name, mark: 'line', y: [], ...more });
const NET = [curveNamed('net gamma if spot is there')];
const WITHOUT_FLIP = [curveNamed('net gamma if spot is there: no flip within half of spot or the quoted strikes')];
const COMPARED = [...NET, curveNamed('book of A', { class: 'before' })];
const SHARES = [curveNamed('shares traded on the way from spot')];

function profileShapes(
  curve: SpotCurve,
  before: SpotCurve | undefined,
  axis: ReturnType<typeof priceAxis>,
  width: number,
) {
  // The curve goes on to the first point beyond each end of the axis.
  const room = 0.06 * (axis.high - axis.low);
  const isNear = (spot: number) => spot >= axis.low - room && spot <= axis.high + room;
  const inView = ({ spot, values }: SpotCurve) =>
    spot.map((at, i): [number, number] => [at, values[i]!]).filter(([at]) => isNear(at));
  const points = inView(curve);
  const earlier = before ? inView(before) : [];
  const extent = Math.max(...[...points, ...earlier].map(([, value]) => Math.abs(value)), 0) || 1;
  const x = linearScale([-extent, extent], [LABELS_WIDTH, width - 4]);
  const zero = x(0);
  // Without a comparison, the area between the curve and zero is filled.
  const pairs = before
    ? curvePairs(curve, before).filter(({ spot }) => isNear(spot))
    : points.map(([spot, now]): CurvePair => ({ spot, now, before: 0 }));
  /**
   * Returns the path of the area in which the value has a given sign. In a comparison, the value is the change. Otherwise it is that of the
   * curve.
   */
  const between = (sign: 1 | -1) =>
    area<CurvePair>()
      .y(({ spot }) => axis.y(spot))
      .x0((pair) => x(pair.before))
      .x1((pair) => x(pair.before + sign * Math.max(0, sign * (pair.now - pair.before))))(pairs) ?? '';
  const pathOf = line<[number, number]>(
    ([, value]) => x(value),
    ([at]) => axis.y(at),
  );
  return {
    extent,
    zero,
    curve: pathOf(points) ?? '',
    before: before && (pathOf(earlier) ?? ''),
    positive: between(1),
    negative: between(-1),
  };
}

/** Returns one sentence with the main figures of the profile, for screen readers. */
export function describeProfile(profile: ProfileAnswer): string {
  const { spot_price, gex_flip, flip_resolved } = profile;
  const flip = flip_resolved
    ? `It changes sign at ${price(gex_flip)}, ${percent(100 * (gex_flip / spot_price - 1), 1)} from spot.`
    : 'It has no flip within half of spot or the quoted strikes.';
  return `Net dealer gamma if spot moves: ${amount(valueAt(gexCurve(profile), spot_price))} dollars per 1 % move at spot ${price(spot_price)}. ${flip}`;
}

export function profileTable(profile: ProfileAnswer): PanelTable {
  return columnTable({ spot: profile.spot, net_gex: profile.net_gex });
}

export function hedgingTable({ rows }: Hedging): PanelTable {
  const names = ['move_pct', 'spot', 'shares', 'dollars_mil', 'volume_pct', 'net_gex_mil', 'regime'] as const;
  return { columns: names, rows: rows.map((row) => names.map((name) => row[name])) };
}
