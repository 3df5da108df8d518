import { Type } from '@sinclair/typebox';
import { type ExpirySelection, parseExpiries } from '../analytics/chain/options.ts';
import { ClientError } from '../errors.ts';

/** The schema of the argument `expiry`. Without it, an operation analyses every expiry. */
export const expiryChoice = Type.Optional(
  Type.String({ description: 'Only this expiry, YYYY-MM-DD or 0dte.', pattern: '^(0dte|all|\\d{4}-\\d\\d-\\d\\d)$' }),
);

/**
 * Returns the selection of the argument `expiry`. Throws `ClientError` if it is not a date of the calendar. The preparation of the chain
 * throws `ClientError` if the chain has no such expiry.
 */
export function expirySelection(expiry: string | undefined): ExpirySelection {
  const selection = parseExpiries(expiry ?? 'all');
  if (selection) return selection;
  throw new ClientError('unprocessable', '/expiry must be a date of the calendar', {
    hint: 'Leave out expiry to analyse every expiry.',
    fieldErrors: [{ field: '/expiry', expected: 'must be a date of the calendar' }],
  });
}
