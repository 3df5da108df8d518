import { usePageFile } from '../state/page-files.ts';
import { Markdown } from './markdown.tsx';
import { type MarkdownBlock, sectionOf } from './markdown-page.ts';

/** Renders a section of docs/terminal.md without its heading, so that the page and the documentation have the same text. */
export function TerminalText({ section }: { section: string }) {
  const blocks = usePageFile<MarkdownBlock[]>('terminal') ?? [];
  return <Markdown blocks={sectionOf(blocks, section).slice(1)} onJump={() => {}} />;
}
