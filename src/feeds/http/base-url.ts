import { OperatorError } from '../../errors.ts';
import { isLoopback } from '../../loopback.ts';

/**
 * Checks the address of a provider from the setting `flag`, and returns the address without a slash at its end. `hasCredential` is whether
 * the feed sends a credential to this address. Throws `OperatorError` in three cases: the text is not an address; the address contains a
 * user, a password, a query or a fragment, because addresses are written to logs; or a credential would be sent unencrypted over a network.
 */
export function baseUrl(text: string, flag: string, scheme: 'http' | 'ws', hasCredential: boolean): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== `${scheme}:` && url.protocol !== `${scheme}s:`)) {
    throw new OperatorError(`${flag} is not an address`, `Use ${scheme}s://HOST or ${scheme}s://HOST/PATH.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new OperatorError(
      `${flag} contains a user, a password, a query or a fragment`,
      `Use ${scheme}s://HOST or ${scheme}s://HOST/PATH.`,
    );
  }
  if (hasCredential && url.protocol === `${scheme}:` && !isLoopback(hostOf(url))) {
    throw new OperatorError(
      `${flag} would send the credential unencrypted`,
      `Use ${scheme}s, or ${scheme} on loopback.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Returns the host of a URL. If the host is an IPv6 address, returns it without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
