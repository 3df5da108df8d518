/** Whether levels held. */
export function RecordPanel() {
  return null;
}
