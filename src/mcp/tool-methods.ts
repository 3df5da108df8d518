import page from '../../docs/tool-methods.md' with { type: 'text' };

const [INTRODUCTION = '', ...SECTIONS] = page.split(/^(?=## )/m);

/** A line with a link to another page, which a model cannot read. */
const LINK = /^\[[^\]]+\]\([^)]+\)\n?/gm;

/** The introduction's paragraph about `provenance`, which is part of every answer. */
const [PROVENANCE = ''] = /^\*\*Provenance\.\*\*.*?(?=\n\n)/ms.exec(INTRODUCTION) ?? [];

/** The methods of each tool, by tool name: its section of docs/tool-methods.md (Markdown with TeX formulas), and `PROVENANCE`. */
export const METHODS: ReadonlyMap<string, string> = new Map(
  SECTIONS.map((section) => [
    /^## (\S+)/.exec(section)![1]!,
    `${section.replaceAll(LINK, '').trim()}\n\n${PROVENANCE}`,
  ]),
);

/** The conventions of all figures, and the resources with the methods of each tool. */
export const METHODS_OVERVIEW = [
  INTRODUCTION.trim(),
  ...[...METHODS.keys()].map((name) => `- zomma://methods/${name}`),
].join('\n');
