import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The parts that are open. They stay so from figure to figure. */
const openParts = signal<ReadonlySet<string>>(new Set(['firmness', 'call']));

/**
 * A part of Explain that the member opens and closes. `children` gets whether the part is on the screen, so that it asks the server for
 * nothing that nobody sees.
 */
export function ExplainPart({
  id,
  title,
  children,
}: {
  id: string;
  title: string;
  children: (isVisible: boolean) => ComponentChildren;
}) {
  const ref = useRef<HTMLDetailsElement>(null);
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setVisible(entries.at(-1)!.isIntersecting));
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  const isOpen = openParts.value.has(id);
  return (
    <details
      ref={ref}
      class="explain-part"
      data-part={id}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => {
        if (open === openParts.peek().has(id)) return;
        const next = new Set(openParts.peek());
        if (open) next.add(id);
        else next.delete(id);
        openParts.value = next;
      }}
    >
      <summary>
        <h3>{title}</h3>
      </summary>
      {isOpen && children(isVisible)}
    </details>
  );
}
