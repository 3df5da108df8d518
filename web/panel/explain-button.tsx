import { navigate } from '../state/page.ts';

/** Renders a button that explains a figure, such as `get_gex_horizons`, or a field of its answer, such as `get_gex_horizons.session_move`. */
export function ExplainButton({ id, name }: { id: string; name: string }) {
  return (
    <button type="button" aria-label={`Explain ${name}`} title="Explain" onClick={() => navigate({ explain: id })}>
      ?
    </button>
  );
}
