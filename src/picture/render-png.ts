import { setImmediate } from 'node:timers/promises';
import fontPath from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-500-normal.woff2' with { type: 'file' };
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import wasmPath from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' };
import { runToCompletion, type Steps } from '../core/steps.ts';
import { FONT_FAMILY, svgPicture } from './svg.ts';

/**
 * The first calls of WebAssembly code are interpreted and take up to ten times as long. If the first picture has the size of a chart, each
 * of its steps takes about 40 ms. After this number of small pictures, a step of any picture takes less than STEP_MS_MAX.
 */
const WARM_UP_PICTURES = 5;
const WARM_UP_SVG = svgPicture({ width: 60, height: 60, title: 'A 0', note: '%' });

/** The font, once the renderer is loaded. Undefined if no picture was asked for. */
let loaded: Promise<Uint8Array> | undefined;

/**
 * Returns an SVG of this module as PNG, in its own size. The first call loads the renderer. `run` runs the steps of the work. By default it
 * runs them without a break. Rejects with the errors of `run`.
 */
export async function pngOf(
  svg: string,
  run: (steps: Steps<Uint8Array>) => Uint8Array | Promise<Uint8Array> = runToCompletion,
): Promise<Uint8Array> {
  loaded ??= load().catch((error) => {
    loaded = undefined;
    throw error;
  });
  return run(render(svg, await loaded));
}

/** Compiles the renderer, on threads of the runtime, and warms it up. Other requests run between the steps. */
async function load(): Promise<Uint8Array> {
  const [wasm, font] = await Promise.all([Bun.file(wasmPath).bytes(), Bun.file(fontPath).bytes()]);
  await initWasm(await WebAssembly.compile(wasm));
  for (let i = 0; i < WARM_UP_PICTURES; i++) {
    for (const _ of render(WARM_UP_SVG, font)) await setImmediate();
  }
  return font;
}

function* render(svg: string, font: Uint8Array): Steps<Uint8Array> {
  const tree = new Resvg(svg, { font: { fontBuffers: [font], defaultFontFamily: FONT_FAMILY } });
  try {
    yield { message: 'Drawing the picture' };
    const image = tree.render();
    try {
      yield { message: 'Writing the picture' };
      return image.asPng();
    } finally {
      image.free();
    }
  } finally {
    // The memory of WebAssembly is not collected. An aborted request frees it here too.
    tree.free();
  }
}
