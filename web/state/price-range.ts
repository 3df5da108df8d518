import { computed } from '@preact/signals';
import type { Levels } from '../data/page-answers.ts';
import { ZOOM } from './address.ts';
import { navigate, page } from './page.ts';
import { gexView } from './page-market.ts';

/** The part of the price axis that the charts of a ticker show, in percent of spot: half its length, and its middle. */
export interface PriceRange {
  readonly zoom: number;
  readonly shift: number;
}

/** A level farther than this from spot, in percent, does not lengthen the axis: the bars of all strikes near spot would become too thin. */
const REACH = 25;
/** The ends of the axis are multiples of this, in percent, so that the axis does not move with each snapshot. */
const STEP = 2.5;
/** Distance of a level from the end of the axis, as a share of its distance from spot. */
const ROOM = 1.03;

/** Returns the least range that has spot, the flip and both walls, if they are near spot. Each end is at least 9 % from spot. */
export function automaticRange(
  levels: Pick<Levels, 'spot_price' | 'gex_flip' | 'flip_resolved' | 'call_wall' | 'put_wall'>,
): PriceRange {
  const { spot_price: spot, gex_flip, flip_resolved, call_wall, put_wall } = levels;
  const near = [call_wall, put_wall, ...(flip_resolved ? [gex_flip] : [])]
    .map((level) => 100 * (level / spot - 1))
    .filter((distance) => Math.abs(distance) <= REACH);
  const end = (sign: 1 | -1) =>
    Math.max(
      ZOOM.initial,
      ...near.map((each) => (sign * each * ROOM > ZOOM.initial ? STEP * Math.ceil((sign * each * ROOM) / STEP) : 0)),
    );
  const [up, down] = [end(1), end(-1)];
  return { zoom: (up + down) / 2, shift: (up - down) / 2 };
}

/** The range of the page's price axis: the member's, or else the automatic range of the snapshot on the page. */
export const priceRange = computed((): PriceRange => {
  const { zoom, shift } = page.value;
  const levels = gexView.asked.value.answer?.body.levels;
  const automatic = levels ? automaticRange(levels) : { zoom: ZOOM.initial, shift: 0 };
  return zoom === null && shift === 0 ? automatic : { zoom: zoom ?? automatic.zoom, shift };
});

const rounded = (percent: number) => Math.round(100 * percent) / 100;

/** Multiplies the zoom of the price axis by `factor`. A factor above 1 shows a larger range of prices. */
export function zoomBy(factor: number): void {
  const { zoom, shift } = priceRange.value;
  const next = Math.min(ZOOM.most, Math.max(ZOOM.least, zoom * factor));
  navigate({ zoom: rounded(next), shift: rounded(shift) }, false);
}

/** Moves the middle of the price axis to a price. */
export function moveAxisTo(price: number, spot: number): void {
  navigate({ shift: rounded(100 * (price / spot - 1)) }, false);
}
