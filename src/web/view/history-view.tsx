import { HistoryPanel } from '../part/history-panel.tsx';
import { RecordPanel } from '../part/record-panel.tsx';

/** How the levels moved, and whether they held. */
export function HistoryView() {
  return (
    <div class="history-panels">
      <HistoryPanel />
      <RecordPanel />
    </div>
  );
}
