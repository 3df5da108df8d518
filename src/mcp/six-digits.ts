/** Significant digits of numbers over MCP. More digits do not help a model. REST returns all digits. */
const DIGITS = 6;

/** Returns a copy of a JSON value in which each number has six significant digits. Whole numbers keep all digits. */
export function sixDigits<Value>(value: Value): Value {
  if (typeof value === 'number') return (Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS))) as Value;
  if (Array.isArray(value)) return value.map(sixDigits) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, sixDigits(each)])) as Value;
}
