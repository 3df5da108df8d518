import type { ComponentType } from 'preact';
import type { ViewName } from '../state/address.ts';
import { ExpiriesView } from './expiries/expiries-view.tsx';
import { FlowView } from './flow/flow-view.tsx';
import { HistoryView } from './history/history-view.tsx';
import { ScanView } from './scan/scan-view.tsx';
import { StatusView } from './status/status-view.tsx';
import { StrikesView } from './strikes/strikes-view.tsx';
import { SurfaceView } from './surface/surface-view.tsx';
import { TickerView } from './ticker/ticker-view.tsx';

/** The component of each view. */
export const VIEW_COMPONENTS: Readonly<Record<ViewName, ComponentType>> = {
  ticker: TickerView,
  expiries: ExpiriesView,
  strikes: StrikesView,
  flow: FlowView,
  history: HistoryView,
  scan: ScanView,
  surface: SurfaceView,
  house: StatusView,
};
