import { effect, signal } from '@preact/signals';
import { connection, serverNow } from '../data/server-connection.ts';

/** True if the server has another version of the page than this browser tab. */
export const isOtherVersion = signal(false);

const EVERY_MS = 60_000;

/** Compares the loaded script with that of the server's current page, once a minute and each time the connection returns. */
export function followVersion(): void {
  const own = [...document.scripts].map(({ src }) => new URL(src).pathname);
  let checkedAt = serverNow.peek();
  let wasOnline = true;
  effect(() => {
    const { isOnline } = connection.value;
    const isBack = isOnline && !wasOnline;
    wasOnline = isOnline;
    if (!isOnline || (!isBack && serverNow.value - checkedAt < EVERY_MS)) return;
    checkedAt = serverNow.peek();
    fetch('/', { cache: 'no-store', credentials: 'omit' })
      .then((response) => (response.ok ? response.text() : undefined))
      .then((text) => {
        if (text !== undefined) isOtherVersion.value = !own.every((path) => text.includes(path));
      })
      .catch(() => {});
  });
}
