/** The view House. */
export function HouseView() {
  return <p class="empty">House</p>;
}
