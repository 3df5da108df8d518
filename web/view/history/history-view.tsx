import { ViewState } from '../../panel/chart-panel.tsx';
import { asOf, gexView } from '../../state/page-market.ts';
import { HistoryPanel } from './history-panel.tsx';
import { RecordPanel } from './record-panel.tsx';

/** Renders the History view: the levels over time, and the track record of the levels. */
export function HistoryView() {
  if (asOf.value === undefined) return <ViewState asked={gexView.asked.value} />;
  return (
    <div class="history-panels">
      <HistoryPanel moment={asOf.value} />
      <RecordPanel moment={asOf.value} />
    </div>
  );
}
