import { amount, signedAmount, strikeText } from '../page-format.ts';
import type { ChartLevel } from './chart-levels.ts';
import { placeLabels } from './place-labels.ts';
import { cursorPrice, isWithin, type PriceAxis } from './price-axis.ts';

/** Width of the price labels at the left edge, in pixels. */
export const LABELS_WIDTH = 44;
/** Minimum width of a chart that shows the full names of levels, in pixels. */
export const NAMES_FROM = 420;
/** Half the height of a price label at the left edge, in pixels. */
const HALF = 7;

/** Renders the price labels at the left edge. A label that does not fit is left out. Screen readers read the table, not the labels. */
export function AxisLabels({ axis }: { axis: PriceAxis }) {
  return (
    <div class="y-axis small" aria-hidden="true">
      {axis.ticks.map((price) => {
        const y = axis.y(price);
        return (
          y > HALF &&
          y < axis.height - HALF && (
            <span data-label key={price} style={{ top: `${y}px` }}>
              {strikeText(price)}
            </span>
          )
        );
      })}
    </div>
  );
}

/** Renders a line at the price of the cursor. */
export function Crosshair({ axis }: { axis: PriceAxis }) {
  const at = cursorPrice.value;
  return at !== null && isWithin(axis, at) ? <div class="crosshair" style={{ top: `${axis.y(at)}px` }} /> : null;
}

/**
 * Renders the labels of a horizontal axis: the exposures at both ends, and zero. In pixels, `left` is the position of the left end, and
 * `middle` is the position of zero.
 */
export function ExtentAxis({ left, middle, extent }: { left: number; middle: number; extent: number }) {
  return (
    <div class="x-axis small" aria-hidden="true">
      <span data-label style={{ left: `${left}px` }}>
        {amount(-extent)}
      </span>
      <span data-label class="middle" style={{ left: `${middle}px` }}>
        0
      </span>
      <span data-label class="end">
        {signedAmount(extent)}
      </span>
    </div>
  );
}

interface LevelRulesProps {
  readonly levels: readonly ChartLevel[];
  readonly axis: PriceAxis;
  readonly width: number;
}

/** Renders an SVG line for each level within the axis. */
export function LevelRules({ levels, axis, width }: LevelRulesProps) {
  const visible = levels.filter(({ price }) => isWithin(axis, price));
  return visible.map(({ id, tone, dash, price }) => {
    const y = axis.y(price);
    return <line key={id} class={`rule ${tone} ${dash}`} x1={LABELS_WIDTH} x2={width} y1={y} y2={y} />;
  });
}

/** Height of a level's label, in pixels. */
const LABEL = 19;
/** If a label is farther than this from its level, in pixels, a line connects the label to the level. */
const LEADER_FROM = 12;

interface LevelLabelsProps {
  readonly levels: readonly ChartLevel[];
  readonly axis: Pick<PriceAxis, 'low' | 'high' | 'height' | 'y'>;
  readonly isNarrow: boolean;
}

/** Renders the names of the levels at the right edge, moved apart so that no two names overlap. */
export function LevelLabels({ levels, axis, isNarrow }: LevelLabelsProps) {
  const visible = levels.filter(({ price }) => isWithin(axis, price));
  const centers = placeLabels(
    visible.map(({ price }) => ({ at: axis.y(price), size: LABEL })),
    0,
    axis.height,
  );
  return (
    <div class="level-labels" aria-hidden="true">
      {visible.map(({ id, name, initials, text, tone, price }, i) => {
        const [center, at] = [centers[i]!, axis.y(price)];
        return (
          <>
            {Math.abs(center - at) > LEADER_FROM && (
              <i class="leader" style={{ top: `${Math.min(center, at)}px`, height: `${Math.abs(center - at)}px` }} />
            )}
            <span data-label key={id} class={`level ${tone}`} style={{ top: `${center}px` }}>
              {isNarrow ? initials : name} {text}
            </span>
          </>
        );
      })}
    </div>
  );
}
