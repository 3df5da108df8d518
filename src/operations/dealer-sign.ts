import { Type } from '@sinclair/typebox';
import type { SignConvention } from '../analytics/chain/options.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type CustomerPositions, customerPositions, summedInSteps } from '../analytics/flow/customer-positions.ts';
import { signedByFlow } from '../analytics/flow/flow-sign.ts';
import { signPrints } from '../analytics/flow/trade-side.ts';
import { ClientError } from '../errors.ts';
import type { Chain } from '../market/chain.ts';
import { PARTS, type PrintsQuery } from '../market/tape.ts';
import { TapeSummer, type TapeSums } from '../market/tape-sums.ts';
import { runToCompletion, StepCache, type Steps } from '../steps.ts';
import type { Context } from './operation.ts';
import { tapePrice } from './prices.ts';
import { forEachStretch } from './signed-tape.ts';

/** The field in which an answer states its assumption about dealers. */
export const signConvention = Type.String({ description: "Assumption about dealers' side." });

export function conventionOf({ sign }: Pick<PreparedChain, 'sign'>): string {
  return sign === 'flow'
    ? "dealers opposite to customers' net positions by signed prints; other open interest counts nothing"
    : 'dealers long calls, short puts (assumed)';
}

/** A prepared chain with a sign convention. Throws `ClientError` (invalid_parameter) if `sign` is `flow` and no contract has a print. */
export function* signedAs(sign: SignConvention, prepared: PreparedChain, context: Context): Steps<PreparedChain> {
  if (sign === prepared.sign) return prepared;
  const positions = yield* customerPositionsInSteps(prepared.chain, context.market.tape(prepared.chain));
  if (positions) return byFlow(prepared, positions);
  throw new ClientError(
    'invalid_parameter',
    `No prints of ${prepared.chain.underlying} are known that could sign its options`,
    {
      hint: 'Load a tape with `zomma ingest`, or leave sign at calls_long_puts_short.',
      fieldErrors: [{ field: '/sign', expected: 'must be calls_long_puts_short if there are no prints' }],
    },
  );
}

/** Customers' positions in a chain by its tape, cached while the tape is unchanged. Returns `undefined` if no contract has a print. */
export function customerPositionsOf(chain: Chain, tape: PrintsQuery): CustomerPositions | undefined {
  return runToCompletion(customerPositionsInSteps(chain, tape));
}

/** As `customerPositionsOf`, in steps. */
export function* customerPositionsInSteps(chain: Chain, tape: PrintsQuery): Steps<CustomerPositions | undefined> {
  const positions = yield* customers.of(chain, tape.version, {
    message: 'Signing the tape',
    tokens: tapePrice(tape),
    steps: () => positionsBy(chain, tape),
  });
  return Object.values(positions.prints).some((count) => count > 0) ? positions : undefined;
}

function* positionsBy(chain: Chain, tape: PrintsQuery): Steps<CustomerPositions> {
  return tape.stretches
    ? yield* summedInSteps(chain, yield* sumTape(tape))
    : customerPositions(chain, signPrints(tape.prints));
}

function* sumTape(tape: PrintsQuery): Steps<TapeSums> {
  const summer = new TapeSummer();
  yield* forEachStretch(tape, PARTS.ofDay, (stretch) => summer.add(stretch.sums()));
  return summer.sums();
}

/** The chain with dealers opposite to customers. The same positions give the same object, so that results computed from it stay cached. */
export function byFlow(prepared: PreparedChain, positions: CustomerPositions): PreparedChain {
  const known = signed.get(prepared);
  if (known?.positions === positions) return known.signed;
  const fresh = signedByFlow(prepared, positions);
  signed.set(prepared, { positions, signed: fresh });
  return fresh;
}

const customers = new StepCache<Chain, CustomerPositions>(() => 1);
const signed = new WeakMap<PreparedChain, { positions: CustomerPositions; signed: PreparedChain }>();
