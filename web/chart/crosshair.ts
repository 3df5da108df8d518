import { signal } from '@preact/signals';

/** The price under the cursor, which all charts on the price axis show. Null: no cursor. */
export const cursorPrice = signal<number | null>(null);

/** The strikes that the member has selected in the ladder, ascending. */
export const selection = signal<readonly [from: number, to: number] | null>(null);
