import { useMemo } from 'preact/hooks';
import type { Expiries } from '../data/page-answers.ts';
import { newYorkDay, percent, signedAmount, volatility } from '../page-format.ts';
import { columnTable, type PanelTable } from '../state/panels.ts';
import { useSize } from './canvas.tsx';

const ROW = { least: 18, most: 34 } as const;
/** Minimum width of a chart that shows volatilities, in pixels. */
const VOLATILITY_FROM = 300;

/**
 * Renders one bar for each series, in order of expiry. The length of a bar is the share of gross gamma that expires with the series. The
 * colour of a bar shows the sign of the series' net gamma.
 */
export function ExpiryBars({ expiries, onChoose }: { expiries: Expiries; onChoose: (expiry: string) => void }) {
  const { ref, size } = useSize<HTMLDivElement>();
  const height = Math.max(ROW.least, Math.min(ROW.most, size.height / Math.max(1, expiries.count)));
  const most = useMemo(() => Math.max(...expiries.gross_share_pct, 1), [expiries]);
  return (
    <div class="chart expiry-bars" data-chart="expiries">
      <div class="plot" ref={ref}>
        <ul aria-label={describeExpiries(expiries)}>
          {expiries.expiry.map((expiry, i) => (
            <li key={`${expiries.root[i]} ${expiry}`} style={{ height: `${height}px` }}>
              <button
                type="button"
                class="bare muted small"
                data-label
                title={`Analyse ${expiry} alone`}
                onClick={() => onChoose(expiry)}
              >
                {newYorkDay(expiry, true).slice(4)}
                {expiries.settlement[i] === 'AM' ? ' AM' : ''}
              </button>
              <span
                class={`bar ${expiries.net_gex[i]! < 0 ? 'negative' : 'positive'}`}
                style={{ width: `${(100 * expiries.gross_share_pct[i]!) / most}%` }}
              />
              <span class="muted small" data-label>
                {percent(expiries.gross_share_pct[i], 1, false)}
                {size.width >= VOLATILITY_FROM && ` · ${volatility(expiries.atm_iv[i])} vol`}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function describeExpiries({ expiry, gross_share_pct: share, net_gex: net }: Expiries): string {
  const largest = share.indexOf(Math.max(...share));
  return `${percent(share[largest], 1, false)} of gross gamma expires on ${newYorkDay(expiry[largest], true)}, net ${signedAmount(net[largest])} dollars per 1 % move.`;
}

export function expiryTable(expiries: Expiries): PanelTable {
  const { root, expiry, settlement, net_gex, gross_share_pct, expired_share_pct, atm_iv } = expiries;
  return columnTable({ root, expiry, settlement, net_gex, gross_share_pct, expired_share_pct, atm_iv });
}
