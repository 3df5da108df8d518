import { cleanText, percent, plain, UNKNOWN } from '../page-format.ts';
import { isObject } from './mcp-call.ts';
import { labelOf, type ToolObjectSchema } from './tool-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/** A figure of a tool's answer. */
export interface ToolFigure {
  readonly name: string;
  readonly value: string;
  /** The meaning of the figure, with its unit. Empty if the schema does not describe the figure. */
  readonly note: string;
}

const LIST_MOST = 12;

/** Returns the figures of an answer. The name of a figure in an inner object starts with the name of the object. */
export function toolFigures(answer: Values, schema: ToolObjectSchema | undefined): ToolFigure[] {
  return Object.entries(answer).flatMap(([name, value]): ToolFigure[] => {
    const note = cleanText(schema?.properties?.[name]?.description, 600);
    if (Array.isArray(value) && value.some(isObject)) {
      return value
        .slice(0, LIST_MOST)
        .map((row, i) => ({ name: `${i + 1}`, value: rowText(row), note: i ? '' : note }));
    }
    if (!isObject(value)) return [{ name: labelOf(name), value: valueText(name, value), note }];
    const own = toolFigures(value, undefined).map((each) => ({ ...each, name: `${labelOf(name)}, ${each.name}` }));
    return own.map((each, i) => ({ ...each, note: i === 0 ? note : '' }));
  });
}

function rowText(row: unknown): string {
  if (!isObject(row)) return valueText('', row);
  return Object.entries(row)
    .map(([name, value]) => `${labelOf(name)} ${valueText(name, value)}`)
    .join(' · ');
}

function valueText(name: string, value: unknown): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (Array.isArray(value)) {
    const more = value.length > LIST_MOST ? `, … ${value.length} in all` : '';
    return (
      value
        .slice(0, LIST_MOST)
        .map((each) => valueText(name, each))
        .join(', ') + more
    );
  }
  if (typeof value !== 'number') return typeof value === 'boolean' ? (value ? 'yes' : 'no') : cleanText(value);
  return name.endsWith('_pct') ? percent(value, 2, false) : plain(value, 6);
}
