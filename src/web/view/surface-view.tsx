/** The view Surface. */
export function SurfaceView() {
  return <p class="empty">Surface</p>;
}
