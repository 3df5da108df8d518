import type { TSchema } from '@sinclair/typebox';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import {
  type AggressorFlow,
  type FlowGroups,
  FlowSums,
  NO_AGGRESSOR_FLOW,
} from '../../analytics/flow/aggressor-flow.ts';
import { deltaLookup } from '../../analytics/flow/flow-notional.ts';
import type { SideRule } from '../../analytics/flow/trade-side.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { rootOf } from '../../market/option-symbol.ts';
import { PARTS, type StoredTape } from '../../market/tape.ts';
import { BY_CONTRACT, MANNERS, sumsOf, TapeSummer, type TapeSums } from '../../market/tape-sums.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, describedObject, namedObject, number, objectOf } from '../engine/schemas.ts';
import { dateColumn, numberColumn, wordColumn } from '../engine/wrapped-schemas.ts';
import { headFields, provenanceOf, readMarket, reportHead } from '../reading/market-reading.ts';
import { CACHED_RESULTS_MAX, cachedTapeResult, forEachStretch, tapeInput, tapeNotes } from '../reading/signed-tape.ts';

const flow = {
  prints: numberColumn('Number of prints.'),
  contracts: numberColumn('Contracts traded, whoever the aggressor was.'),
  premium: numberColumn('Premium paid, dollars.'),
  call_bought: numberColumn('Premium of calls that customers bought, dollars.'),
  call_sold: numberColumn('Premium of calls that customers sold, dollars.'),
  put_bought: numberColumn('Premium of puts that customers bought, dollars.'),
  put_sold: numberColumn('Premium of puts that customers sold, dollars.'),
  unsigned: numberColumn('Premium of prints of unknown side, dollars.'),
  net_delta: numberColumn('Delta-notional that customers bought, less the delta-notional that they sold, dollars.'),
};

const groups = (key: string, column: TSchema, description: string) =>
  describedObject(description, {
    count: count('Rows of each column.'),
    [key]: column,
    ...flow,
  });

export const getFlowByAggressor = defineOperation({
  name: 'get_flow_by_aggressor',
  ofMarket: true,
  title: 'Flow by aggressor',
  page: 'flow',
  description:
    'Premium and delta of option prints by aggressor. A customer bought if the feed says ask, or if the price is above the middle of the ' +
    'quote. A customer sold if the feed says bid, or if the price is below the middle. If neither applies, a rise of the contract since its ' +
    'previous print counts as bought, and a fall as sold. In total, by manner of execution, by day and by expiry.',
  example: { ticker: 'SPY' },
  input: objectOf(tapeInput),
  full: objectOf({
    ...headFields,
    days: count('Calendar days of the window.'),
    min_premium: number('Minimum premium of a print, dollars.'),
    signed_by: namedObject('PrintsBySideRule', 'Number of prints by how their side was determined.', {
      feed: count('Prints whose side the feed gives.'),
      quote: count('Prints whose side follows from the quote at the trade.'),
      tick: count("Prints whose side follows from the contract's last change."),
      unknown: count('Prints of unknown side.'),
    }),
    by_manner: groups(
      'manner',
      wordColumn(
        ['multi_leg', 'sweep', 'block', 'single', 'all'],
        'multi_leg, sweep, block, single or all; a print with several flags counts in the first of these.',
      ),
      'By manner of execution.',
    ),
    by_day: groups('day', dateColumn('New York day, YYYY-MM-DD, ascending.'), 'By day.'),
    by_expiry: groups('expiry', dateColumn('YYYY-MM-DD, ascending.'), 'By expiry.'),
  }),
  rest: { method: 'GET', path: '/api/v1/flow/{ticker}' },
  *run(input, context) {
    const { chain, prepared } = yield* readMarket(input.ticker, context);
    const { signedBy, groups } = yield* cachedTapeResult(cache, chain, input, context, (tape) =>
      flowOf(tape, input.min_premium, prepared),
    );
    const sorted = (by: ReadonlyMap<string, AggressorFlow>) => [...by].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      result: {
        ...reportHead(chain),
        days: input.days,
        min_premium: input.min_premium,
        signed_by: { ...signedBy },
        by_manner: columns('manner', [
          ...MANNERS.map((manner) => [manner, groups.manner.get(manner) ?? NO_AGGRESSOR_FLOW] as const),
          ['all', groups.total.get('all') ?? NO_AGGRESSOR_FLOW],
        ]),
        by_day: columns('day', sorted(groups.day)),
        by_expiry: columns('expiry', sorted(groups.expiry)),
      },
      provenance: provenanceOf(chain, context, tapeNotes(chain, input.days, context)),
    };
  },
});

interface Signed {
  readonly signedBy: Record<SideRule, number>;
  readonly groups: FlowGroups;
}

const cache = new StepCache<Chain, Signed>(() => CACHED_RESULTS_MAX);

function* flowOf(tape: StoredTape, minPremium: number, prepared: PreparedChain): Steps<Signed> {
  const flow = new FlowSums({ spot: prepared.chain.spot, deltaOf: yield* deltaLookup(prepared) });
  const summer = new TapeSummer();
  let day: string | undefined;
  yield* forEachStretch(tape, minPremium > 0 ? PARTS.one : PARTS.ofDay, (stretch) => {
    if (day !== undefined && day !== stretch.day) flow.add(day, summer.sums());
    day = stretch.day;
    summer.add(minPremium > 0 ? sumsOf(stretch.columns(), minPremium) : stretch.sums());
  });
  const sums = summer.sums();
  if (day !== undefined) flow.add(day, sums);
  return { signedBy: { ...rulesOf(sums), unknown: flow.unknown }, groups: flow.groups() };
}

const RULES = ['feed', 'quote', 'tick'] as const;

/** For each rule, counts the prints whose side the rule determines. Leaves out prints of contracts with adjusted deliverables. */
function rulesOf({ contracts, byContract }: TapeSums) {
  const rules = { feed: 0, quote: 0, tick: 0 };
  const isCounted = contracts.series.map(({ root }) => !rootOf(root).adjusted);
  for (const [contract, series] of contracts.seriesIndex.entries()) {
    if (!isCounted[series]) continue;
    const offset = contract * BY_CONTRACT.width;
    for (const rule of RULES) rules[rule] += byContract[offset + BY_CONTRACT[rule]]!;
  }
  return rules;
}

function columns<Key extends string>(key: Key, rows: readonly (readonly [string, AggressorFlow])[]) {
  const column = (field: keyof AggressorFlow) => rows.map(([, row]) => row[field]);
  return {
    count: rows.length,
    [key]: rows.map(([name]) => name),
    prints: column('prints'),
    contracts: column('contracts'),
    premium: column('premium'),
    call_bought: column('callBought'),
    call_sold: column('callSold'),
    put_bought: column('putBought'),
    put_sold: column('putSold'),
    unsigned: column('unsigned'),
    net_delta: column('netDelta'),
  };
}
