import { OPTION_VALUES, type OptionName } from '../state/address.ts';
import { navigate, page } from '../state/page.ts';
import { dialog } from '../state/ui.ts';
import { Sheet } from './sheet.tsx';

const NAMES: Readonly<Record<OptionName, string>> = {
  weight: 'Weight of a contract',
  sign: 'Position of dealers',
  gamma: 'Gamma',
  iv: 'Volatility',
  forward: 'Forward price',
};

/** Renders the dialog for the analysis options, which apply to all panels of the page. */
export function OptionsSheet() {
  const { options } = page.value;
  const set = (name: OptionName | 'expiries', value: string, initial: string) => {
    const { [name]: _, ...others } = page.value.options;
    navigate({ options: value === initial || value === '' ? others : { ...others, [name]: value } });
  };
  return (
    <Sheet title="Options of the analysis" onClose={() => (dialog.value = null)}>
      <div class="fields">
        {(Object.keys(NAMES) as OptionName[]).map((name) => (
          <label key={name}>
            {NAMES[name]}
            <select
              value={options[name] ?? OPTION_VALUES[name][0]}
              onChange={(event) => set(name, event.currentTarget.value, OPTION_VALUES[name][0])}
            >
              {OPTION_VALUES[name].map((value) => (
                <option key={value} value={value}>
                  {value.replaceAll('_', ' ')}
                </option>
              ))}
            </select>
          </label>
        ))}
        <label>
          Expiries
          <input
            type="text"
            value={options.expiries ?? 'all'}
            pattern="all|0dte|next:\d{1,4}|\d{4}-\d{2}-\d{2}"
            aria-describedby="expiries-help"
            onChange={(event) =>
              event.currentTarget.validity.valid && set('expiries', event.currentTarget.value, 'all')
            }
          />
        </label>
        <p id="expiries-help">all, 0dte, next:30 for the next 30 days, or a date such as 2026-12-18</p>
      </div>
      <button type="button" onClick={() => navigate({ options: {} })}>
        Use the defaults
      </button>
    </Sheet>
  );
}
