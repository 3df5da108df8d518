import { usePageFile } from '../state/page-files.ts';
import { Markdown } from './markdown.tsx';
import { type MarkdownBlock, sectionOf } from './markdown-page.ts';

/** A section of docs/terminal.md without its heading, so that page and documentation say the same. */
export function TerminalText({ section }: { section: string }) {
  const blocks = usePageFile<MarkdownBlock[]>('terminal') ?? [];
  return <Markdown blocks={sectionOf(blocks, section).slice(1)} onJump={() => {}} />;
}
