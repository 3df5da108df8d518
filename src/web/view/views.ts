import type { ComponentType } from 'preact';
import type { ViewName } from '../state/address.ts';
import { TickerView } from './ticker-view.tsx';

const Empty = () => null;

/** The component of each view. */
export const VIEW_COMPONENTS: Readonly<Record<ViewName, ComponentType>> = {
  ticker: TickerView,
  expiries: Empty,
  strikes: Empty,
  flow: Empty,
  history: Empty,
  scan: Empty,
  surface: Empty,
  bench: Empty,
  house: Empty,
};
