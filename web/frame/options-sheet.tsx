import { FIRST_EXPIRIES } from '../state/address.ts';
import { navigate, page } from '../state/page.ts';
import { setScope } from '../state/scope.ts';
import { SCOPE_NAMES, SCOPE_WORDS, type ScopeWords } from '../state/scope-words.ts';
import { OptionSelect } from './scope-bar.tsx';
import { Sheet } from './sheet.tsx';

/** Renders the dialog for the analysis options, which apply to all panels of the page. */
export function OptionsSheet() {
  const { options } = page.value;
  return (
    <Sheet title="Options of the analysis">
      <div class="fields">
        {SCOPE_NAMES.map((name) => {
          const { help }: ScopeWords = SCOPE_WORDS[name];
          return (
            <div key={name}>
              <OptionSelect name={name} />
              {help && <small class="muted">{help}</small>}
            </div>
          );
        })}
        <label>
          <span class="muted small">Expiries</span>
          <input
            type="text"
            value={options.expiries ?? FIRST_EXPIRIES}
            pattern="all|0dte|session|next:\d{1,4}|\d{4}-\d{2}-\d{2}"
            aria-describedby="expiries-help"
            onChange={(event) => event.currentTarget.validity.valid && setScope('expiries', event.currentTarget.value)}
          />
          <small id="expiries-help" class="muted">
            next:35 for the next 35 days, all, session, 0dte, or a date such as 2026-12-18
          </small>
        </label>
      </div>
      <button type="button" onClick={() => navigate({ options: {} })}>
        Use the defaults
      </button>
    </Sheet>
  );
}
