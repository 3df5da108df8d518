import type { TObject } from '@sinclair/typebox';
import { defineOperation, ORIGIN } from '../engine/operation.ts';
import { describedObject, objectOf } from '../engine/schemas.ts';
import { flipInput, optionsOf } from '../reading/analysis-options.ts';
import { readMarketAs } from '../reading/market-reading.ts';
import { getGexByExpiry, gexByExpiryOf } from './gex-expiries.ts';
import { getLiveGexNodes, gexNodesOf } from './gex-nodes.ts';
import { getGexProfile, gexProfileOf } from './gex-profile.ts';
import { getGexByStrike, gexByStrikeOf } from './gex-strikes.ts';

const { horizons: _horizons, ...levelFields } = getLiveGexNodes.full.properties;
/** The odds of touching the walls take longer than all other figures of the view, so the view leaves them out. */
const levelsPart = describedObject('The extended answer of get_live_gex_nodes, without horizons.', levelFields);

export const getGexView = defineOperation({
  name: 'get_gex_view',
  ofMarket: true,
  title: 'GEX view',
  page: 'ticker',
  description:
    'The levels of a ticker with all their fields, exposures by strike, the gamma profile and the table of expiries, in one answer from ' +
    'one snapshot. Each part equals the answer of its own operation with the same options. Dealers are assumed long calls and short puts. ' +
    'With sign=flow, they hold the opposite of what customers bought and sold, by prints. Dollars.',
  example: { ticker: 'SPY' },
  input: flipInput,
  full: objectOf({
    levels: levelsPart,
    strikes: partOf(getGexByStrike, 'The answer of get_gex_by_strike.'),
    profile: partOf(getGexProfile, 'The answer of get_gex_profile.'),
    expiries: partOf(getGexByExpiry, 'The answer of get_gex_by_expiry.'),
    provenance: {
      ...ORIGIN,
      description:
        'Source and moment of the data. The age is in the header fields X-Data-Age and X-Data-Stale, because it changes while the answer ' +
        'stays the same.',
    },
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/view' },
  *run(input, context) {
    const reading = yield* readMarketAs(optionsOf(input), input.ticker, context);
    const { prepared } = reading;
    const { result: levels, provenance } = yield* gexNodesOf(reading, context, true);
    yield { message: 'Summing up exposures by strike' };
    const strikes = yield* gexByStrikeOf(prepared);
    yield { message: 'Finding the profile' };
    const profile = yield* gexProfileOf(prepared);
    const expiries = yield* gexByExpiryOf(prepared);
    const { age_s: _age, stale: _stale, ...origin } = provenance;
    return {
      result: { levels, strikes, profile, expiries, provenance: { ...origin, notes: [...origin.notes] } },
      provenance,
    };
  },
});

function partOf<Full extends TObject>({ full }: { readonly full: Full }, description: string): Full {
  return { ...full, description };
}
