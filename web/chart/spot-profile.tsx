import { area, line } from 'd3-shape';
import { useMemo } from 'preact/hooks';
import type { Levels, ProfileAnswer } from '../data/page-answers.ts';
import { amount, percent, price, signedAmount } from '../page-format.ts';
import { gexAt, type ProfilePair, profilePairs } from '../state/moment-diff.ts';
import { page } from '../state/page.ts';
import { columnTable, type PanelTable } from '../state/panels.ts';
import { AxisLabels, Crosshair, ExtentAxis, LABELS_WIDTH, LevelRules } from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import { pointerCursor, pointWithin } from './chart-cursor.tsx';
import { chartLevels } from './chart-levels.ts';
import { linearScale } from './linear-scale.ts';
import { cursorPrice, isWithin, priceAxis } from './price-axis.ts';

interface SpotProfileProps {
  readonly profile: ProfileAnswer;
  readonly levels: Levels;
  readonly before?: ProfileAnswer | undefined;
}

/**
 * Renders the net gamma at hypothetical spot prices, on the price axis of the ladder. `before` is the curve at moment A of a comparison. In
 * a comparison, the colour of the area between the two curves shows the sign of the change.
 */
export function SpotProfile({ profile, levels, before }: SpotProfileProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { zoom, shift } = page.value;
  const { width, height } = size;
  const axis = useMemo(
    () => priceAxis(profile.spot_price, zoom, shift, height),
    [profile.spot_price, zoom, shift, height],
  );
  const shapes = useMemo(() => profileShapes(profile, before, axis, width), [profile, before, axis, width]);
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
            <path class="area positive" d={shapes.positive} />
            <path class="area negative" d={shapes.negative} />
            <line class="zero" x1={shapes.zero} x2={shapes.zero} y1={0} y2={height} />
            {shapes.before && <path class="curve before" d={shapes.before} />}
            <path class="curve" d={shapes.curve} />
            <LevelRules levels={chartLevels(levels)} axis={axis} width={width} />
            {[profile.vanna_flip, profile.charm_flip].map(
              (at, i) =>
                at !== null &&
                isWithin(axis, at) && (
                  <text key={i} class="mark" x={width - 4} y={axis.y(at) + 4} text-anchor="end">
                    {i === 0 ? 'vanna flip' : 'charm flip'} ▸
                  </text>
                ),
            )}
          </svg>
        )}
        <AxisLabels axis={axis} />
        <Crosshair axis={axis} />
        {!profile.flip_resolved && (
          <p class="chart-note muted">Net gamma has one sign within half of spot: there is no flip.</p>
        )}
      </div>
      <ExtentAxis left={LABELS_WIDTH} middle={shapes.zero} extent={shapes.extent} />
    </div>
  );
}

function profileShapes(
  profile: ProfileAnswer,
  before: ProfileAnswer | undefined,
  axis: ReturnType<typeof priceAxis>,
  width: number,
) {
  const isNear = (spot: number) => spot >= axis.low * 0.995 && spot <= axis.high * 1.005;
  const inView = ({ spot, net_gex }: ProfileAnswer) =>
    spot.map((at, i): [number, number] => [at, net_gex[i]!]).filter(([at]) => isNear(at));
  const points = inView(profile);
  const earlier = before ? inView(before) : [];
  const extent = Math.max(...[...points, ...earlier].map(([, gex]) => Math.abs(gex)), 0) || 1;
  const x = linearScale([-extent, extent], [LABELS_WIDTH, width - 2]);
  const zero = x(0);
  // Without a comparison, the area between the curve and zero is filled.
  const pairs = before
    ? profilePairs(profile, before).filter(({ spot }) => isNear(spot))
    : points.map(([spot, now]): ProfilePair => ({ spot, now, before: 0 }));
  /**
   * Returns the path of the area in which the value has a given sign. In a comparison, the value is the change of net gamma. Otherwise the
   * value is net gamma.
   */
  const between = (sign: 1 | -1) =>
    area<ProfilePair>()
      .y(({ spot }) => axis.y(spot))
      .x0((pair) => x(pair.before))
      .x1((pair) => x(pair.before + sign * Math.max(0, sign * (pair.now - pair.before))))(pairs) ?? '';
  const curve = line<[number, number]>(
    ([, gex]) => x(gex),
    ([at]) => axis.y(at),
  );
  return {
    extent,
    zero,
    curve: curve(points) ?? '',
    before: before && (curve(earlier) ?? ''),
    positive: between(1),
    negative: between(-1),
  };
}

/** Returns one sentence with the main figures of the profile, for screen readers. */
export function describeProfile(profile: ProfileAnswer): string {
  const { spot_price, gex_flip, flip_resolved } = profile;
  const flip = flip_resolved
    ? `It changes sign at ${price(gex_flip)}, ${percent(100 * (gex_flip / spot_price - 1), 1)} from spot.`
    : 'It has one sign within half of spot.';
  return `Net dealer gamma were spot elsewhere: ${amount(gexAt(profile, spot_price))} dollars per 1 % move at spot ${price(spot_price)}. ${flip}`;
}

/** Returns a text with the amount that dealers would trade per 1 % move at a given spot price. */
export function profileReadout(profile: ProfileAnswer, at: number, before?: ProfileAnswer): string {
  const gex = gexAt(profile, at);
  const shares = Math.abs(gex / at);
  const was = before
    ? ` · at A ${signedAmount(gexAt(before, at))}, change ${signedAmount(gex - gexAt(before, at))}`
    : '';
  const way = gex < 0 ? 'buy' : 'sell';
  return `at ${price(at)} (${percent(100 * (at / profile.spot_price - 1), 1)}) net ${signedAmount(gex)}, dealers ${way} ${amount(shares)} sh${was}`;
}

export function profileTable(profile: ProfileAnswer): PanelTable {
  return columnTable({ spot: profile.spot, net_gex: profile.net_gex });
}
