import { type Static, Type } from '@sinclair/typebox';
import { dealerSharesOf, type HedgingNode, hedgingNodes } from '../../analytics/exposure/hedging-nodes.ts';
import { contractKey } from '../../analytics/flow/trade-side.ts';
import type { Steps } from '../../core/steps.ts';
import type { Context } from '../engine/operation.ts';
import { dateField, namedObject, number, textField } from '../engine/schemas.ts';
import { putCall } from '../engine/shared-fields.ts';
import { integerOrNull } from '../engine/wrapped-schemas.ts';
import type { LevelRow } from '../gex/level-row.ts';
import { type MarketReading, readMarket } from '../reading/market-reading.ts';

/** Number of contracts that are compared at each moment. */
const CONTRACTS = 10;

const LEVEL = Type.Union([Type.Number(), Type.String(), Type.Null()]);

const change = namedObject('MovedLevel', undefined, {
  level: textField('Name of the level, as in the rows.'),
  before: { ...LEVEL, description: 'Its value in the first row, dollars or as the row states.' },
  after: { ...LEVEL, description: 'Its value in the last row, dollars or as the row states.' },
});

const shares = (when: string) =>
  integerOrNull(`Shares that dealers trade per +1 % move ${when}: + buys, - sells; null if it is not live then.`);

const contract = namedObject('ComparedContract', undefined, {
  strike: number('Strike, dollars.'),
  put_call: putCall,
  expiry_date: dateField('Expiry, YYYY-MM-DD.'),
  root: textField('OSI root.'),
  dealer_shares_before: shares('at the earlier moment'),
  dealer_shares_after: shares('at the later moment'),
});

const contracts = (description: string) => Type.Array(contract, { description });

/** The schema of the changes between two moments. */
export const levelComparison = namedObject(
  'LevelsComparison',
  'What has changed from the first row to the last: moved (level, before, after); new_contracts, gone_contracts and expired_contracts of ' +
    `the ${CONTRACTS} contracts that dealers hedge most, each with strike (dollars), put_call, expiry_date, root, dealer_shares_before and dealer_shares_after (per +1 % move: + buys, - sells).`,
  {
    moved: Type.Array(change, { description: 'The levels whose values differ, in the units of the rows.' }),
    new_contracts: contracts(`Contracts among the ${CONTRACTS} that dealers hedge most after, but not before.`),
    gone_contracts: contracts('Contracts among these before, but not after, that have not settled.'),
    expired_contracts: contracts('Contracts among these before that have settled since.'),
  },
);

export type LevelComparison = Static<typeof levelComparison>;

/** Returns the levels that have different values before and after. */
export function movedLevels(before: LevelRow, after: LevelRow): LevelComparison['moved'] {
  const names = Object.keys(before) as (keyof LevelRow)[];
  return names
    .filter((name) => name !== 'as_of' && before[name] !== after[name])
    .map((name) => ({ level: name, before: before[name], after: after[name] }));
}

/** The changes of the contracts that dealers hedge most. */
type ChangedContracts = Omit<LevelComparison, 'moved'>;

/** Compares the most hedged contracts at two moments, and lists the expiries settled between. `undefined` if a chain is not stored. */
export function* changedContracts(
  name: string,
  beforeMs: number,
  afterMs: number,
  context: Context,
): Steps<{ readonly changed: ChangedContracts; readonly settled: readonly string[] } | undefined> {
  const earlier = (yield* readingAt(name, beforeMs, context))?.prepared;
  const later = (yield* readingAt(name, afterMs, context))?.prepared;
  if (!earlier || !later) return undefined;
  const [before, after] = [hedgingNodes(earlier, CONTRACTS), hedgingNodes(later, CONTRACTS)];
  const reported = (node: HedgingNode): Static<typeof contract> => ({
    strike: node.strike,
    put_call: node.callPut === 1 ? 'C' : 'P',
    expiry_date: node.expiry,
    root: node.root,
    dealer_shares_before: dealerSharesOf(earlier, node) ?? null,
    dealer_shares_after: dealerSharesOf(later, node) ?? null,
  });
  const without = (nodes: readonly HedgingNode[], others: readonly HedgingNode[]) => {
    const names = new Set(others.map(contractKey));
    return nodes.filter((each) => !names.has(contractKey(each)));
  };
  const left = Map.groupBy(without(before, after), ({ settlesAt }) => (settlesAt <= afterMs ? 'expired' : 'gone'));
  const settled = earlier.series.map(({ series }) => series).filter(({ settlesAt }) => settlesAt <= afterMs);
  return {
    changed: {
      new_contracts: without(after, before).map(reported),
      gone_contracts: (left.get('gone') ?? []).map(reported),
      expired_contracts: (left.get('expired') ?? []).map(reported),
    },
    settled: [...new Set(settled.map(({ expiry }) => expiry))].sort(),
  };
}

/** The empty changes of a comparison whose chains are no longer stored. */
export const NOT_COMPARED: ChangedContracts = { new_contracts: [], gone_contracts: [], expired_contracts: [] };

/** Maximum number of settled expiries that a note names. */
const SETTLED_NAMED = 5;

/** Returns notes on a comparison: whether max pain is of another expiry, which expiries settled, and what the lists of contracts are. */
export function comparisonNotes(
  before: LevelRow,
  after: LevelRow,
  found: { readonly changed: ChangedContracts; readonly settled: readonly string[] } | undefined,
): string[] {
  const notes: string[] = [];
  if (before.expiry !== after.expiry)
    notes.push(
      `max_pain is of the dominant expiry, which has changed from ${before.expiry} to ${after.expiry}: the two are not comparable.`,
    );
  if (!found) return [...notes, 'The chain of one of the moments is no longer stored, so contracts are not compared.'];
  const { changed, settled } = found;
  if (settled.length > 0) {
    const more = settled.length > SETTLED_NAMED ? ` and ${settled.length - SETTLED_NAMED} more` : '';
    notes.push(`Settled in between: ${settled.slice(0, SETTLED_NAMED).join(', ')}${more}.`);
  }
  const isSame = Object.values(changed).every((contracts) => contracts.length === 0);
  notes.push(isSame ? SAME_NOTE : CONTRACTS_NOTE);
  return notes;
}

const SAME_NOTE = `The ${CONTRACTS} contracts that dealers hedge most are the same at both moments.`;
const CONTRACTS_NOTE =
  `New, gone and expired contracts have entered or left the ${CONTRACTS} that dealers hedge most: a new one may have existed before, with ` +
  'dealer_shares_before (per +1 % move).';

/** Reads the chain of a ticker's snapshot at a moment, ms since the epoch. Returns `undefined` if the chain is no longer stored. */
export function* readingAt(name: string, atMs: number, context: Context): Steps<MarketReading | undefined> {
  const isNewest = context.market.findChain(name)?.asOf === atMs;
  const market = isNewest ? context.market : context.market.at(atMs);
  return market.findChain(name)?.asOf === atMs ? yield* readMarket(name, { ...context, market }) : undefined;
}
