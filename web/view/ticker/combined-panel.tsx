import type { FullAnswer } from '../../../src/client/client.ts';
import { profileReadout } from '../../chart/hedging-moves.ts';
import { cursorPrice } from '../../chart/price-axis.ts';
import { profileTable, SpotProfile } from '../../chart/spot-profile.tsx';
import type { Levels, ProfileAnswer } from '../../data/page-answers.ts';
import { duration, percent, plain, signedAmount } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { page, pageOptions, pageTicker, setOwn } from '../../state/page.ts';
import { tickers, useTickerAnswer } from '../../state/page-market.ts';

type Combined = FullAnswer<'get_gex_combined'>;

/** Maps each index to the fund that tracks it, and each of these funds to its index. */
const PARTNERS: Readonly<Record<string, string>> = {
  ...{ SPX: 'SPY', NDX: 'QQQ', RUT: 'IWM', DJX: 'DIA' },
  ...{ SPY: 'SPX', QQQ: 'NDX', IWM: 'RUT', DIA: 'DJX' },
};

/** Renders an input field for a second ticker, such as the fund of an index. The profile includes this ticker. */
export function WithField() {
  return (
    <label class="with-field">
      <input
        type="text"
        list="with-tickers"
        aria-label="Together with another ticker"
        placeholder={`with ${PARTNERS[pageTicker.value] ?? '…'}`}
        value={page.value.own.with ?? ''}
        onChange={(event) => setOwn('with', event.currentTarget.value.trim().toUpperCase() || null)}
      />
      <datalist id="with-tickers">
        {tickers.value.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

/**
 * Renders the total net gamma of two tickers on the page's price axis. The heading contains the price ratio of the two tickers, and the
 * deviation from the usual ratio in percent.
 */
export function CombinedPanel() {
  const other = page.value.own.with!;
  const asked = useTickerAnswer<Combined>('get_gex_combined', { with: other, ...pageOptions.value });
  const combined = asked.answer?.body;
  const profile = combined && ({ ...combined, vanna_flip: null, charm_flip: null } as unknown as ProfileAnswer);
  return (
    <ChartPanel
      id="combined"
      class="profile-panel combined-panel beside"
      title={`Together with ${other}`}
      unit={
        combined
          ? `ratio ${plain(combined.ratio, 5)}${combined.basis_pct === null ? '' : `, ${percent(combined.basis_pct, 3)} off the usual`} · ${duration(Math.abs(combined.apart_s))} apart`
          : 'net GEX, $ per 1 %'
      }
      {...asked}
      table={profile && profileTable(profile)}
      readout={
        combined &&
        `${combined.ticker} ${signedAmount(combined.ticker_gex_mil * 1e6)} · ${combined.with} ${signedAmount(combined.with_gex_mil * 1e6)} · ${profileReadout(profile!, cursorPrice.value ?? combined.spot_price)}`
      }
      controls={<WithField />}
    >
      {combined && (
        <SpotProfile profile={profile!} levels={{ ...combined, max_pain: Number.NaN } as unknown as Levels} />
      )}
    </ChartPanel>
  );
}
