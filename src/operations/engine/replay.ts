import { type TObject, Type } from '@sinclair/typebox';
import { type ClientErrorCode, invalidField } from '../../core/errors.ts';
import { momentOf } from './moment.ts';
import type { Context, Operation } from './operation.ts';
import { objectOf, textField } from './schemas.ts';

/** The moment of a replay. The description is short because every market tool has it in its definition, which models read. */
const at = Type.Optional(textField('Past moment: ISO 8601, or New York date (its end).'));

/**
 * Returns the schema of an operation's arguments. If the operation reads the market, the arguments include the moment of a replay, `at`.
 */
export function withMoment(operation: Operation, input: TObject): TObject {
  if (!operation.ofMarket) return input;
  return objectOf({ ...input.properties, at });
}

/**
 * Returns the context of a replay: the market at a past moment, without later data. Ages are measured at this moment, so a request gets the
 * same answer whenever it is sent. Throws `ClientError` with the given code if the moment is invalid or in the future.
 */
export function contextAt(context: Context, at: string, code: ClientErrorCode): Context {
  const instantMs = momentOf(at, '/at', 'last', code);
  if (instantMs > context.nowMs())
    throw invalidField(code, '/at', 'must not be in the future; a date means the end of that day');
  return { ...context, market: context.market.at(instantMs), nowMs: () => instantMs };
}
