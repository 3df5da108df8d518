import { encodePng } from './png.ts';

/** Red, green and blue, 0 to 255 (sRGB). */
export type Colour = readonly [red: number, green: number, blue: number];

/** A point in pixels from the left and the upper edge of a raster. The centre of the first pixel is at 0.5, 0.5. */
export type Point = readonly [x: number, y: number];

/** The palette of a PNG has at most this number of colours. */
const COLOURS_MAX = 256;
/** A pixel is covered in steps of one sixteenth. More steps look the same, and need more colours and bytes. */
const LEVELS = 16;

/**
 * A rectangular picture in memory. Shapes are anti-aliased: a pixel that a shape covers partly gets a mixture of both colours. If the
 * palette is full, the nearest of its colours takes the place of a new mixture.
 */
export class Raster {
  private readonly pixels: Uint8Array;
  private readonly palette: Colour[] = [];
  private readonly indices = new Map<number, number>();
  private readonly mixtures = new Map<number, number>();

  constructor(
    readonly width: number,
    readonly height: number,
    background: Colour,
  ) {
    this.pixels = new Uint8Array(width * height).fill(this.indexOf(background));
  }

  /** Fills the rectangle between two corners. */
  fill([x1, y1]: Point, [x2, y2]: Point, colour: Colour): void {
    const [left, right] = [Math.max(0, Math.min(x1, x2)), Math.min(this.width, Math.max(x1, x2))];
    const [top, bottom] = [Math.max(0, Math.min(y1, y2)), Math.min(this.height, Math.max(y1, y2))];
    const full = this.indexOf(colour);
    for (let y = Math.floor(top); y < bottom; y++) {
      const covered = Math.min(bottom, y + 1) - Math.max(top, y);
      for (let x = Math.floor(left); x < right; x++) {
        const share = covered * (Math.min(right, x + 1) - Math.max(left, x));
        if (share === 1) this.pixels[y * this.width + x] = full;
        else this.mix(x, y, colour, share);
      }
    }
  }

  /**
   * Draws lines, each through a list of points, with round ends and joins. A pixel is covered by as much as a line reaches over its centre.
   * A pixel that several of the lines cover is drawn once.
   */
  stroke(lines: readonly (readonly Point[])[], width: number, colour: Colour): void {
    const reach = width / 2 + 0.5;
    const points = lines.flat();
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    const left = Math.max(0, Math.floor(Math.min(...xs) - reach));
    const right = Math.min(this.width, Math.ceil(Math.max(...xs) + reach));
    const top = Math.max(0, Math.floor(Math.min(...ys) - reach));
    const bottom = Math.min(this.height, Math.ceil(Math.max(...ys) + reach));
    if (left >= right || top >= bottom) return;
    const across = right - left;
    const coverage = new Float64Array(across * (bottom - top));
    for (const line of lines) {
      for (let i = 0; i < line.length; i++) {
        // The first point is a segment without a length, so that a line of a single point is a dot.
        const from = line[Math.max(0, i - 1)]!;
        const to = line[i]!;
        const [x1, y1, dx, dy] = [from[0], from[1], to[0] - from[0], to[1] - from[1]];
        const length = dx * dx + dy * dy;
        const firstX = Math.max(left, Math.floor(Math.min(x1, to[0]) - reach));
        const lastX = Math.min(right, Math.ceil(Math.max(x1, to[0]) + reach));
        const lastY = Math.min(bottom, Math.ceil(Math.max(y1, to[1]) + reach));
        for (let y = Math.max(top, Math.floor(Math.min(y1, to[1]) - reach)); y < lastY; y++) {
          for (let x = firstX; x < lastX; x++) {
            // The nearest point of the segment to the centre of the pixel.
            const along = length === 0 ? 0 : ((x + 0.5 - x1) * dx + (y + 0.5 - y1) * dy) / length;
            const part = Math.max(0, Math.min(1, along));
            const restX = x + 0.5 - x1 - part * dx;
            const restY = y + 0.5 - y1 - part * dy;
            const covered = Math.min(1, reach - Math.sqrt(restX * restX + restY * restY));
            const at = (y - top) * across + (x - left);
            if (covered > coverage[at]!) coverage[at] = covered;
          }
        }
      }
    }
    for (let at = 0; at < coverage.length; at++) {
      if (coverage[at]! > 0) this.mix(left + (at % across), top + Math.floor(at / across), colour, coverage[at]!);
    }
  }

  toPng(): Uint8Array {
    return encodePng(this.width, this.height, this.pixels, Uint8Array.from(this.palette.flat()));
  }

  /** Mixes a colour into a pixel. `share` is the share of the new colour, 0 to 1. */
  private mix(x: number, y: number, colour: Colour, share: number): void {
    const at = y * this.width + x;
    const level = Math.round(share * LEVELS);
    const key = (this.pixels[at]! * (LEVELS + 1) + level) * COLOURS_MAX + this.indexOf(colour);
    let mixture = this.mixtures.get(key);
    if (mixture === undefined) {
      const before = this.palette[this.pixels[at]!]!;
      const sample = (i: 0 | 1 | 2) => Math.round(before[i] + (level / LEVELS) * (colour[i] - before[i]));
      mixture = this.indexOf([sample(0), sample(1), sample(2)]);
      this.mixtures.set(key, mixture);
    }
    this.pixels[at] = mixture;
  }

  /** Returns the index of a colour in the palette, or of the nearest colour if the palette is full. */
  private indexOf(colour: Colour): number {
    const key = (colour[0] << 16) | (colour[1] << 8) | colour[2];
    const known = this.indices.get(key);
    if (known !== undefined) return known;
    const index = this.palette.length < COLOURS_MAX ? this.palette.push(colour) - 1 : this.nearest(colour);
    this.indices.set(key, index);
    return index;
  }

  private nearest(colour: Colour): number {
    const difference = (other: Colour) => other.reduce((sum, sample, i) => sum + (sample - colour[i]!) ** 2, 0);
    let best = 0;
    for (let i = 1; i < this.palette.length; i++) {
      if (difference(this.palette[i]!) < difference(this.palette[best]!)) best = i;
    }
    return best;
  }
}
