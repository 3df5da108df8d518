import { parseData } from '../data/request.ts';

/** Maximum number of values in the excerpt of a list of numbers, strings or booleans. */
const VALUES_SHOWN = 4;

/**
 * Returns JSON as indented text of at most `most` lines. One line shows the first values of a list of numbers, strings or booleans. The
 * text states how many values and lines are left out.
 */
export function jsonExcerpt(json: string, most: number): string {
  const lines = linesOf(parseData(json), '');
  if (lines.length <= most) return lines.join('\n');
  return [...lines.slice(0, most), `… ${lines.length - most} more lines`].join('\n');
}

function linesOf(value: unknown, indent: string): string[] {
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const isList = Array.isArray(value);
  if (isList && value.every((each) => typeof each !== 'object' || each === null)) return [listLine(value)];
  const [open, close] = isList ? '[]' : '{}';
  const entries = Object.entries(value);
  if (entries.length === 0) return [`${open}${close}`];
  const inner = `${indent}  `;
  return [
    open!,
    ...entries.flatMap(([name, each], i) => {
      const [first, ...rest] = linesOf(each, inner);
      const lines = [`${inner}${isList ? '' : `${JSON.stringify(name)}: `}${first}`, ...rest];
      if (i < entries.length - 1) lines.push(`${lines.pop()},`);
      return lines;
    }),
    `${indent}${close}`,
  ];
}

function listLine(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN).map((each) => JSON.stringify(each));
  if (values.length > VALUES_SHOWN) shown.push(`… ${values.length - VALUES_SHOWN} more`);
  return `[${shown.join(', ')}]`;
}
