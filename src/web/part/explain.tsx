import { navigate, page } from '../state/page.ts';

/** The panel about one figure. */
export function Explain() {
  return (
    <aside class="explain" aria-label="Explain">
      <header>
        <h2>{page.value.explain}</h2>
        <button type="button" onClick={() => navigate({ explain: null })}>
          Close <kbd>Esc</kbd>
        </button>
      </header>
    </aside>
  );
}
