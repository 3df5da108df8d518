import { parseData } from '../data/request.ts';

/** Maximum number of values in the excerpt of a list of numbers, strings or booleans. */
const VALUES_SHOWN = 4;

/**
 * Returns JSON as indented text of at most `most` lines. One line shows the first values of a list of numbers, strings or booleans. The
 * text states how many values and lines are left out.
 */
export function jsonExcerpt(json: string, most: number): string {
  const lists: string[] = [];
  const withoutLists = JSON.stringify(
    parseData(json),
    (_, value: unknown) => {
      if (!Array.isArray(value) || value.some((each) => typeof each === 'object' && each !== null)) return value;
      return `\u0001${lists.push(listText(value)) - 1}`;
    },
    2,
  );
  const lines = withoutLists.replace(/"\\u0001(\d+)"/g, (_, i: string) => lists[Number(i)]!).split('\n');
  if (lines.length <= most) return lines.join('\n');
  return [...lines.slice(0, most), `… ${lines.length - most} more lines`].join('\n');
}

function listText(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN).map((each) => JSON.stringify(each));
  if (values.length > VALUES_SHOWN) shown.push(`… ${values.length - VALUES_SHOWN} more`);
  return `[${shown.join(', ')}]`;
}
