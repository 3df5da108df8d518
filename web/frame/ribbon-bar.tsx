import { useState } from 'preact/hooks';
import { newYorkMoment } from '../page-format.ts';
import type { ViewName } from '../state/address.ts';
import { page, view } from '../state/page.ts';
import { ribbon } from '../state/ribbon.ts';

/** Renders the state of the data in words. No item can be closed while its condition is true. Screen readers announce changes. */
export function RibbonBar() {
  const [isOpen, setOpen] = useState(false);
  const items = ribbon.value;
  if (items.length === 0) return null;
  const isAlarm = items.some(({ state }) => ALARMS.has(state));
  return (
    <div class={`ribbon${items.some(({ state }) => state === 'simulated') ? ' simulated' : ''}`} data-ribbon>
      <p class={isOpen ? undefined : 'clip'} role="status" aria-live={isAlarm ? 'assertive' : 'polite'}>
        {items.map(({ state, glyph, strong, text }) => (
          <span key={state} class={`ribbon-item state-${state}`} data-state={state}>
            <span aria-hidden="true">{glyph} </span>
            <strong>{strong}</strong>
            {text && <span class="ribbon-text"> {text}</span>}
          </span>
        ))}
      </p>
      <button type="button" class="ribbon-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Less' : `${items.length} states`}
      </button>
      {page.value.isDiff && (
        <span class="ribbon-diff">
          {COMPARED.has(view.value) ? `DIFF from ${newYorkMoment(page.value.pinned)}` : 'DIFF: not compared here'}
        </span>
      )}
    </div>
  );
}

/** The views that show the differences from moment A. */
const COMPARED: ReadonlySet<ViewName> = new Set(['ticker', 'expiries', 'strikes', 'surface']);
const ALARMS: ReadonlySet<string> = new Set(['offline', 'down', 'failing', 'rate_limited']);
