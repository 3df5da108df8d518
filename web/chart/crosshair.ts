import { signal } from '@preact/signals';

/** The price at the cursor, in dollars. All charts on the price axis draw the crosshair at this price. Null if there is no cursor. */
export const cursorPrice = signal<number | null>(null);

/** The range of strikes that the member has selected in the ladder, with the lower strike first. Null if no strike is selected. */
export const selection = signal<readonly [from: number, to: number] | null>(null);
