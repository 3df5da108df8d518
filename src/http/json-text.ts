import { StepMeter, type Steps } from '../core/steps.ts';
import { ALL_DIGITS, ByteText, NUMBER_BYTES } from '../math/decimals.ts';

/** Number of values that are written in one step of about 3 ms. */
const STEP_VALUES = 100_000;

/** Writes the text of `JSON.stringify` in steps, also of a Float64Array. `digits` below 17 rounds numbers that are not whole. */
export function* writeJson(body: object, digits = ALL_DIGITS): Steps<ByteText> {
  const text = new ByteText(NUMBER_BYTES * countValues(body));
  yield* addJson(text, body, digits, new StepMeter(STEP_VALUES));
  return text;
}

function* addJson(text: ByteText, value: object, digits: number, meter: StepMeter): Steps<void> {
  if (isColumn(value)) {
    if (meter.beginsNextStep(value.length)) yield { message: 'Writing the answer' };
    text.add('[');
    if (!text.addNumbers(value, digits)) addMixed(text, value as readonly unknown[], digits);
    text.add(']');
    return;
  }
  const isList = Array.isArray(value);
  let separator = '';
  text.add(isList ? '[' : '{');
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue;
    text.add(isList ? separator : `${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (typeof each === 'number') text.addNumbers([each], digits);
    else if (typeof each === 'object' && each !== null) yield* addJson(text, each, digits, meter);
    else text.add(JSON.stringify(each));
  }
  text.add(isList ? ']' : '}');
}

/** Writes a list that has not only numbers. Each number is rounded as it is in a list of numbers. */
function addMixed(text: ByteText, values: readonly unknown[], digits: number): void {
  if (!values.some((each) => typeof each === 'number')) {
    text.add(JSON.stringify(values).slice(1, -1));
    return;
  }
  for (const [i, each] of values.entries()) {
    if (i > 0) text.add(',');
    if (typeof each !== 'number' || !text.addNumbers([each], digits)) text.add(JSON.stringify(each));
  }
}

/** Returns the number of texts, numbers and other plain values in a JSON value. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (isColumn(value)) return value.length;
  return Object.values(value).reduce((sum: number, each) => sum + countValues(each), 0);
}

/** Returns whether a value is a list of plain values. In an answer, a list has either only plain values, or only objects and lists. */
function isColumn(value: object): value is Float64Array | readonly unknown[] {
  if (value instanceof Float64Array) return true;
  return Array.isArray(value) && (typeof value[0] !== 'object' || value[0] === null);
}
