import { Type } from '@sinclair/typebox';
import type { SignConvention } from '../analytics/chain/options.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type CustomerPositions, customerPositions, summedInSteps } from '../analytics/flow/customer-positions.ts';
import { signedByFlow } from '../analytics/flow/flow-sign.ts';
import { signPrints } from '../analytics/flow/trade-side.ts';
import { Failure } from '../errors.ts';
import type { Chain } from '../market/chain.ts';
import { PARTS, type Tape } from '../market/tape.ts';
import { TapeSummer, type TapeSums } from '../market/tape-sums.ts';
import { finish, StepCache, type Steps } from '../steps.ts';
import type { Context } from './operation.ts';
import { tapePrice } from './prices.ts';
import { throughTape } from './signed-tape.ts';

/** What an answer says of dealers' side. */
export const signConvention = Type.String({ description: "What is taken of dealers' side." });

export function conventionOf({ sign }: Pick<PreparedChain, 'sign'>): string {
  return sign === 'flow'
    ? "dealers opposite customers' net position by signed prints; what no print signs counts nothing"
    : 'dealers long calls, short puts (assumed)';
}

/** A prepared chain under a sign convention. Throws `Failure('invalid_parameter')` where flow is asked for and there is none. */
export function* signedAs(sign: SignConvention, prepared: PreparedChain, context: Context): Steps<PreparedChain> {
  if (sign === prepared.sign) return prepared;
  const positions = yield* customersInSteps(prepared.chain, context.market.tape(prepared.chain));
  if (positions) return byFlow(prepared, positions);
  throw new Failure(
    'invalid_parameter',
    `No prints of ${prepared.chain.underlying} are known that could sign its options`,
    {
      hint: 'Load a tape with `zomma ingest`, or leave sign at calls_long_puts_short.',
      faults: [{ field: '/sign', expected: 'must be calls_long_puts_short where there are no prints' }],
    },
  );
}

/** What customers hold of a chain by its tape; undefined where none of its contracts has one. Kept while the tape is the same. */
export function customersOf(chain: Chain, tape: Tape): CustomerPositions | undefined {
  return finish(customersInSteps(chain, tape));
}

export function* customersInSteps(chain: Chain, tape: Tape): Steps<CustomerPositions | undefined> {
  const positions = yield* customers.of(chain, tape.mark, {
    message: 'Signing the tape',
    tokens: tapePrice(tape),
    steps: () => positionsBy(chain, tape),
  });
  return Object.values(positions.prints).some((count) => count > 0) ? positions : undefined;
}

function* positionsBy(chain: Chain, tape: Tape): Steps<CustomerPositions> {
  return tape.stretches
    ? yield* summedInSteps(chain, yield* addedUp(tape))
    : customerPositions(chain, signPrints(tape.prints));
}

function* addedUp(tape: Tape): Steps<TapeSums> {
  const summer = new TapeSummer();
  yield* throughTape(tape, PARTS.ofDay, (stretch) => summer.add(stretch.sums()));
  return summer.sums();
}

/** The same object for the same positions, so that what is computed of it is kept too. */
export function byFlow(prepared: PreparedChain, positions: CustomerPositions): PreparedChain {
  const known = signed.get(prepared);
  if (known?.positions === positions) return known.signed;
  const fresh = signedByFlow(prepared, positions);
  signed.set(prepared, { positions, signed: fresh });
  return fresh;
}

const customers = new StepCache<Chain, CustomerPositions>(() => 1);
const signed = new WeakMap<PreparedChain, { positions: CustomerPositions; signed: PreparedChain }>();
