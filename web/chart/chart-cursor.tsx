import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** Delay before a screen reader announces the figures at the cursor, in ms. Each move of the cursor restarts the delay. */
const REST_MS = 150;

/** The attributes of a chart with a cursor, which takes the focus and handles keys itself. */
export const CURSOR_CHART = { role: 'application', 'aria-roledescription': 'chart', tabIndex: 0 } as const;

/** Returns a polite live region, and a debounced function that sets its text. */
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

/** Returns the position of a pointer within the element that handles the event, in pixels from the upper left corner. */
export function pointWithin(event: MouseEvent): { x: number; y: number } {
  const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

/**
 * Returns handlers with which a pointer moves the cursor of a chart. `at` returns the place of the cursor at the pointer. After a touch ends,
 * the cursor stays, so that its figures remain visible.
 */
export function pointerCursor<Place>(at: (event: MouseEvent) => Place | null, onCursor: (at: Place | null) => void) {
  const onPointerMove = (event: PointerEvent) => onCursor(at(event));
  const onPointerLeave = (event: PointerEvent) => event.pointerType !== 'touch' && onCursor(null);
  return { onPointerMove, onPointerDown: onPointerMove, onPointerLeave };
}
