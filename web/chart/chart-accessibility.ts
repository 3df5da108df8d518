import { useRef, useState } from 'preact/hooks';

/** Delay before a screen reader announces the figures at the cursor, in ms. Each move of the cursor restarts the delay. */
const REST_MS = 150;

/** Returns the text of a polite live region, and a debounced function that sets this text. */
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
 * Returns a handler of keyboard events for a chart. `act` returns false if the chart has no action for the key. The handler ignores keys
 * pressed with Ctrl, Alt or Meta, because the browser uses them.
 */
export function chartKeys(act: (event: KeyboardEvent) => unknown): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || act(event) === false) return;
    event.preventDefault();
    event.stopPropagation();
  };
}
