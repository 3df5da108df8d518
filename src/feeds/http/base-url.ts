import { OperatorError } from '../../core/errors.ts';
import { isLoopback } from '../../core/loopback.ts';

/**
 * Checks a provider's address from the setting `flag`, and returns it without slashes at its end. Throws `OperatorError` for any scheme but
 * `scheme`, with or without TLS; for a user, a password, a query or a fragment, because addresses are written to logs; and if a credential
 * (`hasCredential`) would be sent over a network without encryption.
 */
export function baseUrl(text: string, flag: string, scheme: 'http' | 'ws', hasCredential: boolean): string {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== `${scheme}:` && url.protocol !== `${scheme}s:`)) {
    throw new OperatorError(
      `${flag} is not a URL with the scheme ${scheme} or ${scheme}s`,
      `Use ${scheme}s://HOST or ${scheme}s://HOST/PATH.`,
    );
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

/** Returns the host of a URL. An IPv6 address is returned without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
