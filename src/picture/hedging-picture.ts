import { compactCount, fullPrice, roundTicks, shortPrice, signedCount, signedMove } from './axis-figures.ts';
import { MoveScale, placed } from './move-scale.ts';
import {
  box,
  element,
  FAINT_INK,
  GRID,
  INK,
  MARGIN,
  segment,
  svgPicture,
  TEXT_SIZE,
  textAt,
  textWidth,
  WHITE,
} from './svg.ts';

/** The figures for a picture of the shares that dealers trade if spot moves. */
export interface HedgingFigures {
  readonly ticker: string;
  /** The current spot price, dollars. */
  readonly spot: number;
  /** The spot at which net gamma changes its sign, dollars. Undefined if the sign does not change. */
  readonly flip: number | undefined;
  /** The expiries of the contracts, as the option `expiries` names them. */
  readonly expiry: string;
  /** Rows in ascending order of move: the move in percent, the spot in dollars, and the shares that dealers buy (+) or sell (-). */
  readonly rows: readonly MoveFigures[];
  /** The assumption about the dealers' positions. */
  readonly assumption: string;
  readonly source: string;
  readonly simulated: boolean;
  /** The time of the quotes, ISO 8601. */
  readonly asOf: string;
}

interface MoveFigures {
  readonly move: number;
  readonly spot: number;
  readonly shares: number;
}

/** Width and height of the picture, pixels. */
const [WIDTH, HEIGHT] = [960, 560];
/** The rectangle that contains the bars. */
const PLOT = { left: 90, right: WIDTH - 16, top: 184, bottom: 446 };
/** Distance between the picture's edge and a text near the edge, pixels. */
const EDGE = 6;
/** Upper end of the lines at the present spot and at the flip. The second constant is the minimum distance between the two labels. */
const MARK_TOP = PLOT.top - 22;
const MARK_GAP = 18;
/** Distance between the longest bar and the edge of the plot. The number at the end of the bar is in this space. */
const VALUE_ROOM = 30;
/** Maximum number of intervals on the axis of shares. */
const TICK_PARTS = 6;
/** Minimum distance between two labels on the axis of moves. */
const LABEL_GAP = 6;
const BAR_WIDTH_MAX = 96;
const BAR_SHARE = 0.72;
/** Font size of prices and bar values. With this font size, twelve values of six characters fit into one row. */
const SMALL_SIZE = 18;

/** Blue and vermilion from the palette of Okabe and Ito. People with any colour vision can tell these colours apart. */
export const BUY = '#0072b2';
export const SELL = '#d55e00';
export const FLIP = '#6a3d9a';

/** The words for choices of expiries that are no date and no number of days. */
const EXPIRIES: Readonly<Record<string, string>> = {
  all: 'all expiries',
  '0dte': 'expiring today',
  session: 'expiring in the session',
};

/** Draws an SVG with the shares that dealers trade for each move of spot. A bar points up if dealers buy, and down if dealers sell. */
export function hedgingPicture(figures: HedgingFigures): string {
  const { ticker, expiry, source, simulated, asOf, assumption, flip, rows } = figures;
  const moves = rows.map(({ move }) => move);
  const scale = new MoveScale(moves, PLOT.left, PLOT.right);
  const yOf = sharesScale(rows);
  const moment = `${asOf.slice(0, 10)} ${asOf.slice(11, 16)} UTC`;
  const expiries =
    EXPIRIES[expiry] ?? (expiry.startsWith('next:') ? `next ${expiry.slice(5)} days` : `expiry ${expiry}`);
  const isFlipShown = flip !== undefined && scale.x(moveTo(flip, figures.spot)) !== undefined;
  const beyond = flip === undefined ? ' No gamma flip within 50%.' : ` Gamma flip at ${fullPrice(flip)}.`;
  return svgPicture(
    {
      width: WIDTH,
      height: HEIGHT,
      title: `${ticker}: what dealers trade if spot moves`,
      subtitle: `As of ${moment}, ${expiries}, source `,
      source,
      note: isFlipShown ? assumption : `${assumption}${beyond}`,
      simulated,
    },
    [
      ...legend(),
      ...shareAxis(yOf),
      ...moveAxis(rows, scale),
      ...bars(rows, scale, yOf),
      ...marks(figures, scale),
      ...values(rows, scale, yOf),
    ],
  );
}

type SharesScale = ReturnType<typeof sharesScale>;

/** Creates the scale that converts numbers of shares to vertical positions in the plot. */
function sharesScale(rows: readonly MoveFigures[]) {
  const shares = rows.map((row) => row.shares);
  const [least, most] = [Math.min(0, ...shares), Math.max(0, ...shares)];
  // If dealers trade no shares, zero is in the middle of the axis.
  const [down, up] = least === most ? [-1, 1] : [least, most];
  const above = up > 0 ? VALUE_ROOM : 0;
  const below = down < 0 ? VALUE_ROOM : 0;
  const perPixel = (up - down) / (PLOT.bottom - PLOT.top - above - below);
  return {
    /** The ends of the range that contains 0 and all bars, in shares. */
    low: least,
    high: most,
    y: (value: number) => PLOT.top + above + (up - value) / perPixel,
  };
}

function legend(): string[] {
  let x: number = MARGIN;
  const entries = [
    [BUY, 'Dealers buy'],
    [SELL, 'Dealers sell'],
  ].flatMap(([colour, text]) => {
    const left = x;
    x += 24 + textWidth(text!, TEXT_SIZE) + MARGIN;
    return [box(left, 102, 16, 16, colour!), textAt(left + 24, 118, text!)];
  });
  return [...entries, textAt(x - 8, 118, '(shares, K thousand, M million)', { fill: FAINT_INK })];
}

function shareAxis({ low, high, y }: SharesScale): string[] {
  const style = { 'text-anchor': 'end', fill: FAINT_INK };
  return roundTicks(low, high, TICK_PARTS).flatMap((tick) => [
    segment(PLOT.left, y(tick), PLOT.right, y(tick), { stroke: GRID, 'stroke-width': 1 }),
    textAt(PLOT.left - 12, y(tick) + 0.35 * TEXT_SIZE, compactCount(tick), style),
  ]);
}

/** Returns labels with the moves and the spots below the bars. */
function moveAxis(rows: readonly MoveFigures[], scale: MoveScale): string[] {
  const ticks = rows.map((_, i) => {
    const x = scale.center(i);
    return segment(x, PLOT.bottom, x, PLOT.bottom + 6, { stroke: FAINT_INK });
  });
  const moves = rows.map(({ move }) => signedMove(move));
  const prices = rows.map(({ spot }) => shortPrice(spot));
  const widths = rows.map((_, i) => Math.max(textWidth(moves[i]!, TEXT_SIZE), textWidth(prices[i]!, SMALL_SIZE)));
  // If the slots are too narrow, only every second slot, every third slot, and so on has a label.
  const each = Math.ceil((Math.max(...widths) + LABEL_GAP) / scale.slot);
  const labels = rows.flatMap((_, i) => {
    if (i % each !== 0) return [];
    const x = Math.min(WIDTH - EDGE - widths[i]! / 2, scale.center(i));
    const style = { 'font-size': SMALL_SIZE, fill: FAINT_INK };
    return [textAt(x, PLOT.bottom + 28, moves[i]!), textAt(x, PLOT.bottom + 52, prices[i]!, style)];
  });
  return [...ticks, element('g', { 'text-anchor': 'middle' }, ...labels)];
}

function bars(rows: readonly MoveFigures[], scale: MoveScale, { y }: SharesScale): string[] {
  const width = Math.round(Math.min(BAR_WIDTH_MAX, BAR_SHARE * scale.slot));
  const zero = Math.round(y(0));
  const drawn = rows.flatMap(({ shares }, i) => {
    const top = Math.min(zero, y(shares));
    const left = Math.round(scale.center(i) - width / 2);
    return shares === 0 ? [] : [box(left, top, width, Math.abs(y(shares) - zero), shares > 0 ? BUY : SELL)];
  });
  return [...drawn, segment(PLOT.left, zero, PLOT.right, zero, { stroke: FAINT_INK })];
}

/** Returns labelled vertical lines at the present spot and at the flip. The labels are above the plot. */
function marks({ spot, flip }: HedgingFigures, scale: MoveScale): string[] {
  const found = [
    { x: scale.x(0)!, text: `spot ${fullPrice(spot)}`, stroke: INK },
    ...(flip === undefined
      ? []
      : [{ x: scale.x(moveTo(flip, spot)), text: `flip ${fullPrice(flip)}`, stroke: FLIP, 'stroke-dasharray': '7 5' }]),
  ];
  const shown = found
    .flatMap((mark) => (mark.x === undefined ? [] : [{ ...mark, x: mark.x, width: textWidth(mark.text, TEXT_SIZE) }]))
    .toSorted((one, other) => one.x - other.x);
  const lefts = placed(shown, PLOT.left, PLOT.right, MARK_GAP);
  return shown.flatMap(({ x, text, width, ...style }, i) => [
    segment(x, MARK_TOP, x, PLOT.bottom, style),
    textAt(lefts[i]! + width / 2, MARK_TOP - 8, text, { 'text-anchor': 'middle', fill: style.stroke }),
  ]);
}

function moveTo(price: number, spot: number): number {
  return 100 * (price / spot - 1);
}

/** Returns the numbers of shares at the ends of the bars. If the bars are dense, only the longest bars up and down have a number. */
function values(rows: readonly MoveFigures[], scale: MoveScale, { y, low, high }: SharesScale): string[] {
  const texts = rows.map(({ shares }) => signedCount(shares));
  const widths = texts.map((text) => textWidth(text, SMALL_SIZE));
  const fit = Math.max(...widths) <= scale.slot;
  const drawn = rows.flatMap(({ move, shares }, i) => {
    // A move of 0 has no number, because the line of the present spot is at the position of this move.
    if (move === 0) return [];
    if (!fit && (shares === 0 || (shares !== low && shares !== high))) return [];
    const half = widths[i]! / 2;
    const x = Math.max(PLOT.left + half, Math.min(PLOT.right - half, scale.center(i)));
    const baseline = y(shares) + (shares < 0 ? 22 : -9);
    // A white rectangle hides the lines behind the text. Letters with white outlines would take 3 to 5 ms longer.
    return [box(x - half, baseline - 16, 2 * half, 19, WHITE), textAt(x, baseline, texts[i]!)];
  });
  return [element('g', { 'font-size': SMALL_SIZE, 'text-anchor': 'middle' }, ...drawn)];
}
