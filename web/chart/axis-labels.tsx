import { amount, signedAmount, strikeText } from '../page-format.ts';
import type { ChartLevel } from './chart-levels.ts';
import { cursorPrice } from './crosshair.ts';
import { placeLabels } from './place-labels.ts';
import { isWithin, type PriceAxis } from './price-axis.ts';

/** Half of the height of a price at the left edge, pixels. */
const HALF = 7;

/** The prices at the left edge of a chart, but for those that its upper or lower edge would cut. Screen readers read the table instead. */
export function AxisLabels({ axis }: { axis: PriceAxis }) {
  return (
    <div class="y-axis" aria-hidden="true">
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

/** The price under the cursor, in all charts of a price axis. */
export function Crosshair({ axis }: { axis: PriceAxis }) {
  const at = cursorPrice.value;
  return at !== null && isWithin(axis, at) ? <div class="crosshair" style={{ top: `${axis.y(at)}px` }} /> : null;
}

/** The exposures at the ends of a horizontal axis, and its zero. `left` and `middle` are positions, pixels. */
export function ExtentAxis({ left, middle, extent }: { left: number; middle: number; extent: number }) {
  return (
    <div class="x-axis" aria-hidden="true">
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

/** Height of a label of a level, pixels. */
const LABEL = 19;
/** A label that stands further from its rule than this gets a leader line, pixels. */
const LEADER_FROM = 12;

/** The names of the levels at the right edge, pushed apart so that none covers another. */
export function LevelLabels({
  levels,
  axis,
  isNarrow,
}: {
  levels: readonly ChartLevel[];
  axis: Pick<PriceAxis, 'low' | 'high' | 'height' | 'y'>;
  isNarrow: boolean;
}) {
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
