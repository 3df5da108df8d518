import { page, setOwn } from '../state/page.ts';

/**
 * A choice that the address keeps as the setting `name` of the view. A value of the address that is not among the choices becomes one, so
 * that the page shows every address as it is.
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
  /** The value of an address without the setting. */
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
