import { useRef, useState } from 'preact/hooks';

/** Time for which a cursor must rest before its figures are spoken, ms. */
const REST_MS = 150;

/** A text for a polite live region, and the function that sets it once the cursor rests. */
export function useSpoken(): [text: string, speak: (text: string) => void] {
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return [
    text,
    (next) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setText(next), REST_MS);
    },
  ];
}

/**
 * Returns the handler of keys of a chart. `act` returns false for a key that it does not know. Keys with Ctrl, Alt and Meta belong to the
 * browser.
 */
export function chartKeys(act: (event: KeyboardEvent) => unknown): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || act(event) === false) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
