/** The view Scan. */
export function ScanView() {
  return <p class="empty">Scan</p>;
}
