/** The view Strikes. */
export function StrikesView() {
  return <p class="empty">Strikes</p>;
}
