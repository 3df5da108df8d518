import { runToCompletion, type Steps } from '../core/steps.ts';
import type { Renderer } from './resvg-renderer.ts';

/** The renderer of pictures. Undefined before the first picture. */
let renderer: Promise<Renderer> | undefined;

/**
 * Converts an SVG of this module to a PNG of the same size. The first call loads the renderer. The function `run` executes the steps of the
 * work. The default function makes no pause. Rejects with the errors of `run`.
 */
export async function pngOf(
  svg: string,
  run: (steps: Steps<Uint8Array>) => Uint8Array | Promise<Uint8Array> = runToCompletion,
): Promise<Uint8Array> {
  renderer ??= import('./resvg-renderer.ts').then(({ loadRenderer }) => loadRenderer());
  const render = await renderer;
  return run(render(svg));
}
