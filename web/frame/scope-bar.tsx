import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { FIRST_EXPIRIES, OPTION_VALUES, type OptionName, type ViewName } from '../state/address.ts';
import { navigate, page, view } from '../state/page.ts';
import { asOf } from '../state/page-market.ts';
import { allExpiries, setScope } from '../state/scope.ts';
import {
  expiriesText,
  expiryChoices,
  expiryShareText,
  horizonChoices,
  SCOPE_NAMES,
  SCOPE_WORDS,
  type ScopeName,
  type ScopeWords,
} from '../state/scope-words.ts';
import { dialog } from '../state/ui.ts';
import { exchangeCalendar } from '../time/exchange-days.ts';

/** The views whose figures follow the options. */
const SCOPED: ReadonlySet<ViewName> = new Set(['ticker', 'expiries', 'strikes']);

/** The options that always have a menu on a wide page. The dialog of the options has all. */
const FIRST: ReadonlySet<OptionName> = new Set(['weight', 'sign', 'iv']);

/**
 * Renders the scope bar: which options the figures are made with. The views whose figures follow the options have a menu for each option. The
 * other views show only the options that differ from the defaults, and say that their figures do not follow them. History follows the switch
 * of the expiries.
 */
export function ScopeBar() {
  const { options } = page.value;
  const isScoped = SCOPED.has(view.value);
  const isHistory = view.value === 'history';
  const isDefault = Object.keys(options).length === 0;
  if (!isScoped && !isHistory && isDefault) return null;
  const names = SCOPE_NAMES.filter((name) => (isScoped && FIRST.has(name)) || options[name] !== undefined);
  return (
    <section class="scope row" aria-label="Options of the analysis" data-scope>
      {(isScoped || isHistory || options.expiries !== undefined) && <ExpiriesMenu hasOthers={!isHistory} />}
      {names.map((name) => (
        <ScopeMenu key={name} name={name} label={SCOPE_WORDS[name].label}>
          <OptionSelect name={name} />
        </ScopeMenu>
      ))}
      {isScoped && (
        <button type="button" onClick={() => (dialog.value = 'options')}>
          Options <kbd>o</kbd>
        </button>
      )}
      {!isDefault && (
        <button
          type="button"
          data-action="reset-scope"
          title="Use the default options"
          onClick={() => navigate({ options: {} })}
        >
          Reset
        </button>
      )}
      {isHistory && <span class="muted">Levels are stored for these three, with the default options.</span>}
      {!isScoped && !isHistory && <span class="muted">The figures of this view do not follow these options.</span>}
    </section>
  );
}

/**
 * Renders the switch between the expiries of the session, of 35 days and all, and a menu of the other choices, with the number of expiries or
 * the share of gross gamma of each choice.
 */
function ExpiriesMenu({ hasOthers }: { hasOthers: boolean }) {
  const expiries = allExpiries.value.answer?.body;
  const ms = Date.parse(asOf.value ?? '');
  const { expiries: chosen = FIRST_EXPIRIES } = page.value.options;
  const { value: calendar } = exchangeCalendar;
  const { horizons, choices, dates } = useMemo(() => {
    const expiry = expiries?.expiry ?? [];
    if (Number.isNaN(ms)) return { horizons: [], choices: [], dates: [] };
    const [horizons, choices] = [horizonChoices(expiry, ms), expiryChoices(expiry, ms)];
    const named = [...horizons, ...choices].map(({ value }) => value);
    return { horizons, choices, dates: [...new Set(expiry)].filter((date) => !named.includes(date)) };
  }, [expiries, ms, calendar]);
  const isOther = !horizons.some(({ value }) => value === chosen);
  const isListed = choices.some(({ value }) => value === chosen) || dates.includes(chosen);
  return (
    <ScopeMenu name="expiries" label="Expiries">
      <span class="muted small">Expiries</span>
      <span class="switch" role="group" aria-label="Expiries">
        {horizons.map(({ value, text, count }) => (
          <button
            type="button"
            key={value}
            data-horizon={value}
            aria-pressed={chosen === value}
            title={`${expiriesText(value, ms)}: ${count} of ${horizons.at(-1)!.count} expiries`}
            onClick={() => setScope('expiries', value)}
          >
            {text}
          </button>
        ))}
      </span>
      {(hasOthers || isOther) && (
        <select
          aria-label="Other expiries"
          class={isOther ? '' : 'idle'}
          value={isOther ? chosen : ''}
          onChange={(event) => setScope('expiries', event.currentTarget.value)}
        >
          <option value="">other</option>
          {choices.map(({ value, text, count }) => (
            <option key={value} value={value}>
              {text} ({count})
            </option>
          ))}
          {expiries && (
            <optgroup label="One expiry · share of gross gamma">
              {dates.map((date) => (
                <option key={date} value={date}>
                  {expiryShareText(expiries, date, ms)}
                </option>
              ))}
            </optgroup>
          )}
          {isOther && !isListed && <option value={chosen}>{expiriesText(chosen, ms)}</option>}
        </select>
      )}
    </ScopeMenu>
  );
}

/** Renders the select element of an option, with its name. */
export function OptionSelect({ name }: { name: OptionName }) {
  const { label, values, help }: ScopeWords = SCOPE_WORDS[name];
  return (
    <label title={help}>
      <span class="muted small">{label}</span>
      <select
        value={page.value.options[name] ?? OPTION_VALUES[name][0]}
        onChange={(event) => setScope(name, event.currentTarget.value)}
      >
        {Object.entries(values).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ScopeMenuProps {
  readonly name: ScopeName;
  readonly label: string;
  /** The controls of the option, with its name. */
  readonly children: ComponentChildren;
}

/** Renders one option as a select element. An option that differs from the default is filled, and has a button that restores the default. */
function ScopeMenu({ name, label, children }: ScopeMenuProps) {
  const isChosen = page.value.options[name] !== undefined;
  return (
    <span class={`scope-option${isChosen ? ' chosen' : ''}`} data-option={name}>
      {children}
      {isChosen && (
        <button type="button" aria-label={`${label}: use the default`} onClick={() => setScope(name, '')}>
          ×
        </button>
      )}
    </span>
  );
}
