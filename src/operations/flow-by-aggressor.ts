import { Type } from '@sinclair/typebox';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { type AggressorFlow, flowBy, MANNERS, mannerOf, NOTHING } from '../analytics/flow/aggressor-flow.ts';
import { deltaByContract } from '../analytics/flow/flow-notional.ts';
import { contractKey, type SideRule, type SignedPrint } from '../analytics/flow/trade-side.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Print } from '../market/prints.ts';
import { provenanceOf, readMarket } from './market-reading.ts';
import { defineOperation } from './operation.ts';
import { columnOf, count, number } from './schemas.ts';
import { ofSignedTape, tapeInput, tapeNotes } from './signed-tape.ts';

const flow = {
  prints: columnOf('Prints.'),
  contracts: columnOf('Contracts, whoever started the trade.'),
  premium: columnOf('Premium paid, dollars.'),
  call_bought: columnOf('Premium of calls that customers bought, dollars.'),
  call_sold: columnOf('Premium of calls that customers sold, dollars.'),
  put_bought: columnOf('Premium of puts that customers bought, dollars.'),
  put_sold: columnOf('Premium of puts that customers sold, dollars.'),
  unsigned: columnOf('Premium of prints of unknown side, dollars.'),
  net_delta: columnOf('Delta-notional that customers took on, dollars: + long.'),
};

const groups = (key: string, keyDescription: string, description: string) =>
  Type.Object(
    {
      count: count('Rows of each column.'),
      [key]: Type.Array(Type.String(), { description: keyDescription }),
      ...flow,
    },
    { additionalProperties: false, description },
  );

export const getFlowByAggressor = defineOperation({
  name: 'get_flow_by_aggressor',
  ofMarket: true,
  title: 'Flow by aggressor',
  description:
    'Premium and delta of option prints by who started them: bought where the feed says ask or the print was above the middle of ' +
    'the quote, sold the other way, else by the last move of the contract. In all, by how they were executed, by day and by expiry.',
  input: Type.Object(tapeInput, { additionalProperties: false }),
  full: Type.Object(
    {
      ticker: Type.String({ description: 'Underlying symbol.' }),
      spot_price: number('Spot of the snapshot, dollars.'),
      days: count('Calendar days of the window.'),
      min_premium: number('Least premium of a print that counts, dollars.'),
      signed_by: Type.Object(
        {
          feed: count('Prints whose side the feed gives.'),
          quote: count('Prints signed by the quote that they met.'),
          tick: count('Prints signed by the last move of the contract.'),
          unknown: count('Prints of unknown side.'),
        },
        { additionalProperties: false, description: 'What told the side.' },
      ),
      by_manner: groups(
        'manner',
        'multi_leg, sweep, block or single; of several the first; and all.',
        'How prints were executed.',
      ),
      by_day: groups('day', 'New York day, YYYY-MM-DD, ascending.', 'Day by day.'),
      by_expiry: groups('expiry', 'YYYY-MM-DD, ascending.', 'Expiry by expiry.'),
    },
    { additionalProperties: false },
  ),
  rest: { method: 'GET', path: '/api/v1/flow/{ticker}' },
  run(input, context) {
    const { chain, prepared } = readMarket(input.ticker, context);
    const { signedBy, groups } = ofSignedTape(kept, chain, input, context, (signed) => flowOf(signed, prepared));
    const inOrder = (by: ReadonlyMap<string, AggressorFlow>) => [...by].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return {
      result: {
        ticker: chain.underlying,
        spot_price: chain.spot,
        days: input.days,
        min_premium: input.min_premium,
        signed_by: { ...signedBy },
        by_manner: columns('manner', [
          ...MANNERS.map((manner) => [manner, groups.manner.get(manner) ?? NOTHING] as const),
          ['all', groups.total.get('all') ?? NOTHING],
        ]),
        by_day: columns('day', inOrder(groups.day)),
        by_expiry: columns('expiry', inOrder(groups.expiry)),
      },
      provenance: provenanceOf(chain, context, tapeNotes(chain, input.days, context)),
    };
  },
});

const kept = new WeakMap<Chain, Map<string, ReturnType<typeof flowOf>>>();

function flowOf(signed: Iterable<SignedPrint>, prepared: PreparedChain) {
  const deltas = deltaByContract(prepared);
  const signedBy: Record<SideRule, number> = { feed: 0, quote: 0, tick: 0, unknown: 0 };
  const groupings = { total: () => 'all', manner: mannerOf, day: tradingDay(), expiry: (print: Print) => print.expiry };
  const groups = flowBy(counted(signed, signedBy), groupings, {
    spot: prepared.chain.spot,
    deltaOf: (print) => deltas.get(contractKey(print)),
  });
  return { signedBy, groups };
}

function* counted(signed: Iterable<SignedPrint>, by: Record<SideRule, number>): Generator<SignedPrint, void> {
  for (const each of signed) {
    by[each.by]++;
    yield each;
  }
}

const HOUR_MS = 3_600_000;

/** New York date of a print. Zones are whole hours apart, so an hour has one date, and a tape has many prints an hour. */
function tradingDay(): (print: Print) => string {
  let [hour, day] = [Number.NaN, ''];
  return ({ at }) => {
    const its = Math.floor(at / HOUR_MS);
    if (its !== hour) [hour, day] = [its, newYorkDate(at)];
    return day;
  };
}

function columns<Key extends string>(key: Key, rows: readonly (readonly [string, AggressorFlow])[]) {
  const column = (field: keyof AggressorFlow) => rows.map(([, its]) => its[field]);
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
