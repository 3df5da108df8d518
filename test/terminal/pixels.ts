import type { Page } from 'playwright-core';

/** A picture as its pixels: red, green, blue and alpha, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** Reads a PNG. `blank` is a page without a policy, whose browser reads it. */
export async function readPixels(blank: Page, png: Uint8Array): Promise<Pixels> {
  const { width, height, text } = await blank.evaluate(async (source) => {
    const bytes = Uint8Array.fromBase64(source);
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')!;
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
    return { width: bitmap.width, height: bitmap.height, text: new Uint8Array(data.buffer).toBase64() };
  }, Buffer.from(png).toString('base64'));
  return { width, height, data: Buffer.from(text, 'base64') };
}

/** A channel that differs by less is the work of another rasterizer, 0 to 255. */
const TOLERANCE = 32;

/** Returns the share of the pixels of two pictures that differ, 0 to 1. Pictures of two sizes differ in all pixels. */
export function differingShare(a: Pixels, b: Pixels): number {
  if (a.width !== b.width || a.height !== b.height) return 1;
  let count = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    const isOther = [0, 1, 2].some((k) => Math.abs(a.data[i + k]! - b.data[i + k]!) > TOLERANCE);
    if (isOther) count++;
  }
  return count / (a.width * a.height);
}
