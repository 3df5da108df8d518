import { page, setOwn } from '../state/page.ts';

/**
 * Renders a select element whose value is stored in the address as the view's setting `name`. If the address contains a value that is not
 * among `values`, the select element offers this value too.
 */
export function OwnSelect({
  name,
  label,
  values,
  initial,
  text,
}: {
  name: string;
  label: string;
  values: readonly string[];
  /** The value if the address does not contain the setting. */
  initial: string;
  text: (value: string) => string;
}) {
  const value = page.value.own[name] ?? initial;
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select
        value={value}
        data-own={name}
        onChange={({ currentTarget: { value: to } }) => setOwn(name, to === initial ? null : to)}
      >
        {(values.includes(value) ? values : [value, ...values]).map((each) => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
    </label>
  );
}
