/** The view Expiries. */
export function ExpiriesView() {
  return <p class="empty">Expiries</p>;
}
