import { ZOOM } from './address.ts';
import { navigate, page } from './page.ts';

/** Multiplies the zoom of the price axis by `factor`. A factor above 1 shows a larger range of prices. */
export function zoomBy(factor: number): void {
  const zoom = Math.round(100 * Math.min(ZOOM.most, Math.max(ZOOM.least, page.value.zoom * factor))) / 100;
  navigate({ zoom }, false);
}
