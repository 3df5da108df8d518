import { effect } from '@preact/signals';
import { render } from 'preact';
import { isLeading } from './data/live-levels.ts';
import { Shell } from './part/shell.tsx';
import { followFocus, followKeys, pageTitle } from './state/acts.ts';
import { takeInitialKey } from './state/member-key.ts';
import { followAddress } from './state/page.ts';
import { followMarket } from './state/page-market.ts';
import { followVersion } from './state/page-version.ts';
import { startClock } from './state/server.ts';
import { followSettings } from './state/ui.ts';
import { VIEW_COMPONENTS } from './view/views.ts';

// The key is removed from the address before any other code runs.
takeInitialKey();
followAddress();
followSettings();
startClock();
followKeys();
followFocus();
followMarket();
followVersion();
effect(() => {
  document.title = pageTitle();
});
effect(() => {
  document.documentElement.dataset.leads = isLeading.value ? 'yes' : 'no';
});
render(<Shell views={VIEW_COMPONENTS} />, document.getElementById('terminal')!);
