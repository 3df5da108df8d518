import fontPath from '@fontsource/ibm-plex-sans/files/ibm-plex-sans-latin-500-normal.woff2' with { type: 'file' };
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import wasmPath from '@resvg/resvg-wasm/index_bg.wasm' with { type: 'file' };
import { runInTurns, type Steps } from '../core/steps.ts';
import { FONT_FAMILY, svgPicture } from './svg.ts';

/** Converts an SVG to a PNG of the same size. */
export type Renderer = (svg: string) => Steps<Uint8Array>;

/**
 * Number of small pictures that the warm-up draws. During the first calls, WebAssembly code is interpreted, which is up to ten times as
 * slow. Without the warm-up, each step of the first chart takes about 40 ms. After the warm-up, a step of any picture takes less than
 * STEP_MS_MAX.
 */
const WARM_UP_PICTURES = 5;
const WARM_UP_SVG = svgPicture({ width: 60, height: 60, title: 'A 0', note: '%' });

/**
 * Compiles the renderer on threads of the runtime, and warms the renderer up. Other requests run between the steps. A process can call this
 * function once.
 */
export async function loadRenderer(): Promise<Renderer> {
  const [wasm, font] = await Promise.all([Bun.file(wasmPath).bytes(), Bun.file(fontPath).bytes()]);
  await initWasm(await WebAssembly.compile(wasm));
  const renderer: Renderer = (svg) => render(svg, font);
  for (let i = 0; i < WARM_UP_PICTURES; i++) await runInTurns('Loading the renderer', renderer(WARM_UP_SVG));
  return renderer;
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
    // The garbage collector does not free the memory of WebAssembly. `finally` frees this memory even if the request is aborted.
    tree.free();
  }
}
