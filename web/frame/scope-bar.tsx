import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { OPTION_VALUES, type OptionName, type ViewName } from '../state/address.ts';
import { navigate, page, view } from '../state/page.ts';
import { asOf } from '../state/page-market.ts';
import { allExpiries, setScope, toggleFirstExpiry } from '../state/scope.ts';
import {
  expiriesText,
  expiryChoices,
  expiryShareText,
  firstExpiry,
  SCOPE_NAMES,
  SCOPE_WORDS,
  type ScopeName,
} from '../state/scope-words.ts';
import { dialog } from '../state/ui.ts';

/** The views whose figures follow the options. */
const SCOPED: ReadonlySet<ViewName> = new Set(['ticker', 'expiries', 'strikes']);

/** The options that always have a menu on a wide page. The dialog of the options has all. */
const FIRST: ReadonlySet<OptionName> = new Set(['weight', 'sign', 'iv']);

/**
 * Renders the scope bar: which options the figures are made with. The views whose figures follow the options have a menu for each option. The
 * other views show only the options that differ from the defaults, and say that their figures do not follow them.
 */
export function ScopeBar() {
  const { options } = page.value;
  const isScoped = SCOPED.has(view.value);
  const isDefault = Object.keys(options).length === 0;
  if (!isScoped && isDefault) return null;
  const names = SCOPE_NAMES.filter((name) => (isScoped && FIRST.has(name)) || options[name] !== undefined);
  return (
    <section class="scope row" aria-label="Options of the analysis" data-scope>
      {(isScoped || options.expiries !== undefined) && <ExpiriesMenu />}
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
      {!isScoped && <span class="muted">The figures of this view do not follow these options.</span>}
    </section>
  );
}

/** Renders the menu of the expiries, with the number of expiries or the share of gross gamma of each choice. */
function ExpiriesMenu() {
  const expiries = allExpiries.value.answer?.body;
  const ms = Date.parse(asOf.value ?? '');
  const chosen = page.value.options.expiries;
  const { choices, dates, first } = useMemo(() => {
    const expiry = expiries?.expiry ?? [];
    if (Number.isNaN(ms)) return { choices: [], dates: [], first: undefined };
    return { choices: expiryChoices(expiry, ms), dates: [...new Set(expiry)], first: firstExpiry(expiry, ms) };
  }, [expiries, ms]);
  const isListed = chosen === undefined || choices.some(({ value }) => value === chosen) || dates.includes(chosen);
  return (
    <ScopeMenu
      name="expiries"
      label="Expiries"
      beside={
        first && (
          <button
            type="button"
            data-action="first-expiry"
            aria-pressed={chosen === first.value}
            title="Only the first expiry (z)"
            onClick={toggleFirstExpiry}
          >
            {first.text}
          </button>
        )
      }
    >
      <label>
        <span class="muted small">Expiries</span>
        <select value={chosen ?? 'all'} onChange={(event) => setScope('expiries', event.currentTarget.value)}>
          {choices.map(({ value, text, count }) => (
            <option key={value} value={value}>
              {text} ({count})
            </option>
          ))}
          {expiries && (
            <optgroup label="One expiry · share of gross gamma">
              {dates
                .filter((date) => !choices.some(({ value }) => value === date))
                .map((date) => (
                  <option key={date} value={date}>
                    {expiryShareText(expiries, date, ms)}
                  </option>
                ))}
            </optgroup>
          )}
          {!isListed && <option value={chosen}>{expiriesText(chosen!, ms)}</option>}
        </select>
      </label>
    </ScopeMenu>
  );
}

/** Renders the select element of an option, with its name. */
export function OptionSelect({ name }: { name: OptionName }) {
  const { label, values } = SCOPE_WORDS[name];
  return (
    <label>
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
  /** The select element, with its name. */
  readonly children: ComponentChildren;
  readonly beside?: ComponentChildren;
}

/** Renders one option as a select element. An option that differs from the default is filled, and has a button that restores the default. */
function ScopeMenu({ name, label, children, beside }: ScopeMenuProps) {
  const isChosen = page.value.options[name] !== undefined;
  return (
    <span class={`scope-option${isChosen ? ' chosen' : ''}`} data-option={name}>
      {children}
      {isChosen && (
        <button type="button" aria-label={`${label}: use the default`} onClick={() => setScope(name, '')}>
          ×
        </button>
      )}
      {beside}
    </span>
  );
}
