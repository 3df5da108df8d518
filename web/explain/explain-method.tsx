import { useEffect, useRef, useState } from 'preact/hooks';
import { Markdown } from '../markdown/markdown.tsx';
import { type MarkdownBlock, plainText, sectionOf } from '../markdown/markdown-page.ts';
import { readPageFile } from '../state/page-files.ts';

/** Renders the section of docs/methods.md about a figure, loaded when the member opens it. A link opens another section. */
export function ExplainMethod({ section, item }: { section: string; item: string }) {
  const [isOpen, setOpen] = useState(false);
  const [page, setPage] = useState<MarkdownBlock[] | string>();
  const [jumped, setJumped] = useState<string>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => setJumped(undefined), [section, item]);
  useEffect(() => {
    if (!isOpen || Array.isArray(page)) return;
    readPageFile<MarkdownBlock[]>('methods').then(setPage, (error: Error) =>
      setPage(`The page cannot be read. ${error.message}`),
    );
  }, [isOpen]);
  const shown = jumped ?? section;
  useEffect(() => {
    if (!Array.isArray(page)) return;
    const place = jumped ? box.current : box.current?.querySelector('.marked');
    place?.scrollIntoView({ block: 'nearest' });
  }, [page, shown, item]);
  const blocks = Array.isArray(page) ? sectionOf(page, shown) : [];
  const heading = (id: string) => {
    const [first] = Array.isArray(page) ? sectionOf(page, id) : [];
    return first?.kind === 'heading' ? plainText(first.spans) : '';
  };
  return (
    <details class="explain-method" open={isOpen} onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>How it is made</summary>
      {isOpen && (
        <div ref={box} class="methods" data-methods={shown}>
          {jumped && (
            <p>
              <button type="button" onClick={() => setJumped(undefined)}>
                ◂ Back to {heading(section)}
              </button>
            </p>
          )}
          {typeof page === 'string' ? (
            <p>{page}</p>
          ) : (
            <Markdown blocks={blocks} onJump={setJumped} mark={jumped ? '' : item} />
          )}
        </div>
      )}
    </details>
  );
}
