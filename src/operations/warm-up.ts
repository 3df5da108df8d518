import { ClientError } from '../core/errors.ts';
import type { Context, Operation } from './engine/operation.ts';
import { perform, restView } from './engine/perform.ts';
import type { Scheduler } from './engine/scheduler.ts';
import { getFlowByAggressor } from './flow/flow-by-aggressor.ts';
import { getSignedPrints } from './flow/signed-prints.ts';
import { getLiveGexNodes } from './gex/gex-nodes.ts';

/** Time after which the warm-up begins no further ticker, ms. */
const WARM_UP_MS = 1_000;

/** Requests that read all prints of a ticker. */
const TAPE_REQUESTS: readonly (readonly [operation: unknown, args: object])[] = [
  [getFlowByAggressor, {}],
  [getSignedPrints, {}],
  [getLiveGexNodes, { sign: 'flow' }],
];

/**
 * For about WARM_UP_MS, computes the default answers of the flow operations. As a result, the code is compiled and the results are cached
 * before the first request. Leaves out simulated tickers and tickers without prints. Other requests can run between two steps. Analyses of
 * chains are not computed in advance, because they would save only 20 ms of one request but take 8 MiB of memory.
 */
export async function warmUp(context: Context, scheduler: Scheduler): Promise<void> {
  const { market } = context;
  const until = performance.now() + WARM_UP_MS;
  for (const ticker of market.tickersWithChain()) {
    if (performance.now() >= until) return;
    if (!market.hasPrints(ticker) || market.findChain(ticker)?.simulated) continue;
    for (const [operation, args] of TAPE_REQUESTS) {
      await new Promise(setImmediate);
      try {
        const view = restView(operation as Operation);
        const steps = perform(view, { ticker, ...args }, context, 'invalid_parameter');
        await scheduler.run({ account: '', name: view.operation.name, steps });
      } catch (error) {
        // If the operation has no data for the ticker, a client would get the same error.
        if (!(error instanceof ClientError)) throw error;
      }
    }
  }
}
