import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** Delay before a screen reader announces the figures at the cursor, in ms. Each move of the cursor restarts the delay. */
const REST_MS = 150;

/** The attributes of a chart that can get the focus and that handles keys itself. */
export const CURSOR_CHART = { role: 'application', 'aria-roledescription': 'chart', tabIndex: 0 } as const;

/** Returns a polite live region (ARIA), and a debounced function that sets the text of the region. */
export function useSpoken(): [region: JSX.Element, speak: (text: string) => void] {
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return [
    <div class="spoken" aria-live="polite">
      {text}
    </div>,
    (next) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setText(next), REST_MS);
    },
  ];
}

/**
 * Returns a handler of keyboard events for a chart. The function `act` returns false if the chart has no action for the key. The handler
 * ignores key combinations with Ctrl, Alt or Meta, because the browser uses these combinations.
 */
export function chartKeys(act: (event: KeyboardEvent) => unknown): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || act(event) === false) return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Returns the position of a pointer within the element that handles the event, in pixels from the upper left corner. */
export function pointWithin(event: MouseEvent): { x: number; y: number } {
  const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

/**
 * Returns handlers that move the cursor of a chart with the pointer. The function `at` returns the cursor position for a pointer event.
 * After a touch ends, the cursor stays, so that the figures at the cursor remain visible.
 */
export function pointerCursor<Place>(at: (event: MouseEvent) => Place | null, onCursor: (at: Place | null) => void) {
  const onPointerMove = (event: PointerEvent) => onCursor(at(event));
  const onPointerLeave = (event: PointerEvent) => event.pointerType !== 'touch' && onCursor(null);
  return { onPointerMove, onPointerDown: onPointerMove, onPointerLeave };
}
