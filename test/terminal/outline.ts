/** A part of an accessibility tree: `button "Zoom in (+)": +` with what is in it. */
interface Part {
  readonly text: string;
  readonly parts: Part[];
}

/** Roles of which a page has many that are alike, such as the rows of a grid. The first stands for all. */
const ALIKE = new Set(['row', 'listitem']);
/** Roles without parts that stand side by side on one line. */
const JOINED = new Set(['option', 'columnheader', 'rowheader', 'gridcell', 'cell', 'textbox']);
/** How many of them a line has. */
const JOINED_MAX = 24;

/**
 * Returns the structure of a snapshot of an accessibility tree (`ariaSnapshot`): roles, names and states, in order. Figures are `#`, and of
 * the rows of a grid and of the items of a list only the first is there, so that the outline changes with the page and not with its data.
 */
export function outlineOf(snapshot: string): string {
  return `${lines(shortened(parse(snapshot)), '').join('\n')}\n`;
}

function parse(snapshot: string): Part[] {
  const root: Part = { text: '', parts: [] };
  const open = [root];
  for (const line of snapshot.split('\n')) {
    const depth = line.search(/\S/) / 2;
    const part: Part = { text: masked(line.trim().replace(/^- /, '')), parts: [] };
    open.length = depth + 1;
    open[depth]!.parts.push(part);
    open.push(part);
  }
  return root.parts;
}

/** Figures, with their signs and units of size, are `#`. Levels of headings and the like stay. */
function masked(text: string): string {
  return text.replace(/\[[a-z]+(?:=\w+)?\]|[+−]?\d+(?:[.,:]\d+)*[KMBT]?\b/g, (each) =>
    each.startsWith('[') ? each : '#',
  );
}

const roleOf = ({ text }: Part) => /^'?([\w/]+)/.exec(text)![1]!;
/** The name of a part, or its text. */
const nameOf = ({ text }: Part) =>
  /^'?\w+(?: "(.*?)")?(?: \[.*?\])*:?(?: (.*?))?'?$/.exec(text)?.slice(1).find(Boolean) ?? '';

/** What the parts of a role are not needed for: the value of a field, and the texts about the fields of a form, which are the server's. */
const LEFT_OUT: Readonly<Record<string, RegExp>> = { textbox: /^/, form: /^text$/ };

function shortened(parts: readonly Part[], within = ''): Part[] {
  const result: Part[] = [];
  for (const { text, parts: inner } of parts) {
    const role = roleOf({ text, parts: inner });
    if (LEFT_OUT[within]?.test(role)) continue;
    const part = { text, parts: shortened(inner, role) };
    const before = result.at(-1);
    if (JOINED.has(role) && part.parts.length === 0) {
      const name = nameOf(part);
      if (before && roleOf(before) === role) {
        const names = before.text.slice(role.length + 2).split(' | ');
        if (names.length < JOINED_MAX && names.at(-1) !== name)
          result[result.length - 1] = { ...before, text: `${before.text} | ${name}` };
      } else result.push({ text: `${role}: ${name}`, parts: [] });
      continue;
    }
    if (ALIKE.has(role) && before && roleOf(before) === role) continue;
    // The name of a row is that of its cells.
    result.push(role === 'row' ? { ...part, text: 'row:' } : part);
  }
  return result;
}

function lines(parts: readonly Part[], indent: string): string[] {
  return parts.flatMap(({ text, parts: within }) => [`${indent}- ${text}`, ...lines(within, `${indent}  `)]);
}
