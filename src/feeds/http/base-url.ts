import { OperatorError } from '../../errors.ts';
import { isLoopback } from '../../loopback.ts';

/**
 * Checks a provider's address from a setting, and returns it without a slash at its end. Throws `OperatorError` if the text is not an
 * address, if it contains a credential (addresses are written to logs), or if a credential would be sent unencrypted over a network.
 */
export function baseUrl(text: string, flag: string, scheme: 'http' | 'ws', secret: boolean): string {
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
  if (secret && url.protocol === `${scheme}:` && !isLoopback(hostOf(url))) {
    throw new OperatorError(
      `${flag} would send the credential in the clear`,
      `Use ${scheme}s, or ${scheme} on loopback.`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Returns the host of a URL. An IPv6 address has no brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
