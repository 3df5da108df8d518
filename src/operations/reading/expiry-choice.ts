import { Type } from '@sinclair/typebox';
import { type ExpirySelection, parseExpiries } from '../../analytics/chain/options.ts';
import { invalidArgument } from '../../core/errors.ts';
import { documented, textField } from '../engine/schemas.ts';

/** The schema of the argument `expiry`. If the argument is missing, an operation analyses every expiry. */
export const expiryChoice = Type.Optional(
  documented(textField('Only this expiry, YYYY-MM-DD or 0dte.'), {
    pattern: '^(all|0dte|[0-9]{4}-[0-9]{2}-[0-9]{2})$',
  }),
);

/** Returns the expiries that `expiry` selects. Throws `ClientError` for anything but a date of the calendar, `0dte` or `all`. */
export function expirySelection(expiry: string | undefined): ExpirySelection {
  const selection = parseExpiries(expiry?.toLowerCase() ?? 'all');
  if (selection && selection.kind !== 'next' && selection.kind !== 'session') return selection;
  const expected = 'must be a date of the calendar, YYYY-MM-DD, or 0dte';
  const hint = 'get_option_quotes with only ticker lists the expiries.';
  throw invalidArgument('/expiry', expected, hint);
}
