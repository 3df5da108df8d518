import { signal } from '@preact/signals';

/**
 * The member's API key. The page stores the key in memory. If the member chooses to stay signed in, the page also stores the key in this
 * tab's session storage. The page never puts the key into a cookie, local storage or an address. A copied text contains the key only if the
 * member chooses so.
 */
export const memberKey = signal<string | null>(null);

/** The reason why the page signed the member out, as a sentence. Null if the member has not signed in yet, or has signed out. */
export const signedOutReason = signal<string | null>(null);

/** True if this tab stores the key in its session storage until the tab is closed. */
export const isKeyKept = signal(false);

const STORED = 'zomma-key';
const KEY = /^[A-Z][A-Z0-9]*_[A-Z0-9]{16}$/i;

export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** Reads the key that this tab has stored in its session storage. */
export function takeStoredKey(): void {
  const stored = sessionStorage.getItem(STORED);
  if (!stored || !isKey(stored)) return;
  memberKey.value = stored;
  isKeyKept.value = true;
}

/** Stores the key in this tab's session storage until the tab is closed. If `isKept` is false, removes the key from the session storage. */
export function keepKey(isKept: boolean): void {
  isKeyKept.value = isKept;
  if (isKept && memberKey.value !== null) sessionStorage.setItem(STORED, memberKey.value);
  else sessionStorage.removeItem(STORED);
}

/** Signs the member in. If `isKept` is true, the key stays in this tab's session storage until the tab is closed. */
export function signIn(key: string, isKept: boolean): void {
  signedOutReason.value = null;
  memberKey.value = key;
  keepKey(isKept);
}

/** Signs the member out and removes the key. A change of the key makes each module remove its figures. */
export function signOut(reason: string | null = null): void {
  signedOutReason.value = reason;
  memberKey.value = null;
  keepKey(false);
}
