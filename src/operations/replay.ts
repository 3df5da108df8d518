import { type TObject, Type } from '@sinclair/typebox';
import type { FailureCode } from '../errors.ts';
import { moment, momentOf, momentRefusal } from './moment.ts';
import type { Context, Operation } from './operation.ts';

const at = Type.Optional(
  moment('Answers as the market stood then, from the snapshot that was the newest; a date means its last moment'),
);

/** The arguments of an operation, and where it reads the market, the moment at which it may be asked to. */
export function withMoment(operation: Operation, input: TObject): TObject {
  if (!operation.ofMarket) return input;
  return Type.Object({ ...input.properties, at }, { additionalProperties: false });
}

/**
 * What an operation may reach as it stood at a moment: later data is not seen, and ages are counted from then, so that the same
 * question has the same answer whenever it is asked. Throws `Failure` of that code for a moment that is none, or has not come.
 */
export function contextAt(context: Context, at: string, code: FailureCode): Context {
  const instantMs = momentOf(at, '/at', 'last', code);
  if (instantMs > context.nowMs())
    throw momentRefusal('/at', 'must not lie ahead of now (a date ends at midnight)', code);
  return { ...context, market: context.market.at(instantMs), nowMs: () => instantMs };
}
