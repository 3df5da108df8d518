import { Type } from '@sinclair/typebox';
import { hedgingNodes } from '../analytics/hedging-nodes.ts';
import { provenanceOf, readMarket } from './market-reading.ts';
import { defineOperation } from './operation.ts';
import { number, putCall, ticker } from './schemas.ts';

const TOP = 10;

const node = {
  strike: number('Strike, dollars.'),
  put_call: putCall,
  expiry_date: Type.String({ description: 'Expiry, YYYY-MM-DD.' }),
  Dealer_Share_Exposure: Type.Integer({ description: 'Shares the dealer must trade per +1 % move: + buys, - sells.' }),
  Delta_Flux_j: number('Shares per day the dealer must trade as time passes: + buys, - sells.'),
};

export const detectLethalNodes = defineOperation({
  name: 'detect_lethal_nodes',
  title: 'Hedging nodes',
  description:
    'The ten contracts that make dealers trade most shares for a 1 % move, largest first. ' +
    'Dealers are taken as long calls and short puts. Example: {"ticker":"TSLA"}.',
  input: Type.Object({ ticker }, { additionalProperties: false }),
  full: Type.Object(
    {
      top_nodes: Type.Array(Type.Object(node, { additionalProperties: false }), {
        description: 'By absolute share exposure, largest first.',
      }),
      ticker: Type.String({ description: 'Underlying symbol.' }),
      spot_price: number('Spot of the snapshot, dollars.'),
      open_interest: Type.Array(Type.Number(), { description: 'Contracts outstanding at each of the nodes.' }),
      roots: Type.Array(Type.String(), { description: 'OSI root of each of the nodes.' }),
    },
    { additionalProperties: false },
  ),
  tool: { answers: ['top_nodes'] },
  run(input, context) {
    const { chain, prepared } = readMarket(input.ticker, context);
    const nodes = hedgingNodes(prepared, TOP);
    return {
      result: {
        top_nodes: nodes.map((each) => ({
          strike: each.strike,
          put_call: each.callPut === 1 ? ('C' as const) : ('P' as const),
          expiry_date: each.expiry,
          Dealer_Share_Exposure: each.dealerShares,
          Delta_Flux_j: each.deltaFlux,
        })),
        ticker: chain.underlying,
        spot_price: chain.spot,
        open_interest: nodes.map(({ contracts }) => contracts),
        roots: nodes.map(({ root }) => root),
      },
      provenance: provenanceOf(chain, context),
    };
  },
});
