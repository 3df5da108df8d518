import { navigate, page } from '../state/page.ts';
import { setScope } from '../state/scope.ts';
import { SCOPE_NAMES } from '../state/scope-words.ts';
import { OptionSelect } from './scope-bar.tsx';
import { Sheet } from './sheet.tsx';

/** Renders the dialog for the analysis options, which apply to all panels of the page. */
export function OptionsSheet() {
  const { options } = page.value;
  return (
    <Sheet title="Options of the analysis">
      <div class="fields">
        {SCOPE_NAMES.map((name) => (
          <OptionSelect key={name} name={name} />
        ))}
        <label>
          <span class="muted small">Expiries</span>
          <input
            type="text"
            value={options.expiries ?? 'all'}
            pattern="all|0dte|next:\d{1,4}|\d{4}-\d{2}-\d{2}"
            aria-describedby="expiries-help"
            onChange={(event) => event.currentTarget.validity.valid && setScope('expiries', event.currentTarget.value)}
          />
          <small id="expiries-help" class="muted">
            all, 0dte, next:30 for the next 30 days, or a date such as 2026-12-18
          </small>
        </label>
      </div>
      <button type="button" onClick={() => navigate({ options: {} })}>
        Use the defaults
      </button>
    </Sheet>
  );
}
