import { percent, price, signedAmount, strikeText } from '../page-format.ts';
import type { ChartLevel } from './chart-levels.ts';
import { placeLabels } from './place-labels.ts';
import { cursorPrice, isWithin, type PriceAxis } from './price-axis.ts';

/** Width of the price labels at the left edge, in pixels: `123,456` has room. */
export const LABELS_WIDTH = 52;
/** Minimum width of a chart that shows the full names of levels, in pixels. */
export const NAMES_FROM = 420;
/** Width of the names of levels at the right edge, in pixels: `call wall 4,000` has room. */
export const NAMES_WIDTH = 104;
/** Half the height of a price label at the left edge, in pixels. */
const HALF = 7;
/** Half the height of the tag at the crosshair, in pixels. */
const TAG = 9;

interface AxisLabelsProps {
  readonly axis: PriceAxis;
  /** Places on the axis that other labels have, in pixels from the top. */
  readonly taken?: readonly number[];
}

/** Renders the price labels at the left edge. A label that does not fit is left out. Screen readers read the table, not the labels. */
export function AxisLabels({ axis, taken = [] }: AxisLabelsProps) {
  return (
    <div class="y-axis small" aria-hidden="true">
      {axis.ticks.map((tick) => {
        const y = axis.y(tick);
        return (
          y > HALF &&
          y < axis.height - HALF &&
          taken.every((each) => Math.abs(each - y) > HALF + TAG + 2) && (
            <span data-label key={tick} style={{ top: `${y}px` }}>
              {strikeText(tick)}
            </span>
          )
        );
      })}
    </div>
  );
}

/** Renders a line at the price of the cursor, and a tag with this price on the axis. */
export function Crosshair({ axis }: { axis: PriceAxis }) {
  const at = cursorPrice.value;
  return at !== null && isWithin(axis, at) ? (
    <CrosshairAt y={axis.y(at)} height={axis.height} text={price(at)} />
  ) : null;
}

/** Renders a horizontal line through a plot, and a tag with the value at the axis. No edge of the plot cuts the tag. */
export function CrosshairAt({ y, height, text }: { y: number; height: number; text: string }) {
  return (
    <>
      <div class="crosshair" style={{ top: `${y}px` }} />
      <span class="price-tag small" aria-hidden="true" style={{ top: `${Math.max(TAG, Math.min(height - TAG, y))}px` }}>
        {text}
      </span>
    </>
  );
}

interface ExtentAxisProps {
  /** The positions of the ends, in pixels. */
  readonly left: number;
  readonly right: number;
  /** The amount at the right end. The left end has the same amount below zero. */
  readonly extent: number;
  /** What the axis measures, with its unit. */
  readonly title: string;
}

/** Minimum distance between two labels of a horizontal axis, in pixels. */
const APART = 68;

/** Returns the ticks of an axis from -extent to extent as shares of the extent: both ends, zero, and the halves if they have room. */
export function extentTicks(left: number, right: number): readonly number[] {
  return right - left >= 4 * APART ? [-1, -0.5, 0, 0.5, 1] : [-1, 0, 1];
}

/** Renders the labels of a horizontal axis of amounts, and its title. */
export function ExtentAxis({ left, right, extent, title }: ExtentAxisProps) {
  const ticks = right > left ? extentTicks(left, right) : [];
  return (
    <XAxis
      labels={ticks.map((share) => ({
        x: left + ((1 + share) / 2) * (right - left),
        text: signedAmount(share * extent),
        anchor: share === -1 ? 'start' : share === 1 ? 'end' : 'middle',
      }))}
      title={title}
      center={(left + right) / 2}
    />
  );
}

interface XAxisProps {
  readonly labels: readonly { readonly x: number; readonly text: string; readonly anchor?: string }[];
  readonly title?: string | undefined;
  /** The position of the title, in pixels. */
  readonly center: number;
}

/** Renders the labels of a horizontal axis below a plot. A label is in the middle of its position unless it has another anchor. */
export function XAxis({ labels, title, center }: XAxisProps) {
  return (
    <div class={`x-axis ${title ? 'titled' : ''} small`} aria-hidden="true">
      {labels.map(({ x, text, anchor = 'middle' }) => (
        <span data-label key={x} class={anchor} style={{ left: `${x}px` }}>
          {text}
        </span>
      ))}
      {title && (
        <span data-label class="middle axis-title" style={{ left: `${center}px` }}>
          {title}
        </span>
      )}
    </div>
  );
}

/** Renders an SVG line for each level within the axis. */
export function LevelRules({ levels, axis, width }: { levels: readonly ChartLevel[]; axis: PriceAxis; width: number }) {
  const visible = levels.filter((level) => isWithin(axis, level.price));
  return visible.map(({ id, tone, dash, price: at }) => {
    const y = axis.y(at);
    return <line key={id} class={`rule ${tone} ${dash}`} x1={LABELS_WIDTH} x2={width} y1={y} y2={y} />;
  });
}

/** Height of a level's label, in pixels. */
const LABEL = 19;
/** Height of the button for a level beyond the axis, in pixels: with a mouse, and with a finger. */
const CHIP = { fine: 26, coarse: 46 } as const;
/** If a label is farther than this from its level, in pixels, a line connects the label to the level. */
const LEADER_FROM = 12;

interface LevelLabelsProps {
  readonly levels: readonly ChartLevel[];
  readonly axis: Pick<PriceAxis, 'low' | 'high' | 'height' | 'y'>;
  readonly isNarrow: boolean;
  /** Moves the axis to a level beyond its ends. */
  onGo(level: ChartLevel): void;
  /** Puts the axis back after such a move. Undefined if the axis has not been moved. */
  readonly onReset?: (() => void) | undefined;
}

/**
 * Renders the names of the levels at the right edge, moved apart so that no two names overlap. A level beyond the axis is a button at the
 * nearest end, with its distance from spot. The button moves the axis to the level.
 */
export function LevelLabels({ levels, axis, isNarrow, onGo, onReset }: LevelLabelsProps) {
  const { low, high, height } = axis;
  const chip = globalThis.matchMedia?.('(pointer: coarse)').matches ? CHIP.coarse : CHIP.fine;
  const spot = levels.find(({ id }) => id === 'spot_price')?.price ?? Number.NaN;
  const isShown = (price: number) => isWithin({ low, high }, price);
  // A level beyond an end has its place at this end. The levels beyond one end are in the order of their prices.
  const place = (y: number) => (y < 0 ? 1e-6 * y : y > height ? height + 1e-6 * (y - height) : y);
  const places = levels.map(({ price }) => ({ at: place(axis.y(price)), size: isShown(price) ? LABEL : chip }));
  const centers = placeLabels([...places, ...(onReset ? [{ at: 2 * height, size: chip }] : [])], 0, height);
  return (
    <div class="level-labels">
      {levels.map((level, i) => {
        const { id, name, initials, text, tone, price } = level;
        const [center, at] = [centers[i]!, axis.y(price)];
        const words = `${isNarrow ? initials : name} ${text}`;
        if (!isShown(price)) {
          const distance = 100 * (price / spot - 1);
          const away = distance === 0 ? '' : ` ${percent(distance, Math.abs(distance) < 10 ? 1 : 0)}`;
          return (
            <Chip
              key={id}
              tone={tone}
              center={center}
              label={`Move the axis to ${name} ${text}`}
              onPress={() => onGo(level)}
            >
              {`${words} ${price > high ? '▲' : '▼'}${away}`}
            </Chip>
          );
        }
        return (
          <>
            {Math.abs(center - at) > LEADER_FROM && (
              <i class="leader" style={{ top: `${Math.min(center, at)}px`, height: `${Math.abs(center - at)}px` }} />
            )}
            <span data-label aria-hidden="true" key={id} class={`level ${tone}`} style={{ top: `${center}px` }}>
              {words}
            </span>
          </>
        );
      })}
      {onReset && (
        <Chip tone="muted" center={centers.at(-1)!} label="Back to the usual range" onPress={onReset}>
          usual range
        </Chip>
      )}
    </div>
  );
}

interface ChipProps {
  readonly tone: string;
  readonly center: number;
  readonly label: string;
  readonly children: string;
  onPress(): void;
}

/** Renders a small button on a plot. The plot does not get its presses and keys. */
function Chip({ tone, center, label, children, onPress }: ChipProps) {
  const stop = (event: Event) => event.stopPropagation();
  return (
    <button
      type="button"
      data-label
      class={`level chip ${tone}`}
      style={{ top: `${center}px` }}
      aria-label={`${children}. ${label}`}
      title={label}
      onClick={onPress}
      onDblClick={stop}
      onPointerDown={stop}
      onKeyDown={(event) => (event.key === 'Enter' || event.key === ' ') && stop(event)}
    >
      {children}
    </button>
  );
}
