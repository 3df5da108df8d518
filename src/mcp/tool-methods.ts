import page from '../../docs/tool-methods.md' with { type: 'text' };

const [INTRODUCTION = '', ...SECTIONS] = page.split(/^(?=## )/m);

/** A line with a link to another page. Models cannot follow such links. */
const LINK = /^\[[^\]]+\]\([^)]+\)\n?/gm;

/** The paragraph about `provenance` in the introduction. Every answer over MCP contains `provenance`. */
const [PROVENANCE = ''] = /^\*\*Provenance\.\*\*.*?(?=\n\n)/ms.exec(INTRODUCTION) ?? [];

/** The methods by tool name: the tool's section of docs/tool-methods.md (Markdown with TeX formulas), and `PROVENANCE`. */
export const METHODS: ReadonlyMap<string, string> = new Map(
  SECTIONS.map((section) => [
    /^## (\S+)/.exec(section)![1]!,
    `${section.replaceAll(LINK, '').trim()}\n\n${PROVENANCE}`,
  ]),
);

/** The conventions of all figures, and a list of the resources about each tool's methods. */
export const METHODS_OVERVIEW = [
  INTRODUCTION.trim(),
  ...[...METHODS.keys(), 'read_resource (URIs, queries and fields of the resources)'].map(
    (name) => `- zomma://methods/${name}`,
  ),
].join('\n');
