import { areAllListed, dayFigures, isDataKnown } from '../state/watched-tickers.ts';

/** Renders the number of tickers without data, and a button that shows or hides them. */
export function WithoutData({ names }: { names: readonly string[] }) {
  if (!isDataKnown.value) return null;
  const hidden = names.filter((name) => dayFigures(name) === undefined).length;
  if (hidden === 0) return null;
  return (
    <button
      type="button"
      class="bare muted"
      data-without-data
      aria-pressed={areAllListed.value}
      onClick={() => (areAllListed.value = !areAllListed.value)}
    >
      {hidden} without data: {areAllListed.value ? 'hide' : 'show'}
    </button>
  );
}
