import type { ComponentType } from 'preact';
import type { ViewName } from '../state/address.ts';
import { ExpiriesView } from './expiries-view.tsx';
import { FlowView } from './flow-view.tsx';
import { HistoryView } from './history-view.tsx';
import { HouseView } from './house-view.tsx';
import { ScanView } from './scan-view.tsx';
import { StrikesView } from './strikes-view.tsx';
import { SurfaceView } from './surface-view.tsx';
import { TickerView } from './ticker-view.tsx';

/** The component of each view. */
export const VIEW_COMPONENTS: Readonly<Record<ViewName, ComponentType>> = {
  ticker: TickerView,
  expiries: ExpiriesView,
  strikes: StrikesView,
  flow: FlowView,
  history: HistoryView,
  scan: ScanView,
  surface: SurfaceView,
  house: HouseView,
};
