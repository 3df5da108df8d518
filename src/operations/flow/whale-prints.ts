import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { addDay, FLOW_WINDOW_DAYS, type Flow, flowOfPrints, NO_FLOW } from '../../analytics/flow/flow.ts';
import { ClientError, invalidArgument } from '../../core/errors.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import { closeOf, isDate, newYorkDate } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { nearestListed } from '../../market/nearest-expiries.ts';
import type { PrintSum } from '../../market/prints.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { SNAPSHOT_CONTRACTS } from '../engine/request-cost.ts';
import { date, dateField, integerField, number, objectOf, textField, wordField } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { namedOrNull } from '../engine/wrapped-schemas.ts';
import { knownUntil, provenanceOf, readMarket } from '../reading/market-reading.ts';
import { gapNotes } from '../reading/signed-tape.ts';

/** The answer has a note if more than this share of the premium is in contracts with |delta| above 0.9. */
const DEEP_SHARE_NOTED = 0.25;

export const getWhalePrints = defineOperation({
  name: 'get_whale_prints',
  ofMarket: true,
  title: 'Large-print flow',
  page: 'flow',
  description:
    'Large option trades in one listed expiry over 30 calendar days: premium of calls, of puts and calls minus puts, dollars, and call ' +
    'minus put contracts. + means more calls, not more buying: sold options count too. If the ticker has no prints, daily volumes are used and a note says so.',
  example: { ticker: 'NVDA', target_expiry: '2026-12-18' },
  input: objectOf({
    ticker,
    target_expiry: date('A listed expiry, YYYY-MM-DD, e.g. whale_expiry of get_live_gex_nodes.'),
  }),
  full: objectOf({
    net_fiat_exposure: number('Call premium minus put premium, dollars.'),
    call_fiat_paid: number('Premium of all counted calls, whether customers bought or sold them, dollars.'),
    put_fiat_paid: number('Premium of all counted puts, whether customers bought or sold them, dollars.'),
    net_volume_delta: integerField('Call contracts minus put contracts.'),
    ticker: textField('Underlying symbol.'),
    target_expiry: dateField('Expiry, YYYY-MM-DD.'),
    flow_from: wordField(
      ['prints', 'snapshots'],
      'Source of the flow: prints, or snapshots (daily volume at mid, no minimum premium).',
    ),
    counted: integerField(
      'Number of large prints; if flow_from is snapshots, number of contracts with volume and a price above 0, ' +
        'each counted once per day.',
    ),
    deep_premium_pct: number(
      'Premium in contracts of known |delta| above 0.9, percent of all premium. Such trades usually finance a position or capture a dividend, and do not express a view of the price.',
    ),
    by_side: namedOrNull(
      'PremiumBySide',
      'Premium by the side of the quote at which the prints traded; null if flow_from is snapshots.',
      {
        call_at_ask: number('Premium of calls that traded at the ask or above the middle of the quote, dollars.'),
        call_at_bid: number('Premium of calls that traded at the bid or below the middle of the quote, dollars.'),
        put_at_ask: number('Premium of puts that traded at the ask or above the middle of the quote, dollars.'),
        put_at_bid: number('Premium of puts that traded at the bid or below the middle of the quote, dollars.'),
        unknown: number('Premium of prints whose side neither the feed nor the quote gives, dollars.'),
      },
    ),
    window_days: integerField('Calendar days of the window.'),
    min_premium: number('Minimum premium of a large print, dollars; 0 if flow_from is snapshots.'),
  }),
  tool: {
    question: 'large trades in an expiry',
    method: 'flow-get_whale_prints',
    units: ['dollars', 'contracts', '+ means more calls, not more buying'],
    answers: ['net_fiat_exposure', 'call_fiat_paid', 'put_fiat_paid', 'net_volume_delta'],
    echoes: ['ticker', 'target_expiry', 'flow_from', 'counted', 'window_days', 'min_premium'],
  },
  *run({ ticker: name, target_expiry }, context) {
    const { chain, prepared, large } = yield* readMarket(name, context);
    const isListed = [...chain.series, ...large].some(({ expiry }) => expiry === target_expiry);
    if (!isListed) throw notListed(target_expiry, prepared, knownUntil(chain, context));
    const byPrints = context.market.hasPrints(chain.underlying);
    const flows = byPrints ? undefined : yield* snapshotFlows(chain, context);
    const flow: Flow = flows ? (flows.get(target_expiry) ?? NO_FLOW) : flowOfPrints(large, target_expiry);
    const premium = flow.callPremium + flow.putPremium;
    const notes = byPrints
      ? gapNotes(chain, FLOW_WINDOW_DAYS, context)
      : [
          'The ticker has no prints, so its flow is the volume of each contract on the stored days, bought or sold, at its mid or, without a quote, at its last price.',
        ];
    if (closeOf(target_expiry) <= chain.asOf)
      notes.push(
        `The expiry ${target_expiry} has settled: its prints are of the past, and it has no levels or quotes.`,
      );
    if (flow.counted === 0) {
      const traded = flows
        ? [...flows].map(([expiry, { callPremium, putPremium }]) => [expiry, callPremium + putPremium] as const)
        : large.map(({ expiry, premium }) => [expiry, premium] as const);
      notes.push(noTradesNote(target_expiry, traded, byPrints ? 'large print' : 'volume', chain));
    }
    const bySide = byPrints ? premiumBySide(large, target_expiry) : null;
    if (bySide && premium > 0) notes.push(soldNote(bySide, premium));
    if (flow.deepPremium > DEEP_SHARE_NOTED * premium) {
      const share = Math.round((100 * flow.deepPremium) / premium);
      notes.push(
        `${share} % of the premium is in contracts of |delta| above 0.9: such trades usually finance a position and do not express a view of the price.`,
      );
    }
    return {
      result: {
        net_fiat_exposure: flow.callPremium - flow.putPremium,
        call_fiat_paid: flow.callPremium,
        put_fiat_paid: flow.putPremium,
        net_volume_delta: Math.round(flow.callContracts - flow.putContracts),
        ticker: chain.underlying,
        target_expiry,
        flow_from: byPrints ? ('prints' as const) : ('snapshots' as const),
        counted: flow.counted,
        deep_premium_pct: premium > 0 ? (100 * flow.deepPremium) / premium : 0,
        by_side: bySide,
        window_days: FLOW_WINDOW_DAYS,
        min_premium: byPrints ? context.largePrintMinUsd : 0,
      },
      provenance: provenanceOf(chain, context, notes),
    };
  },
});

/** Returns the premium of an expiry's large prints, by side of the quote. */
function premiumBySide(large: readonly PrintSum[], expiry: string) {
  const by = { call_at_ask: 0, call_at_bid: 0, put_at_ask: 0, put_at_bid: 0, unknown: 0 };
  for (const { side, callPut, premium, expiry: printExpiry } of large) {
    if (printExpiry !== expiry) continue;
    const hasSide = side === 'ask' || side === 'bid';
    by[hasSide ? (`${callPut === 1 ? 'call' : 'put'}_at_${side}` as const) : 'unknown'] += premium;
  }
  return by;
}

/** Returns a note that the premium of an expiry includes what customers sold, because the names of the fields suggest only purchases. */
function soldNote(by: ReturnType<typeof premiumBySide>, premium: number): string {
  const percent = (part: number) => `${Math.round((100 * part) / premium)} %`;
  const [bought, sold] = [by.call_at_ask + by.put_at_ask, by.call_at_bid + by.put_at_bid];
  return `call_fiat_paid and put_fiat_paid include options that customers sold: ${percent(bought)} of the premium was bought, ${percent(sold)} sold, and ${percent(by.unknown)} is of unknown side.`;
}

/** The flow by expiry from the snapshots of the window, by the newest chain. Reading a month of snapshots takes tens of ms. */
const cache = new StepCache<Chain, ReadonlyMap<string, Flow>>(() => 1);

function* snapshotFlows(chain: Chain, { market }: Context): Steps<ReadonlyMap<string, Flow>> {
  const ids = market.recentChainIds(chain, FLOW_WINDOW_DAYS);
  return yield* cache.of(chain, ids.join(' '), {
    message: 'Reading snapshots',
    tokens: Math.ceil((chain.count * ids.length) / SNAPSHOT_CONTRACTS),
    *steps() {
      const flows = new Map<string, Flow>();
      for (const id of ids) {
        const day = market.chainById(id);
        if (day) addDay(flows, day);
        yield { message: 'Reading snapshots' };
      }
      return flows;
    },
  });
}

/** Maximum number of expiries that a note names. */
const EXPIRIES_NAMED = 5;

/** Returns a note that an expiry has no trades. The note names the unsettled expiries with the most premium. `traded` has premium by expiry. */
function noTradesNote(
  expiry: string,
  traded: readonly (readonly [expiry: string, premium: number])[],
  what: string,
  { asOf }: Chain,
): string {
  const today = newYorkDate(asOf);
  const premium = new Map<string, number>();
  for (const [each, paid] of traded) if (each >= today && paid > 0) premium.set(each, (premium.get(each) ?? 0) + paid);
  const most = [...premium].toSorted(([, a], [, b]) => b - a).slice(0, EXPIRIES_NAMED);
  const named = most.map(([each]) => each).toSorted();
  const others = named.length > 0 ? `Those with most premium: ${named.join(', ')}.` : 'No unsettled expiry has any.';
  return `${expiry} has no ${what} in the last ${FLOW_WINDOW_DAYS} days. ${others}`;
}

/** Returns the error for an expiry that neither the chain nor the prints have. The hint names the nearest expiries of the chain. */
function notListed(expiry: string, { chain, series }: PreparedChain, nowMs: () => number): ClientError {
  const isReal = isDate(expiry);
  const live = series.map((each) => each.series);
  const hint = `Use a listed expiry. ${nearestListed(live, expiry, newYorkDate(chain.asOf), nowMs())}`;
  if (!isReal) return invalidArgument('/target_expiry', 'must be a date of the calendar', hint);
  return new ClientError('unknown_expiry', `${expiry} is not a listed expiry of the ticker`, { hint });
}
