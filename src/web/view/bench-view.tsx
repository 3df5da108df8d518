/** The view Bench. */
export function BenchView() {
  return <p class="empty">Bench</p>;
}
