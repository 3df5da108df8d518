import { expect, test } from 'bun:test';
import { pngOf } from '../../src/picture/render-png.ts';
import { svgPicture } from '../../src/picture/svg.ts';

const SVG = svgPicture({ width: 960, height: 560, title: 'Title' });

test('pictures that are drawn at the same time, also the first ones, are the same', async () => {
  const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => pngOf(SVG)));
  for (const each of others) expect(each).toEqual(first!);
});

test('an abort before the last step leaves no pixels behind', async () => {
  const abortOne = () =>
    pngOf(SVG, (each) => {
      for (let i = 0; i < 2; i++) expect(each.next().done).toBe(false);
      each.return(new Uint8Array());
      return new Uint8Array();
    });
  await abortOne();
  const before = process.memoryUsage.rss();
  // The pixels of a picture take 2 MiB.
  for (let i = 0; i < 100; i++) await abortOne();
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 2 ** 20);
});

test('an error of the caller is passed on, and the next picture is drawn', async () => {
  const refusal = new Error('refused');
  await expect(
    pngOf(SVG, () => {
      throw refusal;
    }),
  ).rejects.toBe(refusal);
  expect((await pngOf(SVG)).length).toBeGreaterThan(1_000);
});
