import { useMemo } from 'preact/hooks';
import { type Radar, useAnswer } from '../data/page-answers.ts';
import { ConcentrationPanel, DensityPanel, RADAR_INITIAL, WhipsawPanel } from '../part/radar-panels.tsx';
import { ToolForms } from '../part/tool-form.tsx';
import { UniverseGrid } from '../part/universe-grid.tsx';
import { ViewState } from '../part/view-state.tsx';
import { page, tickerCall } from '../state/page.ts';
import { asOf, gexView } from '../state/page-market.ts';

/** The tools that Scan has as forms. */
const TOOLS = [
  'evaluate_market_hamiltonian',
  'calculate_merton_probability',
  'calculate_kelly_sizing',
  'compute_options_greeks',
];

/** The whole universe, the radar of the page's ticker, and small tools as forms. */
export function ScanView() {
  const view = gexView.asked.value;
  const { own, ticker } = page.value;
  const moment = asOf.value;
  const dte = own.dte ?? RADAR_INITIAL.dte;
  const limit = own.limit ?? RADAR_INITIAL.limit;
  const call = useMemo(
    () =>
      moment === undefined
        ? undefined
        : tickerCall('run_strategic_omni_radar', moment, { target_dte: Number(dte), limit: Number(limit) }),
    [moment, dte, limit, ticker],
  );
  const asked = useAnswer<Radar>(call);
  return (
    <div class="scan-grid">
      <UniverseGrid />
      {view.answer ? (
        <>
          <DensityPanel asked={asked} call={call} />
          <div class="scan-side">
            <WhipsawPanel asked={asked} call={call} />
            <ConcentrationPanel asked={asked} call={call} />
          </div>
        </>
      ) : (
        <ViewState asked={view} />
      )}
      <section class="panel tools-panel" aria-label="Tools over MCP" data-panel="tools">
        <header class="panel-head">
          <h2>Tools over MCP</h2>
          <span class="unit">the exchange of this page with the server, as any MCP client sees it</span>
        </header>
        <ToolForms names={TOOLS} radar={asked.answer?.body} />
      </section>
    </div>
  );
}
