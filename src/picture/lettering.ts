import { CAP_HEIGHT, glyphOf } from './glyphs.ts';
import type { Colour, Point, Raster } from './raster.ts';

/** How a text is drawn. */
export interface TextStyle {
  /** Height of capitals and digits, pixels. */
  readonly size: number;
  readonly colour: Colour;
  /** Width of the strokes, as a fraction of `size`. */
  readonly weight?: number;
}

const REGULAR = 0.14;
export const BOLD = 0.2;
/** Distance between two characters, in units of glyphs, with strokes of the regular weight. */
const GAP = 2.4;

/** Returns the width of a text in pixels, with its strokes. */
export function textWidth(text: string, { size, weight = REGULAR }: Omit<TextStyle, 'colour'>): number {
  if (text === '') return 0;
  const gaps = [...text].length - 1;
  const glyphs = [...text].reduce((sum, character) => sum + glyphOf(character).width, 0);
  return ((glyphs + gaps * gapOf(weight)) / CAP_HEIGHT + weight) * size;
}

/** Draws a text on one line. `at` is its left end on the baseline. */
export function drawText(
  raster: Raster,
  text: string,
  [x, y]: Point,
  { size, colour, weight = REGULAR }: TextStyle,
): void {
  const unit = size / CAP_HEIGHT;
  // The strokes of the first character begin at x.
  let left = x + (weight * size) / 2;
  for (const character of text) {
    const { width, strokes } = glyphOf(character);
    const lines = strokes.map((stroke) => stroke.map((point): Point => [left + point.x * unit, y - point.y * unit]));
    raster.stroke(lines, weight * size, colour);
    left += (width + gapOf(weight)) * unit;
  }
}

/** Heavier strokes take more room. */
function gapOf(weight: number): number {
  return GAP + (weight - REGULAR) * CAP_HEIGHT;
}
