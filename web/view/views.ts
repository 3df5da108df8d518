import { effect, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { ViewName } from '../state/address.ts';
import { gexView } from '../state/page-market.ts';
import { TickerView } from './ticker/ticker-view.tsx';

type Views = Readonly<Partial<Record<ViewName, ComponentType | null>>>;

/** Loads the chunk of each view but Ticker. The first figure needs no chunk. */
const CHUNKS: Readonly<Record<Exclude<ViewName, 'ticker'>, () => Promise<ComponentType>>> = {
  expiries: async () => (await import('./expiries/expiries-view.tsx')).ExpiriesView,
  strikes: async () => (await import('./strikes/strikes-view.tsx')).StrikesView,
  flow: async () => (await import('./flow/flow-view.tsx')).FlowView,
  history: async () => (await import('./history/history-view.tsx')).HistoryView,
  compare: async () => (await import('./compare/compare-view.tsx')).CompareView,
  odds: async () => (await import('./odds/odds-view.tsx')).OddsView,
  surface: async () => (await import('./surface/surface-view.tsx')).SurfaceView,
  house: async () => (await import('./status/status-view.tsx')).StatusView,
};

/** The components that have loaded. Null marks a view whose chunk cannot be loaded. */
const loaded = signal<Views>({ ticker: TickerView });
const loading = new Map<ViewName, Promise<void>>();

/** Returns the component of a view: `undefined` while its chunk loads, and null if the chunk cannot be loaded. */
export function viewComponent(name: ViewName): ComponentType | null | undefined {
  const component = loaded.value[name];
  if (component === undefined) void loadView(name);
  return component;
}

/** Loads the chunk of a view, also after an earlier attempt has failed. */
export function loadView(name: ViewName): Promise<void> {
  if (name === 'ticker' || loaded.peek()[name]) return Promise.resolve();
  const present = loading.get(name);
  if (present) return present;
  const note = (component: ComponentType | null | undefined) => {
    loaded.value = { ...loaded.peek(), [name]: component };
  };
  if (loaded.peek()[name] === null) note(undefined);
  const load = CHUNKS[name]()
    .then(note, () => note(null))
    .finally(() => loading.delete(name));
  loading.set(name, load);
  return load;
}

/** Loads all views when the browser is idle after the first figure, one after the other. A change of the view then needs no request. */
export function loadViewsAhead(): void {
  const stop = effect(() => {
    const { answer, problem } = gexView.asked.value;
    if (!answer && !problem) return;
    whenIdle(async () => {
      stop();
      for (const name of Object.keys(CHUNKS) as ViewName[]) if (loaded.peek()[name] !== null) await loadView(name);
    });
  });
}

/** Runs a function when the browser is idle. Safari has no `requestIdleCallback`. */
function whenIdle(run: () => void): void {
  if ('requestIdleCallback' in globalThis) requestIdleCallback(run, { timeout: 2_000 });
  else setTimeout(run, 500);
}
