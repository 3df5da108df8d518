import { useMemo, useState } from 'preact/hooks';
import { newYorkDay } from '../page-format.ts';
import { ACTION_LIST, CHART_KEYS } from '../state/action-list.ts';
import { runAction } from '../state/actions.ts';
import { navigate, page } from '../state/page.ts';
import { tickers } from '../state/page-market.ts';
import { allExpiries, setScope } from '../state/scope.ts';
import { moments } from '../state/time-stops.ts';
import { areLettersOn, dialog } from '../state/ui.ts';
import { parseCommand } from './command-line.ts';
import { Sheet } from './sheet.tsx';

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly keys?: string | undefined;
  run(): void;
}

/** Renders the command palette. The member enters a ticker, a view, a moment or the name of an action. */
export function Commands({ isTickerOnly = false }: { isTickerOnly?: boolean }) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const choices = useMemo(() => choicesFor(text, isTickerOnly), [text, isTickerOnly]);
  const run = (choice: Choice | undefined) => {
    if (!choice) return;
    dialog.value = null;
    choice.run();
  };
  const index = Math.min(chosen, choices.length - 1);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen((index + 1) % Math.max(1, choices.length));
    else if (event.key === 'ArrowUp') setChosen((index - 1 + choices.length) % Math.max(1, choices.length));
    else if (event.key === 'Enter') run(choices[index]);
    else return;
    event.preventDefault();
  };
  return (
    <Sheet title={isTickerOnly ? 'Ticker' : 'Commands'} class="commands">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices[index] ? `choice-${index}` : undefined}
        aria-label={isTickerOnly ? 'Ticker' : 'Command'}
        placeholder={isTickerOnly ? 'SPY' : 'SPY flow · SPY @-1d · 0dte · light'}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="choices" role="listbox" aria-label="Choices">
        {choices.map((choice, i) => (
          <li
            class="ends"
            id={`choice-${i}`}
            key={choice.id}
            role="option"
            aria-selected={i === index}
            onClick={() => run(choice)}
          >
            <span>{choice.label}</span>
            {choice.keys && <kbd>{choice.keys}</kbd>}
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p class="empty">Nothing has this name. Try a ticker, a view, or part of an act.</p>}
    </Sheet>
  );
}

const CHOICES_MAX = 14;

function choicesFor(text: string, isTickerOnly: boolean): Choice[] {
  const wanted = text.trim();
  const names = tickers.value
    .filter((name) => name.startsWith(wanted.toUpperCase()))
    .map((name): Choice => ({ id: `ticker ${name}`, label: name, run: () => navigate({ ticker: name }) }));
  if (isTickerOnly) return names.slice(0, CHOICES_MAX);
  const command = parseCommand(wanted, { state: page.value, tickers: tickers.value, moments: moments.value });
  const direct = command ? [{ id: 'direct', label: command.label, run: () => navigate(command.change) }] : [];
  const actions = ACTION_LIST.filter(({ label, id }) => id !== 'commands' && isFuzzy(`${label} ${id}`, wanted))
    // Actions with a word that starts with the typed text come first in the list.
    .toSorted((a, b) => Number(hasWord(b.label, wanted)) - Number(hasWord(a.label, wanted)))
    .map(({ id, label, keys }): Choice => ({ id, label, keys, run: () => runAction(id) }));
  if (wanted === '') return [...direct, ...actions];
  return [...direct, ...names, ...expiriesFor(wanted), ...actions].slice(0, CHOICES_MAX);
}

/** Returns a choice for each expiry whose date contains the typed words: `18 sep`, `expiry 18 sep` or `2026-09-18`. */
function expiriesFor(wanted: string): Choice[] {
  const text = wanted.toLowerCase().replace(/^expiry\s+/, '');
  if (text.length < 3 || !/\d/.test(text)) return [];
  const dates = [...new Set(allExpiries.value.answer?.body.expiry ?? [])];
  return dates
    .filter((date) => ` ${newYorkDay(date, true)} ${date}`.toLowerCase().includes(` ${text}`))
    .slice(0, CHOICES_MAX / 2)
    .map((date) => ({
      id: `expiry ${date}`,
      label: `Only the expiry ${newYorkDay(date, true)}`,
      run: () => setScope('expiries', date),
    }));
}

function hasWord(label: string, start: string): boolean {
  return ` ${label}`.toLowerCase().includes(` ${start.toLowerCase()}`);
}

/** Returns whether all characters of `wanted` occur in `text`, in the order of `wanted`. */
function isFuzzy(text: string, wanted: string): boolean {
  const lower = text.toLowerCase();
  let at = 0;
  for (const character of wanted.toLowerCase().replaceAll(' ', '')) {
    at = lower.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Renders all keyboard shortcuts by group. The shortcuts come from the list of actions, so every shortcut that is shown works. */
export function KeyMap() {
  const keyed = ACTION_LIST.flatMap(({ group, keys, label }) => (keys ? [{ group, keys, label }] : []));
  const inChart = CHART_KEYS.map(([keys, label]) => ({ group: 'In a chart', keys, label }));
  const groups = Map.groupBy([...keyed, ...inChart], ({ group }) => group);
  return (
    <Sheet title="Keys" class="keys">
      <label class="check row">
        <input
          type="checkbox"
          checked={areLettersOn.value}
          onChange={(event) => (areLettersOn.value = event.currentTarget.checked)}
        />{' '}
        Single letters are keys
      </label>
      <div class="key-groups">
        {[...groups].map(([group, actions]) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {actions.map(({ keys, label }) => (
                <div key={keys}>
                  <dt>
                    <kbd>{keys}</kbd>
                  </dt>
                  <dd>{label}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p>
          <kbd>Esc</kbd> closes, then leaves the chart, then goes back to live.
        </p>
      </div>
    </Sheet>
  );
}
