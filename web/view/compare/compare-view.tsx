import { useEffect, useMemo, useState } from 'preact/hooks';
import { type DayChanges, useAnswer } from '../../data/page-answers.ts';
import type { Call } from '../../operations.ts';
import { cleanText } from '../../page-format.ts';
import { page } from '../../state/page.ts';
import { dayChanges, tickers } from '../../state/page-market.ts';
import { notify } from '../../state/ui.ts';
import { compared, compareTickers, dayFigures, figuresByTicker } from '../../state/watched-tickers.ts';
import { ComparePanel } from './compare-panel.tsx';
import { UniverseGrid } from './universe-grid.tsx';

/** Interval of the requests while the page is live, ms. The event stream has no volatility. */
const EVERY_MS = 60_000;

/** Renders the Compare view: the picked tickers side by side, and all tickers. */
export function CompareView() {
  const { at } = page.value;
  const call: Call = { operation: 'get_day_changes', args: at === null ? {} : { at } };
  const past = useAnswer<DayChanges>(at === null ? undefined : call);
  const asked = at === null ? dayChanges.asked.value : past;
  const body = past.answer?.body;
  const rows = useMemo(() => body && figuresByTicker(body), [body]);
  const figuresOf = useMemo(
    () => (at === null ? dayFigures : (ticker: string) => rows?.get(ticker)),
    [at === null, rows],
  );
  useEffect(() => {
    if (at !== null) return;
    const timer = setInterval(dayChanges.refresh, EVERY_MS);
    return () => clearInterval(timer);
  }, [at === null]);
  const picked = compared.value ?? [];
  return (
    <>
      <AddTickers picked={picked} />
      {picked.length > 0 && <ComparePanel picked={picked} call={call} figuresOf={figuresOf} />}
      <UniverseGrid asked={asked} call={call} figuresOf={figuresOf} />
    </>
  );
}

/** Renders a field for the tickers to compare. */
function AddTickers({ picked }: { picked: readonly string[] }) {
  const [text, setText] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const names = text
      .toUpperCase()
      .split(/[\s,]+/)
      .filter(Boolean);
    const unknown = names.filter((name) => !tickers.value.includes(name));
    if (unknown.length > 0) notify(`No such ticker: ${cleanText(unknown.join(', '), 80)}`);
    compareTickers([...new Set([...picked, ...names.filter((name) => !unknown.includes(name))])]);
    setText(unknown.join(' '));
  };
  return (
    <form class="row inset" onSubmit={submit}>
      <label>
        Compare{' '}
        <input
          type="text"
          size={18}
          value={text}
          placeholder="SPY QQQ IWM"
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Add</button>
      {picked.length > 0 && (
        <button type="button" onClick={() => compareTickers([])}>
          Clear
        </button>
      )}
      <span class="muted">
        {picked.length > 0 ? `${picked.length} of 8 tickers` : 'Check up to 8 tickers in the watchlist, or type them.'}
      </span>
    </form>
  );
}
