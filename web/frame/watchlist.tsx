import { percent, price, signedAmount, signTone } from '../page-format.ts';
import { WithoutData } from '../panel/without-data.tsx';
import { navigate, page, pageTicker } from '../state/page.ts';
import { tickers, universe } from '../state/page-market.ts';
import { compared, dayFigures, flipAway, listed, toggleCompared } from '../state/watched-tickers.ts';

/**
 * Renders the tickers of the universe by theme, with live values. Tickers without data are hidden until the member wants them. Each row
 * renders again only when the levels of the ticker change.
 */
export function Watchlist() {
  const themes: Record<string, string[]> = universe.asked.value.answer?.body.macro_themes ?? {};
  const inThemes = new Set(Object.values(themes).flat());
  const others = tickers.value.filter((name) => !inThemes.has(name));
  const sections = [['beside the universe', others] as const, ...Object.entries(themes)];
  return (
    <nav class="watchlist" aria-label="Watchlist">
      <div class="watch-head muted" aria-hidden="true">
        <span>{page.value.at === null ? 'Ticker' : 'Live now'}</span>
        <span>Spot</span>
        <span title="Change of spot since the last snapshot of an earlier day, percent">Chg %</span>
        <span title="Distance of the gamma flip of all expiries from spot, percent of spot">Flip away</span>
        <span title="Net gamma exposure of all expiries, dollars per 1 % move">Net</span>
      </div>
      <div class="watch-rows">
        {sections.map(([theme, names]) => {
          const shown = listed(names);
          return (
            shown.length > 0 && (
              <section key={theme} aria-label={theme.replaceAll('_', ' ')}>
                <h3>{theme.replaceAll('_', ' ')}</h3>
                {shown.map((name) => (
                  <WatchRow key={name} name={name} />
                ))}
              </section>
            )
          );
        })}
        <p class="muted small inset">Flip and net are of all expiries.</p>
        <WithoutData names={tickers.value} />
      </div>
    </nav>
  );
}

function WatchRow({ name }: { name: string }) {
  const figures = dayFigures(name);
  const picks = compared.value;
  const isPicked = picks?.includes(name);
  const short = (value: number | null | undefined, decimals: number) => percent(value, decimals).replace(' %', '');
  return (
    <button
      type="button"
      class={`watch-row bare${pageTicker.value === name ? ' current' : ''}`}
      aria-current={pageTicker.value === name}
      {...(picks && { role: 'checkbox', 'aria-checked': isPicked })}
      data-ticker={name}
      onClick={() => (picks ? toggleCompared(name) : navigate({ ticker: name }))}
    >
      <span class={`clip${pageTicker.value === name ? ' strong' : ''}`} title={name}>
        {picks && <span aria-hidden="true">{isPicked ? '☑ ' : '☐ '}</span>}
        {name}
      </span>
      <span>{price(figures?.spot)}</span>
      <span class={signTone(figures?.change_pct ?? 0)}>{short(figures?.change_pct, 2)}</span>
      <span class="muted">
        <span class="spoken">flip away </span>
        {short(flipAway(figures), 1)}
      </span>
      <span class={signTone(figures?.net_gex ?? 0)}>{signedAmount(figures?.net_gex)}</span>
    </button>
  );
}
