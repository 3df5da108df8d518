import type { Radar } from '../../data/page-answers.ts';
import { ViewState } from '../../panel/chart-panel.tsx';
import { page } from '../../state/page.ts';
import { gexView, useTickerAnswer } from '../../state/page-market.ts';
import { ConcentrationPanel, DensityPanel, RADAR_INITIAL, WhipsawPanel } from './radar-panels.tsx';

/** Renders the Odds view: where the price may end, how strongly gamma is concentrated, and the risk of a whipsaw. */
export function OddsView() {
  const view = gexView.asked.value;
  const { dte, limit } = { ...RADAR_INITIAL, ...page.value.own };
  const asked = useTickerAnswer<Radar>('run_strategic_omni_radar', { target_dte: Number(dte), limit: Number(limit) });
  if (!view.answer) return <ViewState asked={view} />;
  return (
    <div class="odds-view">
      <DensityPanel asked={asked} />
      <div class="beside">
        <WhipsawPanel asked={asked} />
        <ConcentrationPanel asked={asked} />
      </div>
    </div>
  );
}
