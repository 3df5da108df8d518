import type { Radar } from '../../data/page-answers.ts';
import { ViewState } from '../../panel/chart-panel.tsx';
import { ToolForms } from '../../panel/tool-form.tsx';
import { page } from '../../state/page.ts';
import { gexView, useTickerAnswer } from '../../state/page-market.ts';
import { ConcentrationPanel, DensityPanel, RADAR_INITIAL, WhipsawPanel } from './radar-panels.tsx';
import { UniverseGrid } from './universe-grid.tsx';

/** The tools that the Scan view shows as forms. */
const TOOLS = [
  'evaluate_market_hamiltonian',
  'calculate_merton_probability',
  'calculate_kelly_sizing',
  'compute_options_greeks',
];

/** Renders the Scan view: the universe, the radar of the page's ticker, and forms for several tools. */
export function ScanView() {
  const view = gexView.asked.value;
  const { dte, limit } = { ...RADAR_INITIAL, ...page.value.own };
  const asked = useTickerAnswer<Radar>('run_strategic_omni_radar', { target_dte: Number(dte), limit: Number(limit) });
  return (
    <div class="scan-grid">
      <UniverseGrid />
      {view.answer ? (
        <>
          <DensityPanel asked={asked} />
          <div class="scan-side beside">
            <WhipsawPanel asked={asked} />
            <ConcentrationPanel asked={asked} />
          </div>
        </>
      ) : (
        <ViewState asked={view} />
      )}
      <section class="panel tools-panel" aria-label="Tools over MCP" data-panel="tools">
        <header class="panel-head row">
          <h2>Tools over MCP</h2>
          <span class="unit small">the exchange of this page with the server, as any MCP client sees it</span>
        </header>
        <ToolForms names={TOOLS} radar={asked.answer?.body} />
      </section>
    </div>
  );
}
