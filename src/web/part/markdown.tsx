import type { ComponentChildren } from 'preact';
import type { Block, Span } from './markdown-page.ts';

/**
 * Draws blocks. A link within the page calls `onJump` with its anchor. Any other link is plain text, because the terminal links to nothing
 * outside. An item of a list that begins with the code `mark` gets the class `marked`.
 */
export function Markdown({
  blocks,
  onJump,
  mark = '',
}: {
  blocks: readonly Block[];
  onJump: (anchor: string) => void;
  mark?: string;
}) {
  const draw = (all: readonly Block[]) =>
    all.map((block, i) => {
      if (block.kind === 'heading') {
        const Heading = block.level > 2 ? 'h5' : 'h4';
        return <Heading key={i}>{spansOf(block.spans)}</Heading>;
      }
      if (block.kind === 'paragraph') return <p key={i}>{spansOf(block.spans)}</p>;
      if (block.kind === 'code') return <pre key={i}>{block.text}</pre>;
      if (block.kind === 'list') {
        const List = block.isOrdered ? 'ol' : 'ul';
        return (
          <List key={i}>
            {block.items.map((item, row) => (
              <li key={row} class={firstCode(item) === mark ? 'marked' : undefined}>
                {draw(item)}
              </li>
            ))}
          </List>
        );
      }
      return (
        <div key={i} class="wide-table">
          <table>
            {block.rows.map((cells, row) => (
              <tr key={row}>
                {cells.map((cell, column) => {
                  const Cell = row === 0 ? 'th' : 'td';
                  return <Cell key={column}>{spansOf(cell)}</Cell>;
                })}
              </tr>
            ))}
          </table>
        </div>
      );
    });
  const spansOf = (spans: readonly Span[]): ComponentChildren =>
    spans.map((span, i) => {
      if (span.kind === 'text') return span.text;
      if (span.kind === 'code') return <code key={i}>{span.text}</code>;
      const inner = spansOf(span.spans);
      if (span.kind === 'strong') return <strong key={i}>{inner}</strong>;
      if (span.kind === 'em') return <em key={i}>{inner}</em>;
      if (!span.href.startsWith('#')) return inner;
      return (
        <button type="button" key={i} class="jump" onClick={() => onJump(span.href.slice(1))}>
          {inner}
        </button>
      );
    });
  return <>{draw(blocks)}</>;
}

/** Returns the code with which an item of a list begins. */
function firstCode([first]: readonly Block[]): string | undefined {
  const span = first?.kind === 'paragraph' ? first.spans[0] : undefined;
  return span?.kind === 'code' ? span.text : undefined;
}
