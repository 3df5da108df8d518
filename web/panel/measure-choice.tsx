import { MEASURES } from '../state/address.ts';
import { navigate, page } from '../state/page.ts';

/** Renders the select element for the exposure that the page shows. */
export function MeasureChoice() {
  return (
    <label class="choice">
      <span class="spoken">Measure</span>
      <select
        value={page.value.measure}
        onChange={(event) => navigate({ measure: MEASURES.find((each) => each === event.currentTarget.value)! })}
      >
        {MEASURES.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    </label>
  );
}
