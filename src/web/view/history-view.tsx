/** The view History. */
export function HistoryView() {
  return <p class="empty">History</p>;
}
