/** The view Flow. */
export function FlowView() {
  return <p class="empty">Flow</p>;
}
