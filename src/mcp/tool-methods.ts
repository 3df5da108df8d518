import page from '../../docs/tool-methods.md' with { type: 'text' };

const [INTRODUCTION = '', ...SECTIONS] = page.split(/^(?=## )/m);

/** The methods of each tool as Markdown, by the name of the tool: a section of docs/tool-methods.md. */
export const METHODS: ReadonlyMap<string, string> = new Map(
  SECTIONS.map((section) => [/^## (\S+)/.exec(section)![1]!, section.trim()]),
);

/** The conventions of all figures, and the resources with the methods of each tool. */
export const METHODS_OVERVIEW = [
  INTRODUCTION.trim(),
  ...[...METHODS.keys()].map((name) => `- zomma://methods/${name}`),
].join('\n');
