import { Failure } from '../errors.ts';
import { getFlowByAggressor } from './flow-by-aggressor.ts';
import { getLiveGexNodes } from './gex-nodes.ts';
import type { Context, Operation } from './operation.ts';
import { performInTurns, restView } from './perform.ts';
import { getSignedPrints } from './signed-prints.ts';

const WARM_UP_MS = 1_000;

/** The questions that go through a whole tape. */
const QUESTIONS: readonly (readonly [operation: unknown, args: object])[] = [
  [getFlowByAggressor, {}],
  [getSignedPrints, {}],
  [getLiveGexNodes, { sign: 'flow' }],
];

/**
 * Answers the questions of signed flow of recorded tickers that have a tape, for as long as WARM_UP_MS, with turns of the event loop between
 * steps: the code is compiled then, and what is kept of an answer is there for who asks first. Analyses of chains are not warmed up: the
 * first would be 20 ms faster, for 8 MiB that a service at rest would hold.
 */
export async function warmUp(context: Context): Promise<void> {
  const { market } = context;
  const until = performance.now() + WARM_UP_MS;
  for (const ticker of market.tickersWithChain()) {
    if (performance.now() >= until) return;
    if (!market.hasPrints(ticker) || market.findChain(ticker)?.simulated) continue;
    for (const [operation, args] of QUESTIONS) {
      await new Promise(setImmediate);
      try {
        await performInTurns(restView(operation as Operation), { ticker, ...args }, context, 'invalid_parameter');
      } catch (error) {
        // What has nothing to read refuses; whoever asks for it is told.
        if (!(error instanceof Failure)) throw error;
      }
    }
  }
}
