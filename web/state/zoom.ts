import { ZOOM } from './address.ts';
import { navigate, page } from './page.ts';

/** Zooms the price axis. A factor above 1 shows more. */
export function zoomBy(factor: number): void {
  const zoom = Math.round(100 * Math.min(ZOOM.most, Math.max(ZOOM.least, page.value.zoom * factor))) / 100;
  navigate({ zoom }, false);
}
