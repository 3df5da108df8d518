import { MEASURES } from '../state/address.ts';
import { navigate, page, setOwn } from '../state/page.ts';

interface ChoiceProps<Value extends string> {
  /** The name that screen readers announce for the select element. */
  readonly label: string;
  /** The selected value. The select element offers this value even if the list `values` does not contain it. */
  readonly value: Value;
  readonly values: readonly Value[];
  text?(value: Value): string;
  isDisabled?(value: Value): boolean;
  onChoose(value: Value): void;
  /** The name of the setting, for tests and style sheets. */
  readonly own?: string;
}

/** Renders a select element. Screen readers announce its name. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, value, values, text = String, isDisabled, onChoose, own } = props;
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select value={value} data-own={own} onChange={(event) => onChoose(event.currentTarget.value as Value)}>
        {(values.includes(value) ? values : [...values, value]).map((each) => (
          <option key={each} value={each} disabled={isDisabled?.(each)}>
            {text(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface OwnSelectProps extends Omit<ChoiceProps<string>, 'value' | 'onChoose' | 'own'> {
  readonly name: string;
  /** The value if the address does not contain the setting. */
  readonly initial: string;
}

/** Renders a select element for the setting `name` of the view. The address stores the value. */
export function OwnSelect({ name, initial, ...choice }: OwnSelectProps) {
  return (
    <Choice
      {...choice}
      own={name}
      value={page.value.own[name] ?? initial}
      onChoose={(to) => setOwn(name, to === initial ? null : to)}
    />
  );
}

/** Renders the select element for the exposure that the page shows. */
export function MeasureChoice() {
  return (
    <Choice
      label="Measure"
      value={page.value.measure}
      values={MEASURES}
      onChoose={(measure) => navigate({ measure })}
    />
  );
}
