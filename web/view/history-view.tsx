import { HistoryPanel } from '../part/history-panel.tsx';
import { RecordPanel } from '../part/record-panel.tsx';
import { ViewState } from '../part/view-state.tsx';
import { asOf, gexView } from '../state/page-market.ts';

/** Renders the History view: the levels over time, and their track record. */
export function HistoryView() {
  if (asOf.value === undefined) return <ViewState asked={gexView.asked.value} />;
  return (
    <div class="history-panels">
      <HistoryPanel moment={asOf.value} />
      <RecordPanel moment={asOf.value} />
    </div>
  );
}
