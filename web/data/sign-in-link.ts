import { keyOfCode } from './member-account.ts';
import { isKey, memberKey, signedOutReason, signIn, takeStoredKey } from './member-key.ts';

/**
 * Signs in by the fragment of the address: `#code=…`, which `zomma start` prints and which works once, or `#key=…`. Also follows a link that
 * is opened in this tab later. Without such a fragment, takes the key that this tab has stored. Must run before any other code, so that no
 * request is sent while the address has a key.
 */
export function followSignInLinks(): void {
  if (!takeLink(() => '')) takeStoredKey();
  window.addEventListener('hashchange', ({ oldURL }) => takeLink(() => new URL(oldURL).hash));
}

/**
 * Takes a key or a code from the address, and at once removes it from the address and from the history of the tab. `previous` returns the
 * fragment to show if the link names none. Returns whether the address had a key or a code.
 */
function takeLink(previous: () => string): boolean {
  const [, kind, given, rest] = /^#(key|code)=([^&]*)(?:&(.*))?$/.exec(location.hash) ?? [];
  if (given === undefined) return false;
  history.replaceState(null, '', `${location.pathname}${rest ? `#${rest}` : previous()}`);
  if (kind === 'code') void signInByCode(given);
  else if (!isKey(given)) signedOutReason.value = 'The link has no whole key: a key is ZOMMA_ and 16 characters.';
  else if (mayReplace(given)) signIn(given, false);
  return true;
}

async function signInByCode(code: string): Promise<void> {
  if (!mayReplace(undefined)) return;
  try {
    // `zomma start` prints the code of the demo member. It works once, so its key stays in this tab after a reload.
    signIn(await keyOfCode(code), true);
  } catch (error) {
    signedOutReason.value = (error as Error).message;
  }
}

/** Returns whether a link may sign in. If another key is in use, the member decides, because the link may be somebody else's. */
function mayReplace(key: string | undefined): boolean {
  takeStoredKey();
  if (memberKey.value === null || memberKey.value === key) return true;
  return confirm('You are signed in. Replace your key in this tab by the key of the link?');
}
