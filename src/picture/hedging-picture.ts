import { compactCount, fullPrice, roundTicks, shortPrice, signedCount, signedMove } from './axis-figures.ts';
import { BOLD, drawText, type TextStyle, textWidth } from './lettering.ts';
import { MoveScale, placed } from './move-scale.ts';
import { type Colour, Raster } from './raster.ts';

/** What dealers trade if spot moves, for a picture. */
export interface HedgingFigures {
  readonly ticker: string;
  /** The present spot, dollars. */
  readonly spot: number;
  /** The spot at which net gamma changes its sign, dollars. Undefined if it does not. */
  readonly flip: number | undefined;
  /** The expiry of the contracts: all, 0dte or a date. */
  readonly expiry: string;
  /** At least one row, by move, ascending: the move in percent, the spot in dollars, and the shares that dealers buy (+) or sell (-). */
  readonly rows: readonly MoveFigures[];
  /** The assumption about the dealers' positions. */
  readonly assumption: string;
  readonly source: string;
  readonly simulated: boolean;
  /** When the quotes were taken, ISO 8601. */
  readonly asOf: string;
}

interface MoveFigures {
  readonly move: number;
  readonly spot: number;
  readonly shares: number;
}

/** Size of the picture in pixels. Texts are legible if it is shown at half this size. */
const [WIDTH, HEIGHT] = [960, 560];
const MARGIN = 24;
/** The rectangle of the bars. */
const PLOT = { left: 90, right: WIDTH - 16, top: 184, bottom: 446 };
/** Distance of texts beside the edges of the picture from these edges. */
const EDGE = 6;
/** Upper end of the lines at the present spot and at the flip, the lengths of the dashes, and the distance between the labels. */
const MARK_TOP = PLOT.top - 22;
const DASH = 7;
const DASH_GAP = 5;
const MARK_GAP = 18;
/** Room between the longest bar and the edge of the plot, for its value. */
const VALUE_ROOM = 30;
/** Number of parts into which the numbers of shares divide the plot, at most. */
const TICK_PARTS = 6;
/** Distance between two labels of the axis of moves. */
const LABEL_GAP = 6;
const BAR_WIDTH_MAX = 96;
const BAR_SHARE = 0.72;

const WHITE: Colour = [255, 255, 255];
const INK: Colour = [31, 41, 51];
const FAINT_INK: Colour = [82, 96, 109];
const GRID: Colour = [226, 230, 235];
/** Blue and vermilion of Okabe and Ito, which people with any colour vision can tell apart. */
export const BUY: Colour = [0, 114, 178];
export const SELL: Colour = [213, 94, 0];
const FLIP: Colour = [106, 61, 154];

const TITLE: TextStyle = { size: 25, colour: INK, weight: 0.17 };
const PLAIN: TextStyle = { size: 16, colour: INK };
const FAINT: TextStyle = { size: 16, colour: FAINT_INK };
const PRICE: TextStyle = { size: 14.5, colour: FAINT_INK };
const VALUE: TextStyle = { size: 14, colour: INK, weight: 0.15 };

/** Draws what dealers trade over moves of spot as a PNG: a bar for each move, up if they buy, down if they sell. */
export function hedgingPicture(figures: HedgingFigures): Uint8Array {
  const raster = new Raster(WIDTH, HEIGHT, WHITE);
  const { rows } = figures;
  const scale = new MoveScale(
    rows.map(({ move }) => move),
    PLOT.left,
    PLOT.right,
  );
  const yOf = sharesScale(rows);
  drawHead(raster, figures);
  drawShareAxis(raster, yOf);
  drawMoves(raster, rows, scale);
  drawBars(raster, rows, scale, yOf);
  drawMarks(raster, figures, scale);
  drawValues(raster, rows, scale, yOf);
  drawFoot(raster, figures, scale);
  return raster.toPng();
}

/** Positions of numbers of shares in the plot. */
interface SharesScale {
  /** The least and the largest number of a bar, and 0. */
  readonly low: number;
  readonly high: number;
  y(shares: number): number;
}

function sharesScale(rows: readonly MoveFigures[]): SharesScale {
  const shares = rows.map((row) => row.shares);
  const [least, most] = [Math.min(0, ...shares), Math.max(0, ...shares)];
  // If dealers trade nothing, zero is in the middle.
  const [down, up] = least === most ? [-1, 1] : [least, most];
  const above = up > 0 ? VALUE_ROOM : 0;
  const below = down < 0 ? VALUE_ROOM : 0;
  const perPixel = (up - down) / (PLOT.bottom - PLOT.top - above - below);
  return {
    low: least,
    high: most,
    y: (value) => PLOT.top + above + (up - value) / perPixel,
  };
}

function drawHead(raster: Raster, { ticker, expiry, source, simulated, asOf }: HedgingFigures): void {
  drawText(raster, `${ticker}: what dealers trade if spot moves`, [MARGIN, 49], TITLE);
  const moment = `${asOf.slice(0, 10)} ${asOf.slice(11, 16)} UTC`;
  const expiries = expiry === 'all' ? 'all expiries' : expiry === '0dte' ? 'expiring today' : `expiry ${expiry}`;
  drawText(raster, fitted(`As of ${moment}, ${expiries}, source `, source, WIDTH - 2 * MARGIN), [MARGIN, 82], FAINT);
  if (simulated) drawBadge(raster, 'SIMULATED');
  let x: number = MARGIN;
  for (const [colour, text] of [
    [BUY, 'Dealers buy'],
    [SELL, 'Dealers sell'],
  ] as const) {
    raster.fill([x, 102], [x + 16, 118], colour);
    drawText(raster, text, [x + 24, 118], PLAIN);
    x += 24 + textWidth(text, PLAIN) + 28;
  }
  drawText(raster, '(shares, K thousand, M million)', [x - 8, 118], FAINT);
}

/** Returns a text with an end that is cut at its beginning if the text is wider than `width`: the end of a path is its most specific part. */
function fitted(text: string, end: string, width: number): string {
  for (let cut = 0; cut < end.length; cut++) {
    const shown = cut === 0 ? `${text}${end}` : `${text}...${end.slice(cut)}`;
    if (textWidth(shown, FAINT) <= width) return shown;
  }
  return text;
}

/** Draws a label in the upper right corner. */
function drawBadge(raster: Raster, text: string): void {
  const style: TextStyle = { size: 19, colour: WHITE, weight: BOLD };
  const width = textWidth(text, style) + 24;
  raster.fill([WIDTH - MARGIN - width, 22], [WIDTH - MARGIN, 56], INK);
  drawText(raster, text, [WIDTH - MARGIN - width + 12, 48.5], style);
}

function drawShareAxis(raster: Raster, { low, high, y }: SharesScale): void {
  for (const tick of roundTicks(low, high, TICK_PARTS)) {
    const at = Math.round(y(tick));
    raster.fill([PLOT.left, at], [PLOT.right, at + 1], GRID);
    const label = compactCount(tick);
    drawText(raster, label, [PLOT.left - 12 - textWidth(label, FAINT), at + FAINT.size / 2], FAINT);
  }
}

/** Draws the moves and the spots below the bars. */
function drawMoves(raster: Raster, rows: readonly MoveFigures[], scale: MoveScale): void {
  for (let i = 0; i < rows.length; i++) {
    const x = scale.center(i);
    raster.fill([x - 0.5, PLOT.bottom], [x + 0.5, PLOT.bottom + 6], FAINT_INK);
  }
  const moves = rows.map(({ move }) => signedMove(move));
  const prices = rows.map(({ spot }) => shortPrice(spot));
  drawLabels(raster, moves, scale, PLOT.bottom + 28, PLAIN);
  drawLabels(raster, prices, scale, PLOT.bottom + 52, PRICE);
}

/** Draws a label for each slot. If the slots are too narrow, only each second slot has a label, or each third, and so on. */
function drawLabels(raster: Raster, labels: readonly string[], scale: MoveScale, y: number, style: TextStyle): void {
  const widest = Math.max(...labels.map((label) => textWidth(label, style)));
  const each = Math.ceil((widest + LABEL_GAP) / scale.slot);
  labels.forEach((label, i) => {
    if (i % each !== 0) return;
    const width = textWidth(label, style);
    drawText(raster, label, [Math.min(WIDTH - EDGE - width, scale.center(i) - width / 2), y], style);
  });
}

function drawBars(raster: Raster, rows: readonly MoveFigures[], scale: MoveScale, { y }: SharesScale): void {
  const half = Math.min(BAR_WIDTH_MAX, BAR_SHARE * scale.slot) / 2;
  const zero = Math.round(y(0));
  rows.forEach(({ shares }, i) => {
    const x = scale.center(i);
    if (shares !== 0) raster.fill([x - half, zero], [x + half, y(shares)], shares > 0 ? BUY : SELL);
  });
  raster.fill([PLOT.left, zero - 1], [PLOT.right, zero + 1], FAINT_INK);
}

/** Draws vertical lines at the present spot and at the flip, each with its label above the plot. */
function drawMarks(raster: Raster, { spot, flip }: HedgingFigures, scale: MoveScale): void {
  const x = scale.x(0)!;
  raster.fill([x - 1, MARK_TOP], [x + 1, PLOT.bottom], INK);
  const marks = [{ x, text: `spot ${fullPrice(spot)}`, style: PLAIN }];
  const flipX = flip && scale.x(moveTo(flip, spot));
  if (flip && flipX !== undefined) {
    for (let top = MARK_TOP; top < PLOT.bottom; top += DASH + DASH_GAP) {
      raster.fill([flipX - 1, top], [flipX + 1, Math.min(PLOT.bottom, top + DASH)], FLIP);
    }
    marks.push({ x: flipX, text: `flip ${fullPrice(flip)}`, style: { ...PLAIN, colour: FLIP } });
  }
  const labels = marks
    .map((mark) => ({ ...mark, width: textWidth(mark.text, mark.style) }))
    .toSorted((one, other) => one.x - other.x);
  const lefts = placed(labels, PLOT.left, PLOT.right, MARK_GAP);
  labels.forEach(({ text, style }, i) => {
    drawText(raster, text, [lefts[i]!, MARK_TOP - 8], style);
  });
}

function moveTo(price: number, spot: number): number {
  return 100 * (price / spot - 1);
}

/** Draws the shares of each bar beyond its end. If the bars are dense, only the longest bar of each side has a value. */
function drawValues(raster: Raster, rows: readonly MoveFigures[], scale: MoveScale, { y }: SharesScale): void {
  const texts = rows.map(({ shares }) => signedCount(shares));
  const fit = Math.max(...texts.map((text) => textWidth(text, VALUE))) <= scale.slot - 2;
  const most = Math.max(...rows.map(({ shares }) => shares));
  const least = Math.min(...rows.map(({ shares }) => shares));
  rows.forEach(({ move, shares }, i) => {
    // Without a move there is no bar, and the line of the present spot is in its place.
    if (move === 0) return;
    if (!fit && !(shares === most && shares > 0) && !(shares === least && shares < 0)) return;
    const text = texts[i]!;
    const width = textWidth(text, VALUE);
    const x = Math.max(PLOT.left, Math.min(PLOT.right - width, scale.center(i) - width / 2));
    const baseline = y(shares) + (shares < 0 ? VALUE.size + 9 : -9);
    // The ground of the text hides lines behind it.
    raster.fill([x - 1, baseline - VALUE.size - 3], [x + width + 1, baseline + 3], WHITE);
    drawText(raster, text, [x, baseline], VALUE);
  });
}

function drawFoot(raster: Raster, { assumption, flip, spot }: HedgingFigures, scale: MoveScale): void {
  const isShown = flip !== undefined && scale.x(moveTo(flip, spot)) !== undefined;
  const beyond = flip === undefined ? 'No gamma flip within 50%.' : `Gamma flip at ${fullPrice(flip)}.`;
  drawText(raster, isShown ? assumption : `${assumption} ${beyond}`, [MARGIN, HEIGHT - 22], FAINT);
}
