import { Type } from '@sinclair/typebox';
import { requireWeights } from '../../analytics/chain/prepare.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { volatilityBands } from '../../analytics/chain/volatility-band.ts';
import { dividendsBefore } from '../../analytics/exposure/day-ahead.ts';
import { netGexAt } from '../../analytics/exposure/exposures-by-strike.ts';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import { expectedAbsShares, type HedgingNode, hedgingNodes } from '../../analytics/exposure/hedging-nodes.ts';
import type { Step, Steps } from '../../core/steps.ts';
import { DAY_MS } from '../../market/calendar.ts';
import { defineOperation } from '../engine/operation.ts';
import { cursor, cursorAt, limit, nextCursor, pageFrom } from '../engine/pages.ts';
import {
  dateField,
  finiteOrNull,
  flagField,
  integerField,
  momentField,
  namedList,
  number,
  objectOf,
  textField,
} from '../engine/schemas.ts';
import { putCall, ticker } from '../engine/shared-fields.ts';
import { numberOrNull, textList, textOrNull } from '../engine/wrapped-schemas.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { expiryChoice } from '../reading/expiry-choice.ts';
import { headFields, provenanceOf, readExpiry, reportHead, settledSince } from '../reading/market-reading.ts';

/** Number of nodes in an answer if the request has no `limit`. */
const TOP = 10;

const node = {
  strike: number('Strike, dollars.'),
  put_call: putCall,
  expiry_date: dateField('Expiry, YYYY-MM-DD.'),
  Dealer_Share_Exposure: integerField('Shares that dealers must trade per +1 % move: + buys, - sells.'),
  Delta_Flux_j: number(
    'Shares that dealers trade over the coming calendar day, or until an earlier settlement, if the forward stays the same: + buys, - sells.',
  ),
};

export const detectLethalNodes = defineOperation({
  name: 'detect_lethal_nodes',
  ofMarket: true,
  title: 'Contracts that dealers hedge most',
  page: 'ticker',
  description:
    'The contracts that dealers hedge most, largest first. Dealer_Share_Exposure: shares that they trade if spot rises by 1 %: + buy, which ' +
    'drives the move, - sell, which damps it. Delta_Flux_j: shares that they trade over a calendar day: + buy, - sell. Dealers are assumed ' +
    'long calls and short puts.',
  example: { ticker: 'TSLA', limit: 20 },
  input: objectOf({
    ticker,
    expiry: expiryChoice,
    limit: limit(`Maximum number of nodes on a page, by default ${TOP}.`),
    cursor,
  }),
  full: objectOf({
    top_nodes: namedList('HedgingNode', 'By absolute share exposure, largest first.', node),
    next_cursor: nextCursor,
    roots: Type.Optional(textList('OSI root of each node, in order. Present only if there are several.')),
    ...headFields,
    components: namedList(
      'HedgingNodeInputs',
      'Inputs of the figures of each node, in the order of top_nodes, with nine significant digits.',
      {
        root: textField('OSI root.'),
        dealer_contracts: number('Contracts that dealers hold: + long, - short.'),
        multiplier: number('Shares per contract.'),
        tte: number('Years to settlement.'),
        iv: number('Volatility, decimal per year; 0 if unknown. Delta_Flux_j is then 0.'),
        iv_band: numberOrNull(
          'Half of the distance between the volatilities of bid and ask of the out-of-the-money side, decimal per year, six decimals; ' +
            'null without a two-sided quote.',
        ),
        gamma: number('Change of delta per 1.00 of spot.'),
        delta: number('Delta, per 1.00 of spot.'),
        delta_after_a_day: number(
          'Delta a calendar day later, or at settlement if that is earlier, per 1.00 of spot, if the forward stays the same.',
        ),
        drift_shares: numberOrNull(
          'Delta_Flux_j; null if the strike is open: within one standard deviation of the forward, over the part of the coming day ' +
            'that is in the last day before settlement. Delta_Flux_j is then that of one scenario: the price stays at the forward.',
        ),
        expected_abs_shares: numberOrNull(
          'Shares that dealers are expected to trade in either direction over the coming calendar day, or until an earlier settlement: ' +
            'the mean absolute change of delta, if the forward moves with the volatility of the contract; null if that is unknown.',
        ),
        forward: number('Forward price of the series, dollars.'),
        rate: number('Discount rate, continuous, decimal per year.'),
        hedge_yield: number(
          'Yield by which the delta of a forward grows over the day, decimal per year. Known cash dividends are not part of it.',
        ),
        ends_in_the_money: numberOrNull(
          'Probability by the surface that the contract settles in the money; null if more than a day is left or the surface ' +
            'leaves out its series.',
        ),
        gex: number('Gamma exposure, dollars per 1 % move.'),
        strike_shares: number(
          'Shares that dealers must trade per +1 % move because of all contracts of the strike: + buys, - sells.',
        ),
      },
    ),
    dividends: namedList(
      'CashDividend',
      'Cash dividends that were known when the quotes were taken, up to the last settlement of these nodes, by date.',
      {
        ex_date: dateField('First trading day without the dividend, YYYY-MM-DD.'),
        amount: number('Dollars per share.'),
        status: textOrNull('How certain the dividend is, as the source states it; null if it does not.'),
        known_from: momentField('From when on the dividend was known, ISO 8601.'),
        within_a_day: flagField('True if the ex-date is within the coming calendar day.'),
      },
    ),
    gross_share_pct: number('Gross gamma of the nodes on this page, percent of all gross gamma.'),
    sign_convention: signConvention,
  }),
  tool: {
    question: 'contracts that dealers hedge most',
    method: 'hedging-nodes-detect_lethal_nodes',
    units: [
      'shares that they trade if spot rises by 1 %: + buy, which drives the move, - sell',
      'calendar day: + buy, - sell',
    ],
    answers: ['top_nodes'],
    onDemand: ['next_cursor'],
    echoes: ['ticker', 'spot_price', 'roots'],
  },
  *run(input, context, isWanted) {
    yield step('Reading the chain and its volatilities');
    const page = pageFrom(input.cursor, input.ticker, context, { expiry: input.expiry });
    const { chain, prepared } = yield* readExpiry(input.expiry, input.ticker, page.context);
    requireWeights(prepared);
    const count = input.limit ?? TOP;
    yield step('Ranking the contracts');
    // Finds one node more than the page needs. The additional node shows that there is a next page.
    const found = hedgingNodes(prepared, count + 1, page.row);
    const nodes = found.slice(0, count);
    const isPaged = input.limit !== undefined || input.cursor !== undefined;
    const hasMore = found.length > count;
    const gexOf = ({ gamma, position, multiplier }: HedgingNode['inputs']) =>
      gamma * position * multiplier * chain.spot ** 2 * 0.01;
    const nodesGross = nodes.reduce((sum, { inputs }) => sum + Math.abs(gexOf(inputs)), 0);
    yield step('Computing the exposures of the strikes');
    const { grossOfAll: gross } = gexBySeries(prepared);
    const strikeGex = netGexAt(
      prepared,
      nodes.map(({ strike }) => strike),
    );
    const bands = volatilityBands(
      prepared,
      nodes.map(({ contract }) => contract),
    );
    const inTheMoney = isWanted('components') ? yield* endsInTheMoney(prepared, nodes) : [];
    return {
      result: {
        top_nodes: nodes.map((each) => ({
          strike: each.strike,
          put_call: each.callPut === 1 ? ('C' as const) : ('P' as const),
          expiry_date: each.expiry,
          Dealer_Share_Exposure: each.dealerShares,
          Delta_Flux_j: each.deltaFlux,
        })),
        ...(isPaged && hasMore && { next_cursor: cursorAt(chain, page.row + count, { expiry: input.expiry }) }),
        // In the extended answer, the root of each node is part of `components`.
        ...(!isWanted('components') &&
          new Set(nodes.map(({ root }) => root)).size > 1 && { roots: nodes.map(({ root }) => root) }),
        ...reportHead(chain),
        components: nodes.map(({ root, inputs, driftShares }, i) => ({
          root,
          dealer_contracts: inputs.position,
          multiplier: inputs.multiplier,
          tte: short(inputs.tte),
          iv: short(inputs.iv),
          iv_band: finiteOrNull(Number(((bands.ask[i]! - bands.bid[i]!) / 2).toFixed(6))),
          gamma: short(inputs.gamma),
          delta: short(inputs.delta),
          delta_after_a_day: short(inputs.deltaAfter),
          drift_shares: shortOrNull(driftShares),
          expected_abs_shares: shortOrNull(expectedAbsShares(nodes[i]!)),
          forward: short(inputs.forward),
          rate: short(inputs.rate),
          hedge_yield: short(inputs.hedgeYield),
          ends_in_the_money: inTheMoney[i] ?? null,
          gex: short(gexOf(inputs)),
          strike_shares: short(-strikeGex[i]! / chain.spot),
        })),
        dividends: knownDividends(prepared, nodes),
        gross_share_pct: gross > 0 ? Math.min(100, (100 * nodesGross) / gross) : 0,
        sign_convention: conventionOf(prepared),
      },
      provenance: provenanceOf(chain, context, [
        ...settledSince(nodes, context),
        ...rootCaveats(nodes),
        ...pinNotes(nodes),
        ...(hasMore && !isPaged
          ? [`top_nodes has ${count} of ${hedgedCount(prepared)} contracts. limit gives pages of all.`]
          : []),
      ]),
    };
  },
});

/** Returns a figure with nine significant digits, because a hundred nodes with all digits are too long an answer for a model. */
function short(figure: number): number {
  return Number(figure.toPrecision(9));
}

function shortOrNull(figure: number | null): number | null {
  return figure === null ? null : short(figure);
}

/** Returns the number of contracts that `hedgingNodes` ranks. */
function hedgedCount({ gamma, position }: PreparedChain): number {
  return gamma.filter((each, row) => Math.abs(each * position[row]!) > 0).length;
}

function step(message: string): Step {
  return { message, total: 3 };
}

/** Returns each contract's probability to settle in the money, by the surface; null if the surface lacks it or more than a day is left. */
function* endsInTheMoney(prepared: PreparedChain, nodes: readonly HedgingNode[]): Steps<(number | null)[]> {
  const { asOf } = prepared.chain;
  const isNear = ({ settlesAt }: HedgingNode) => settlesAt - asOf <= DAY_MS;
  if (!nodes.some(isNear)) return nodes.map(() => null);
  const { slices } = yield* surfaceOfPrepared(prepared);
  return nodes.map((node) => {
    const slice = isNear(node) ? slices.find(({ settlesAt }) => settlesAt === node.settlesAt) : undefined;
    if (!slice) return null;
    const moneyness = node.strike / slice.forward;
    return node.callPut === 1 ? slice.law.above(moneyness) : slice.law.below(moneyness);
  });
}

/** Returns the known cash dividends up to the last settlement of the nodes, sorted by date. */
function knownDividends({ chain, options }: PreparedChain, nodes: readonly HedgingNode[]) {
  const lastMs = Math.max(...nodes.map(({ settlesAt }) => settlesAt));
  const ofNextDay = dividendsBefore(options.cashDividends, chain.asOf + DAY_MS, chain.asOf);
  return dividendsBefore(options.cashDividends, lastMs, chain.asOf).map((each) => ({
    ex_date: each.exDate,
    amount: each.amount,
    status: each.status,
    known_from: new Date(each.knownFrom).toISOString(),
    within_a_day: ofNextDay.includes(each),
  }));
}

/** Returns a note if `Delta_Flux_j` of some nodes is that of a scenario. Otherwise returns an empty list. */
function pinNotes(nodes: readonly HedgingNode[]): string[] {
  const pinned = nodes.filter(({ driftShares, inputs }) => driftShares === null && inputs.iv > 0);
  if (pinned.length === 0) return [];
  const strikes = pinned.map(({ strike }) => strike);
  return [
    `Delta_Flux_j of ${pinned.length} of the contracts (strikes ${Math.min(...strikes)} to ${Math.max(...strikes)}) is a scenario: the price stays at the ` +
      'forward. Contracts that settle soon within one standard deviation of the forward have no drift.',
  ];
}

/** Returns a note if two nodes of different roots have the same strike, side and expiry. Otherwise returns an empty list. */
function rootCaveats(nodes: readonly HedgingNode[]): string[] {
  const roots = new Set(nodes.map(({ root }) => root));
  const names = new Set(nodes.map(({ strike, callPut, expiry }) => `${strike} ${callPut} ${expiry}`));
  if (names.size === nodes.length) return [];
  return [
    `Contracts of ${[...roots].join(' and ')} are listed separately: the same strike, side and expiry can appear twice.`,
  ];
}
