import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Matrix } from '../data/page-answers.ts';
import { price, signedAmount } from '../page-format.ts';
import { themeVersion } from '../state/ui.ts';
import { AxisLabels, XAxis } from './axis-labels.tsx';
import { useSize } from './canvas.tsx';
import { expiryLabels, labelsAt, spacedLabels } from './chart-axis.ts';
import { CURSOR_CHART, chartKeys, pointerCursor, pointWithin, useSpoken } from './chart-cursor.tsx';
import {
  cellAt,
  type MatrixLayout,
  type MatrixPlace,
  type MatrixValues,
  matrixCells,
  matrixLayout,
  NEUTRAL_STEP,
  placeWithin,
  rampBounds,
  rampStep,
  yOfPrice,
} from './matrix-cells.ts';
import { describeMatrix, matrixReadout } from './matrix-text.ts';
import { spacedTicks } from './price-axis.ts';
import type { TermStructureProps } from './term-structure.tsx';

interface MatrixProps extends Pick<TermStructureProps, 'moment' | 'chosen' | 'onPick'> {
  readonly matrix: Matrix;
  /** The measure that the cells show, such as `Net gamma`. */
  readonly title: string;
  readonly unit: string;
  readonly cursor: MatrixPlace | null;
  onCursor(place: MatrixPlace | null): void;
}

/** Width of the price labels at the left edge, in pixels. */
const PRICES = 52;
/** `share` is the target height of the matrix as a share of the window's height. The matrix also has a minimum height in pixels. */
const HEIGHT = { share: 0.6, least: 300 } as const;
/** In a view that is at least `from` pixels wide, the matrix is as high as the window minus `around` pixels. */
const WIDE = { from: 1480, around: 300 } as const;
const LABEL_HEIGHT = 18;
/** In pixels: the minimum size of a cell for showing the sign of its value, and the minimum width for showing the value. */
const TEXT_FROM = { sign: 18, value: 54 } as const;

/** Renders exposure by strike (vertical) and expiry (horizontal) as cells in nine colours. Keys and the pointer move the cursor. */
export function MatrixChart({ matrix, moment, title, unit, chosen, cursor, onCursor, onPick }: MatrixProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const { values, strike: strikes, expiry, spot_price: spot } = matrix;
  const bounds = useMemo(() => rampBounds(values), [values]);
  const layout = matrixLayout(
    matrix.series_count,
    matrix.count,
    PRICES,
    size.width,
    (ref.current?.closest('.view')?.clientWidth ?? 0) < WIDE.from
      ? Math.max(HEIGHT.least, HEIGHT.share * innerHeight)
      : innerHeight - WIDE.around,
  );
  const height = layout.rows * layout.cellHeight;
  const y = (at: number) => yOfPrice(strikes, layout, at);
  const [low, high] = [strikes[0] ?? 0, strikes.at(-1) ?? 0];
  // All rows have the same height, so round prices are not evenly spaced. Labels that are too close to other labels are left out.
  const round = spacedTicks(low, high, height).toReversed();
  const shown = spacedLabels(
    round.map(y),
    round.map(() => LABEL_HEIGHT),
    0,
  ).filter((i) => y(round[i]!) > LABEL_HEIGHT / 2 && y(round[i]!) < height - LABEL_HEIGHT / 2);
  const axis = { low, high, height, y, priceAt: () => spot, ticks: shown.map((i) => round[i]!) };
  const centers = expiry.map((_, i) => PRICES + (i + 0.5) * layout.cellWidth);
  const [spoken, speak] = useSpoken();
  const description = useMemo(() => describeMatrix(matrix, title, moment, unit), [matrix, title, moment, unit]);
  const moveTo = (place: MatrixPlace) => {
    const next = placeWithin(place, layout.columns, layout.rows);
    onCursor(next);
    speak(matrixReadout(matrix, next, moment));
  };
  const onKeyDown = chartKeys(({ key }) => {
    const from = cursor ?? { column: -1, row: strikes.findIndex((each) => each >= spot) };
    const move = MOVES[key];
    if (move) moveTo({ column: from.column + move[0], row: from.row + move[1] });
    else if (key === 'Enter' && cursor) onPick(expiry[cursor.column]!);
    else return false;
  });
  const placeOf = (event: MouseEvent) => {
    const { x, y: down } = pointWithin(event);
    return cellAt(layout, x, down);
  };
  if (matrix.count === 0) return <p class="empty">No strike lies within this band around spot.</p>;
  return (
    <div class="chart matrix" data-chart="matrix">
      <Ramp bounds={bounds} unit={unit} />
      <div
        ref={ref}
        class="plot"
        {...CURSOR_CHART}
        aria-label={`${description} Arrow keys move from cell to cell, Enter picks the expiry.`}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
        {...pointerCursor(placeOf, onCursor)}
        onDblClick={(event) => onPick(expiry[placeOf(event).column]!)}
        onBlur={() => onCursor(null)}
      >
        {size.width > 0 && <Cells values={values} bounds={bounds} layout={layout} />}
        <AxisLabels axis={axis} />
        {expiry.map(
          (each, column) =>
            each === chosen && (
              <i
                class="chosen-column"
                style={{ left: `${PRICES + column * layout.cellWidth}px`, width: `${layout.cellWidth}px` }}
              />
            ),
        )}
        {spot >= low && spot <= high && (
          <>
            <i class="spot-line" style={{ top: `${y(spot)}px` }} />
            <span
              data-label
              class="rule-name"
              style={{ top: `${Math.max(LABEL_HEIGHT / 2, Math.min(height - LABEL_HEIGHT / 2, y(spot)))}px` }}
              aria-hidden="true"
            >
              spot {price(spot)}
            </span>
          </>
        )}
        {cursor && (
          <i
            class="cell-cursor"
            style={{
              left: `${PRICES + cursor.column * layout.cellWidth}px`,
              top: `${(layout.rows - 1 - cursor.row) * layout.cellHeight}px`,
              width: `${layout.cellWidth}px`,
              height: `${layout.cellHeight}px`,
            }}
          />
        )}
      </div>
      <XAxis labels={labelsAt(centers, expiryLabels(expiry, moment), size.width, 2)} center={0} />
      {spoken}
    </div>
  );
}

const MOVES: Readonly<Record<string, readonly [right: number, up: number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [0, 10],
  PageDown: [0, -10],
  Home: [Number.NEGATIVE_INFINITY, 0],
  End: [Number.POSITIVE_INFINITY, 0],
};

/** Renders the cells on a canvas. */
function Cells({ values, bounds, layout }: { values: MatrixValues; bounds: readonly number[]; layout: MatrixLayout }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const version = themeVersion.value;
  const { left, cellWidth, cellHeight, columns, rows } = layout;
  useEffect(() => {
    const canvas = ref.current!;
    const [width, height, ratio] = [left + cellWidth * columns, cellHeight * rows, devicePixelRatio || 1];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d')!;
    context.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const ramp = Array.from({ length: 2 * NEUTRAL_STEP + 1 }, (_, step) => color(`--ramp-${step}`));
    hatch(context, left, width, height, color('--border'));
    context.font = `11px ${style.fontFamily}`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    // A cell has whole pixels of the device, so that no line is between two cells.
    const edge = (at: number) => Math.round(at * ratio) / ratio;
    for (const { value, x, y } of matrixCells(values, layout)) {
      const fill = ramp[rampStep(value, bounds)]!;
      context.fillStyle = fill;
      context.fillRect(edge(x), edge(y), edge(x + cellWidth) - edge(x), edge(y + cellHeight) - edge(y));
      if (value === 0 || Math.min(cellHeight, cellWidth) < TEXT_FROM.sign) continue;
      context.fillStyle = isLight(fill) ? '#000' : '#fff';
      const text = cellWidth >= TEXT_FROM.value ? signedAmount(value) : value > 0 ? '+' : '−';
      context.fillText(text, x + cellWidth / 2, y + cellHeight / 2);
    }
  }, [values, bounds, left, cellWidth, cellHeight, columns, rows, version]);
  return <canvas ref={ref} class="cells" aria-hidden="true" />;
}

/** Draws a hatched background, which is visible in cells without a contract. */
function hatch(context: CanvasRenderingContext2D, left: number, right: number, bottom: number, color: string): void {
  context.strokeStyle = color;
  context.globalAlpha = 0.5;
  context.beginPath();
  for (let x = left; x < right + bottom; x += 6) {
    context.moveTo(x, 0);
    context.lineTo(x - bottom, bottom);
  }
  context.stroke();
  context.globalAlpha = 1;
  context.clearRect(0, 0, left, bottom);
}

/** Returns true if black text on the colour `#rrggbb` has more contrast than white text. */
function isLight(color: string): boolean {
  const value = Number.parseInt(color.slice(1), 16);
  const [red, green, blue] = [value >> 16, (value >> 8) & 255, value & 255];
  return 0.2126 * (red / 255) ** 2.2 + 0.7152 * (green / 255) ** 2.2 + 0.0722 * (blue / 255) ** 2.2 > 0.18;
}

/** Renders the legend: the range of values of each colour step. */
function Ramp({ bounds, unit }: { bounds: readonly number[]; unit: string }) {
  const text = (value: number) => signedAmount(value).replace(/\.0+(?=\D|$)/, '');
  const texts = [
    ...bounds.toReversed().map((each) => `≤ ${text(-each)}`),
    'near 0',
    ...bounds.map((each) => `≥ ${text(each)}`),
  ];
  return (
    <ul class="legend small" aria-label={`Steps of the colours, ${unit}`}>
      {bounds.length > 0 &&
        texts.map((text, step) => (
          <li key={text}>
            <i style={{ background: `var(--ramp-${step})` }} />
            <span data-label>{text}</span>
          </li>
        ))}
      <li>
        <i class="ramp-blank" />
        <span data-label>no contract</span>
      </li>
    </ul>
  );
}
