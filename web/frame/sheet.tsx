import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { dialog } from '../state/ui.ts';

interface SheetProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** Renders the open dialog. It is modal: it traps the focus, Escape closes it, and the focus then returns to the element before. */
export function Sheet({ title, children, class: name }: SheetProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const onClose = () => (dialog.value = null);
  useLayoutEffect(() => {
    const element = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    element.showModal();
    return () => {
      element.close();
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={`sheet ${name ?? ''}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="sheet-box">
        <header class="ends">
          <h2>{title}</h2>
          <button type="button" onClick={onClose}>
            Close <kbd>Esc</kbd>
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
