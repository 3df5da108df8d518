import { signal } from '@preact/signals';

/**
 * The member's key. It lives in memory, and on the member's wish in this tab's session storage. It is never in a cookie, in local storage,
 * in an address or in a copied text.
 */
export const memberKey = signal<string | null>(null);

/** Why the page is signed out, as a sentence. Null: the member has not signed in yet, or has signed out. */
export const signedOutReason = signal<string | null>(null);

/** Whether this tab keeps the key in its session storage until the tab is closed. */
export const isKeyKept = signal(false);

const STORED = 'zomma-key';
const KEY = /^[A-Z][A-Z0-9]*_[A-Z0-9]{16}$/i;

export function isKey(text: string): boolean {
  return KEY.test(text);
}

/**
 * Takes the key from the fragment `#key=…`, which `zomma start` prints, and removes the fragment from the address and the history at once.
 * Without such a fragment, takes the key that this tab has stored.
 */
export function takeInitialKey(): void {
  const given = /^#key=([^&]*)(?:&(.*))?$/.exec(location.hash);
  if (given) {
    history.replaceState(null, '', `${location.pathname}${given[2] ? `#${given[2]}` : ''}`);
    if (isKey(given[1]!)) memberKey.value = given[1]!;
    return;
  }
  const stored = sessionStorage.getItem(STORED);
  if (!stored || !isKey(stored)) return;
  memberKey.value = stored;
  isKeyKept.value = true;
}

/** Keeps the key in this tab until the tab is closed, or forgets it at the next reload. */
export function keepKey(isKept: boolean): void {
  isKeyKept.value = isKept;
  if (isKept && memberKey.value !== null) sessionStorage.setItem(STORED, memberKey.value);
  else sessionStorage.removeItem(STORED);
}

/** Signs in. `isKept` keeps the key in this tab until the tab is closed. */
export function signIn(key: string, isKept: boolean): void {
  signedOutReason.value = null;
  memberKey.value = key;
  keepKey(isKept);
}

/** Signs out: removes the key. Whoever holds figures removes them when the key changes. */
export function signOut(reason: string | null = null): void {
  signedOutReason.value = reason;
  memberKey.value = null;
  keepKey(false);
}
