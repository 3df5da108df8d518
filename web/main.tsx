import { effect } from '@preact/signals';
import { render } from 'preact';
import { isLeading } from './data/live-levels.ts';
import { startClock } from './data/server-connection.ts';
import { followSignInLinks } from './data/sign-in-link.ts';
import { Shell } from './frame/shell.tsx';
import { followFocus, followKeys, pageTitle } from './state/actions.ts';
import { followAddress } from './state/page.ts';
import { followMarket } from './state/page-market.ts';
import { followVersion } from './state/page-version.ts';
import { followSettings } from './state/ui.ts';
import { followDayChanges } from './state/watched-tickers.ts';
import { loadView, loadViewsAhead, viewComponent } from './view/views.ts';

// This call removes a key from the address before any other code runs.
followSignInLinks();
followAddress();
followSettings();
startClock();
followKeys();
followFocus();
followMarket();
followDayChanges();
followVersion();
loadViewsAhead();
effect(() => {
  document.title = pageTitle();
});
effect(() => {
  document.documentElement.dataset.leads = isLeading.value ? 'yes' : 'no';
});
render(<Shell viewOf={viewComponent} onRetry={loadView} />, document.getElementById('terminal')!);
