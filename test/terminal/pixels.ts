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

/** The red, green and blue of a pixel. */
export function pixelAt({ data, width }: Pixels, x: number, y: number): [number, number, number] {
  const at = 4 * (y * width + x);
  return [data[at]!, data[at + 1]!, data[at + 2]!];
}
