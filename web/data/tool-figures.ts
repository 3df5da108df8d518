import { cleanText, percent, plain, UNKNOWN } from '../page-format.ts';
import { labelOf, type ToolObjectSchema } from './tool-fields.ts';

type Values = Readonly<Record<string, unknown>>;

const LIST_MOST = 12;

/**
 * Returns the figures of a tool's answer: name, value, and the meaning of the value with its unit. The meaning is empty if the schema does not
 * describe the figure. The name of a figure in an inner object starts with the name of the object.
 */
export function toolFigures(answer: Values, schema: ToolObjectSchema | undefined): [string, string, string][] {
  return Object.entries(answer).flatMap(([name, value]): [string, string, string][] => {
    const note = cleanText(schema?.properties?.[name]?.description, 600);
    if (Array.isArray(value) && value.some(isObject))
      return value.slice(0, LIST_MOST).map((row, i) => [`${i + 1}`, valueText('', row), i ? '' : note]);
    if (!isObject(value)) return [[labelOf(name), valueText(name, value), note]];
    return toolFigures(value, undefined).map(([inner, text], i) => [`${labelOf(name)}, ${inner}`, text, i ? '' : note]);
  });
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (isObject(value)) {
    return Object.entries(value)
      .map(([inner, each]) => `${labelOf(inner)} ${valueText(inner, each)}`)
      .join(' · ');
  }
  if (Array.isArray(value)) {
    const shown = value.slice(0, LIST_MOST).map((each) => valueText(name, each));
    return `${shown.join(', ')}${value.length > LIST_MOST ? `, … ${value.length} in all` : ''}`;
  }
  if (typeof value !== 'number') return typeof value === 'boolean' ? (value ? 'yes' : 'no') : cleanText(value);
  return name.endsWith('_pct') ? percent(value, 2, false) : plain(value, 6);
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
