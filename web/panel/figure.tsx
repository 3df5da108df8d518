import { navigate, page } from '../state/page.ts';

export interface FigureProps {
  /** The id of the figure in the Explain panel. */
  readonly id: string;
  readonly name: string;
  readonly value: string;
  /** The exact value, for the tooltip and for copying. */
  readonly exact: string;
  readonly note: string;
  /** The words that say what the value means, such as the regime or the distance from spot. They are larger than the note. */
  readonly meaning?: string;
  readonly tone?: 'positive' | 'negative' | 'stale' | '';
  /** In a comparison, the earlier value and the difference as texts, and the sign of the difference. */
  readonly before?: { readonly value: string; readonly difference: string; readonly tone: string } | undefined;
}

/** Renders a figure with its name, its unit and a note. A click opens the Explain panel for the figure. */
export function Figure({ id, name, value, exact, note, meaning, tone = '', before }: FigureProps) {
  const isOpen = page.value.explain === id;
  return (
    <button
      type="button"
      class="figure bare"
      data-figure={id}
      aria-pressed={isOpen}
      title={exact}
      onClick={() => navigate({ explain: isOpen ? null : id })}
    >
      <span class="figure-name small">{name}</span>
      <span class={`figure-value ${tone === 'stale' ? '' : tone}`} key={value}>
        {value}
      </span>
      {meaning && <span class={`figure-meaning strong ${tone}`}>{meaning}</span>}
      <span class={`figure-note small ${before?.tone ?? ''}`}>
        {before ? `was ${before.value}, ${before.difference}` : note}
      </span>
    </button>
  );
}
