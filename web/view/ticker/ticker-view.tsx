import { bisectCenter } from 'd3-array';
import { useMemo } from 'preact/hooks';
import { ExpiryBars, expiryTable } from '../../chart/expiry-bars.tsx';
import {
  Ladder,
  ladderTable,
  ladderUnit,
  selectionReadout,
  strikeReadout,
  visibleStrikesPerRow,
} from '../../chart/ladder.tsx';
import { cursorPrice, selection } from '../../chart/price-axis.ts';
import { ChartPanel, ViewState } from '../../panel/chart-panel.tsx';
import { MeasureChoice } from '../../panel/choices.tsx';
import { levelsLine, TickerFigures } from '../../panel/ticker-figures.tsx';
import { navigate, page, pageOptions, tickerCall } from '../../state/page.ts';
import { asOf, comparedView, gexView } from '../../state/page-market.ts';
import { zoomBy } from '../../state/price-range.ts';
import { copy } from '../../state/ui.ts';
import { CombinedPanel } from './combined-panel.tsx';
import { DiffSummary } from './diff-summary.tsx';
import { HorizonRow } from './horizon-row.tsx';
import { ProfilePanel } from './profile-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';
import { SignRow } from './sign-row.tsx';

/** Renders the Ticker view: seven figures, and on one price axis the levels of the last sessions, the ladder and the profile. */
export function TickerView() {
  const asked = gexView.asked.value;
  const { answer } = asked;
  const before = comparedView.value?.body;
  const { measure } = page.value;
  const options = pageOptions.value;
  const moment = asOf.value;
  const view = answer?.body;
  const calls = useMemo(
    () => ({
      strikes: tickerCall('get_gex_by_strike', moment, options),
      expiries: tickerCall('get_gex_by_expiry', moment, options),
    }),
    [moment, options, page.value.ticker],
  );
  const tables = useMemo(
    () => view && { strikes: ladderTable(view.strikes, before?.strikes), expiries: expiryTable(view.expiries) },
    [view, before],
  );
  if (!view) return <ViewState asked={asked} />;
  const { levels, strikes, profile, expiries } = view;
  const cursor = cursorPrice.value;
  const selected = selection.value;
  return (
    <>
      <TickerFigures levels={levels} before={before?.levels} />
      <HorizonRow />
      <SignRow levels={levels} />
      {page.value.isDiff && <DiffSummary />}
      <div class="ticker-charts">
        <ChartPanel
          id="ladder"
          class="ladder-panel"
          title={`${measure[0]!.toUpperCase()}${measure.slice(1)} by strike`}
          unit={ladderUnit(strikes, measure, visibleStrikesPerRow(strikes, 500))}
          call={calls.strikes}
          answer={answer}
          isSlow={asked.isSlow}
          table={tables!.strikes}
          readout={
            selected
              ? selectionReadout(strikes, selected)
              : cursor !== null
                ? strikeReadout(strikes, bisectCenter(strikes.strike, cursor), before?.strikes)
                : 'Point at a strike, or use the arrow keys in the chart.'
          }
          menu={
            <button type="button" onClick={() => copy(levelsLine(levels.ticker, levels), 'the levels as one line')}>
              Copy the levels as one line
            </button>
          }
          controls={
            <>
              <MeasureChoice />
              <span class="zoom">
                <button type="button" aria-label="Zoom in (+)" onClick={() => zoomBy(1 / 1.3)}>
                  +
                </button>
                <button type="button" aria-label="Zoom out (-)" onClick={() => zoomBy(1.3)}>
                  −
                </button>
              </span>
            </>
          }
        >
          <Ladder
            strikes={strikes}
            levels={levels}
            before={before?.strikes}
            measure={measure}
            onExplain={(at) => navigate({ explain: `strike.${String(at).replace('.', '_')}` })}
          />
        </ChartPanel>
        <SessionsPanel levels={levels} moment={moment} />
        {page.value.own.with ? (
          <CombinedPanel />
        ) : (
          <ProfilePanel profile={profile} levels={levels} before={before?.profile} moment={moment} />
        )}
        <ChartPanel
          id="expiry-shares"
          class="expiries-panel beside-wide"
          title="By expiry"
          unit="share of gross gamma · volatility at the money"
          call={calls.expiries}
          answer={answer}
          table={tables!.expiries}
          readout="A press analyses one expiry alone."
        >
          <ExpiryBars
            expiries={expiries}
            onChoose={(expiry) => navigate({ options: { ...options, expiries: expiry } })}
          />
        </ChartPanel>
      </div>
    </>
  );
}
