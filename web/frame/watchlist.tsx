import { liveLevels } from '../data/live-levels.ts';
import { percent, price, signedAmount, signTone, UNKNOWN } from '../page-format.ts';
import { navigate, pageTicker } from '../state/page.ts';
import { tickers, universe } from '../state/page-market.ts';

/** Renders the tickers of the universe by theme, with live values. Each row renders again only when the levels of the ticker change. */
export function Watchlist() {
  const themes: Record<string, string[]> = universe.asked.value.answer?.body.macro_themes ?? {};
  const inThemes = new Set(Object.values(themes).flat());
  const others = tickers.value.filter((name) => !inThemes.has(name));
  const sections = [
    ...(others.length > 0 ? [['beside the universe', others] as const] : []),
    ...Object.entries(themes),
  ];
  return (
    <nav class="watchlist" aria-label="Watchlist">
      <div class="watch-head muted" aria-hidden="true">
        <span>Ticker</span>
        <span>Spot</span>
        <span title="Distance of the gamma flip from spot">Flip %</span>
        <span title="Net gamma exposure, dollars per 1 % move">Net</span>
      </div>
      <div class="watch-rows">
        {sections.map(([theme, names]) => (
          <section key={theme} aria-label={theme.replaceAll('_', ' ')}>
            <h3>{theme.replaceAll('_', ' ')}</h3>
            {names.map((name) => (
              <WatchRow key={name} name={name} />
            ))}
          </section>
        ))}
      </div>
    </nav>
  );
}

function WatchRow({ name }: { name: string }) {
  const levels = liveLevels(name).value;
  const isCurrent = pageTicker.value === name;
  const flip = levels && levels.flip_resolved !== false ? 100 * (levels.gex_flip / levels.spot_price - 1) : null;
  const net = levels ? levels.net_gex_mil * 1e6 : null;
  return (
    <button
      type="button"
      class={`watch-row bare${isCurrent ? ' current' : ''}`}
      aria-current={isCurrent}
      data-ticker={name}
      onClick={() => navigate({ ticker: name })}
    >
      <span>{name}</span>
      <span>{price(levels?.spot_price)}</span>
      <span>
        {flip === null ? UNKNOWN : `${flip >= 0 ? '▲' : '▼'} ${percent(Math.abs(flip), 1, false).replace(' %', '')}`}
      </span>
      <span class={signTone(net ?? 0)}>{signedAmount(net)}</span>
    </button>
  );
}
