import type { AssumedSign, SignConvention } from '../../analytics/chain/options.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import {
  type CustomerPositions,
  customerPositions,
  positionsFromSums,
} from '../../analytics/flow/customer-positions.ts';
import { signedBy, signedByFlow, signedShare } from '../../analytics/flow/flow-sign.ts';
import { signPrints } from '../../analytics/flow/trade-side.ts';
import { ClientError } from '../../core/errors.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { PARTS, type PrintsQuery, type StoredTape } from '../../market/tape.ts';
import { TapeSummer, type TapeSums } from '../../market/tape-sums.ts';
import type { Context } from '../engine/operation.ts';
import { tapeCost } from '../engine/request-cost.ts';
import { textField } from '../engine/schemas.ts';
import { forEachStretch } from './signed-tape.ts';

/** The schema of the field for the assumption about the dealers' positions. */
export const signConvention = textField("Assumption about the dealers' positions.");

/** Returns the text of the field `sign_convention`, which is the assumption about the dealers' positions. */
export function conventionOf({ sign }: Pick<PreparedChain, 'sign'>): string {
  return CONVENTIONS[sign];
}

const CONVENTIONS = {
  calls_long_puts_short: 'Dealers are long calls and short puts (assumed).',
  short_both: 'Dealers are short calls and puts (assumed).',
  long_both: 'Dealers are long calls and puts (assumed).',
  flow: "Dealers hold the opposite of customers' net positions, computed from prints whose buyer or seller is known. Other open interest counts as 0.",
} as const satisfies Record<SignConvention, string>;

/**
 * Below this share of open interest in customers' net positions, percent, the sign of net GEX by flow is often wrong. On tapes whose true
 * positions are known, the sign is wrong on one in five tapes at a share of 5 %, and on one in seven at 11 % (docs/methods/flow.md).
 */
const SIGNED_SHARE_MIN_PCT = 10;

/** Returns a note if the figures of `what` come from prints of only a small share of open interest, percent. */
export function thinFlowNotes(what: string, sharePct: number): string[] {
  if (sharePct >= SIGNED_SHARE_MIN_PCT) return [];
  return [
    `${what}: customers' net positions by prints are ${sharePct.toPrecision(3)} % of open interest. Below ${SIGNED_SHARE_MIN_PCT} %, the sign of net GEX by flow is often wrong.`,
  ];
}

/** Returns caveats on the figures of a chain whose dealer signs follow from prints. */
export function flowSignNotes(prepared: PreparedChain): string[] {
  if (prepared.sign !== 'flow') return [];
  const share = 100 * signedShare(prepared).share;
  return [
    `Dealers hold the opposite of customers' net positions, which are ${share.toPrecision(3)} % of open interest. The rest counts as 0.`,
    ...thinFlowNotes('sign=flow', share),
  ];
}

/** Returns a chain with the dealer signs of a convention. Throws `ClientError` (invalid_parameter) if `flow` has no prints. */
export function* withSign(sign: SignConvention, prepared: PreparedChain, context: Context): Steps<PreparedChain> {
  if (sign === prepared.sign) return prepared;
  if (sign !== 'flow') return withAssumedSign(prepared, sign);
  const positions = yield* customerPositionsOf(prepared.chain, context.market.tape(prepared.chain));
  if (positions) return withFlowSign(prepared, positions);
  throw new ClientError('invalid_parameter', `No prints of live contracts of ${prepared.chain.underlying} are stored`, {
    hint: 'Load a tape with `zomma ingest`, or leave sign at calls_long_puts_short.',
    fieldErrors: [{ field: '/sign', expected: 'must be calls_long_puts_short if there are no prints' }],
  });
}

/** Returns the customers' positions in contracts, cached while the tape is unchanged; `undefined` if no live contract has a print. */
export function* customerPositionsOf(chain: Chain, tape: PrintsQuery): Steps<CustomerPositions | undefined> {
  const positions = yield* positionsCache.of(chain, tape.version, {
    message: 'Finding the side of each print',
    tokens: tapeCost(tape),
    steps: () => positionsBy(chain, tape),
  });
  return Object.values(positions.prints).some((count) => count > 0) ? positions : undefined;
}

function* positionsBy(chain: Chain, tape: PrintsQuery): Steps<CustomerPositions> {
  const { stretches } = tape;
  return stretches
    ? yield* positionsFromSums(chain, yield* sumTape({ stretches }))
    : customerPositions(chain, signPrints(tape.prints));
}

function* sumTape(tape: Pick<StoredTape, 'stretches'>): Steps<TapeSums> {
  const summer = new TapeSummer();
  yield* forEachStretch(tape, PARTS.ofDay, (stretch) => summer.add(stretch.sums()));
  return summer.sums();
}

/** Returns the chain with signs opposite to the customers' positions: always the same object, because it is a key of caches. */
export function withFlowSign(prepared: PreparedChain, positions: CustomerPositions): PreparedChain {
  const cached = flowSignCache.get(prepared);
  if (cached?.positions === positions) return cached.byFlow;
  const byFlow = signedByFlow(prepared, positions);
  flowSignCache.set(prepared, { positions, byFlow });
  return byFlow;
}

/** Returns the chain with the signs of a convention: always the same object, because it is a key of caches. */
export function withAssumedSign(prepared: PreparedChain, sign: AssumedSign): PreparedChain {
  if (sign === prepared.sign) return prepared;
  const known = assumedSigns.getOrInsertComputed(prepared, () => new Map());
  return known.getOrInsertComputed(sign, () => signedBy(prepared, sign));
}

const assumedSigns = new WeakMap<PreparedChain, Map<AssumedSign, PreparedChain>>();

const positionsCache = new StepCache<Chain, CustomerPositions>(() => 1);
const flowSignCache = new WeakMap<PreparedChain, { positions: CustomerPositions; byFlow: PreparedChain }>();
