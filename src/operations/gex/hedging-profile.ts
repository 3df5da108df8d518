import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_OPTIONS } from '../../analytics/chain/options.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { type HedgingAtMove, hedgingAtMoves } from '../../analytics/exposure/hedging-at-moves.ts';
import { gammaRegime } from '../../analytics/exposure/sign-margin.ts';
import { StepCache } from '../../core/steps.ts';
import { hedgingPicture } from '../../picture/hedging-picture.ts';
import { defineOperation, type Provenance } from '../engine/operation.ts';
import { movesCost } from '../engine/request-cost.ts';
import {
  defaulted,
  documented,
  integerField,
  namedObject,
  number,
  objectOf,
  oneOf,
  textField,
} from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { fractionNotes } from '../engine/unlikely-units.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';
import { type ChainInput, flipInput, optionsWithExpiry } from '../reading/analysis-options.ts';
import { averageDailyVolume, averageDailyVolumeOf, shareOfVolumePct, volumeNotes } from '../reading/daily-volume.ts';
import { conventionOf, flowSignNotes, signConvention } from '../reading/dealer-sign.ts';
import { expiryChoice } from '../reading/expiry-choice.ts';
import { levelsOf, provenanceOf, readMarketAs, reportHead, settledSince } from '../reading/market-reading.ts';
import { gammaNotes, regimeField, regimeFields, regimeNotes, reportRegime } from './gamma-regime.ts';
import { gexReport, MILLION } from './gex-report.ts';

/** The moves for a request without `moves`, percent. */
const MOVES = [-5, -4, -3, -2, -1, -0.5, 0.5, 1, 2, 3, 4, 5];
/** Maximum move in percent of spot, and maximum number of moves. */
const MOVE_MAX = 50;
const MOVES_MAX = 41;

const row = namedObject('HedgingAtMove', undefined, {
  move_pct: number('Percent.'),
  spot: number('Spot after the move, dollars.'),
  shares: integerField('Shares traded from the present spot to this one: + buy, - sell.'),
  dollars_mil: number('shares times spot, millions of dollars.'),
  volume_pct: numberOrNull('Percent of average daily volume; null if unknown.'),
  net_gex_mil: number('Net gamma after the move, millions of dollars per 1 % move.'),
  regime: regimeField('positive_gamma, negative_gamma or undetermined, after the move.'),
  vanna_shares: Type.Optional(
    integerField('The part of shares that follows from the change of volatilities. Absent if strikes keep theirs.'),
  ),
});

const full = objectOf({
  ticker: textField('Underlying symbol.'),
  spot_price: number('Present spot, dollars.'),
  expiry: documented(textField('all, 0dte or YYYY-MM-DD.'), {
    anyOf: [{ enum: ['all', '0dte', 'session'] }, { format: 'date' }, { pattern: '^next:' }],
  }),
  gex_flip: gexReport.properties.gex_flip,
  rows: Type.Array(row, { description: 'By move, ascending.' }),
  flip_resolved: gexReport.properties.flip_resolved,
  ...regimeFields,
  average_daily_volume: averageDailyVolume,
  sign_convention: signConvention,
});

const input = objectOf({
  ticker,
  moves: Type.Optional(
    Type.Array(Type.Number({ minimum: -MOVE_MAX, maximum: MOVE_MAX }), {
      description: 'Percent; default 12 from -5 to 5.',
      minItems: 1,
      maxItems: MOVES_MAX,
    }),
  ),
  expiry: expiryChoice,
  smile_dynamics: Type.Optional(textField('sticky_strike, sticky_moneyness, ssr=R.')),
  format: defaulted(oneOf(['table', 'image'], 'image: also a PNG chart.'), 'table'),
});

export const getHedgingProfile = defineOperation({
  name: 'get_hedging_profile',
  ofMarket: true,
  title: 'Hedging over moves',
  page: 'ticker',
  description:
    'Shares that dealers trade to stay hedged if spot moves (+ buy, - sell), and net gamma then. Dealers are ' +
    'assumed long calls and short puts. Levels: get_live_gex_nodes.',
  example: { ticker: 'SPY', moves: [-2, -1, 1, 2] },
  input,
  full,
  tool: {
    question: 'what dealers buy or sell if spot moves; chart',
    method: 'hedging-over-moves-get_hedging_profile',
    units: ['Shares', '+ buy, - sell', 'Percent'],
    answers: ['ticker', 'spot_price', 'expiry', 'gex_flip', 'rows'],
  },
  rest: {
    method: 'GET',
    path: '/api/v1/nodes/gex/{ticker}/hedging',
    input: objectOf({ ...input.properties, ...flipInput.properties }),
  },
  *run(input, context) {
    const options = optionsWithExpiry(input);
    const reading = yield* readMarketAs(options, input.ticker, context);
    const { chain, prepared } = reading;
    const { exposures, flip } = yield* levelsOf(reading);
    const moves = [...new Set(input.moves ?? MOVES)].toSorted((a, b) => a - b);
    const profile = yield* profiles.of(prepared, moves.join(), {
      message: 'Pricing the chain at other spots',
      // Under other smile dynamics than sticky strike, each spot is priced twice.
      tokens: movesCost(prepared.count, moves.length * (prepared.options.ssr === DEFAULT_OPTIONS.ssr ? 1 : 2) + 1),
      steps: () => hedgingAtMoves(prepared, moves),
    });
    const volume = averageDailyVolumeOf(chain, context);
    return {
      result: {
        ...reportHead(chain),
        expiry: input.expiry ?? (input as Partial<ChainInput>).expiries ?? 'all',
        gex_flip: flip.level,
        rows: profile.map((each) => rowOf(each, volume)),
        flip_resolved: flip.resolved,
        ...reportRegime(exposures),
        average_daily_volume: volume,
        sign_convention: conventionOf(prepared),
      },
      provenance: provenanceOf(chain, context, [
        ...(options.expiries.kind === 'all'
          ? []
          : settledSince(
              prepared.series.map(({ series }) => series),
              context,
            )),
        ...flowSignNotes(prepared),
        ...fractionNotes('moves', moves),
        ...gammaNotes(prepared, flip),
        ...regimeNotes(exposures),
        ...volumeNotes(chain, volume),
      ]),
    };
  },
  picture: drawn,
});

/** The hedging over the moves of the last PROFILES_CACHED requests. */
const PROFILES_CACHED = 4;
const profiles = new StepCache<PreparedChain, HedgingAtMove[]>(() => PROFILES_CACHED);

function rowOf({ move, spot, shares: exact, vannaShares, ...gamma }: HedgingAtMove, volume: number | null) {
  // If the rounded number is -0, adding 0 changes -0 to 0.
  const shares = Math.round(exact) + 0;
  return {
    move_pct: move,
    spot,
    shares,
    dollars_mil: (shares * spot) / MILLION,
    volume_pct: shareOfVolumePct(shares, volume),
    net_gex_mil: gamma.gex / MILLION,
    regime: gammaRegime(gamma),
    ...(vannaShares !== undefined && { vanna_shares: Math.round(vannaShares) + 0 }),
  };
}

function drawn(result: Static<typeof full>, { source, simulated, as_of }: Provenance): string {
  return hedgingPicture({
    ticker: result.ticker,
    spot: result.spot_price,
    flip: result.flip_resolved ? result.gex_flip : undefined,
    expiry: result.expiry,
    rows: result.rows.map(({ move_pct, spot, shares }) => ({ move: move_pct, spot, shares })),
    assumption: result.sign_convention,
    source,
    simulated,
    asOf: as_of,
  });
}
