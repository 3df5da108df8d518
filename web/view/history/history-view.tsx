import { ViewState } from '../../panel/view-state.tsx';
import { asOf, gexView } from '../../state/page-market.ts';
import { HistoryPanel } from './history-panel.tsx';
import { RecordPanel } from './record-panel.tsx';

/** How the levels moved, and whether they held. */
export function HistoryView() {
  if (asOf.value === undefined) return <ViewState asked={gexView.asked.value} />;
  return (
    <div class="history-panels">
      <HistoryPanel moment={asOf.value} />
      <RecordPanel moment={asOf.value} />
    </div>
  );
}
