import { selectedSeries } from '../../analytics/chain/prepare.ts';
import {
  builtOf,
  type NotCompared,
  type OpenInterestChanges,
  openInterestChanges,
} from '../../analytics/exposure/compare-open-interest.ts';
import { ClientError } from '../../core/errors.ts';
import { iso, newYorkDate } from '../../market/calendar.ts';
import { type Chain, hasOpenInterest } from '../../market/chain.ts';
import { momentText } from '../engine/moment.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { count, defaulted, momentField, namedObject, number, objectOf } from '../engine/schemas.ts';
import { numberColumn } from '../engine/wrapped-schemas.ts';
import { chainInput, optionsOf } from '../reading/analysis-options.ts';
import { headFields, knownUntil, provenanceOf, reportHead } from '../reading/market-reading.ts';
import { comparedMoment, PREVIOUS_CLOSE, reachNotes } from './compared-moment.ts';

const notCompared = (description: string) =>
  namedObject('UncomparedContracts', `${description} They are not compared.`, {
    contracts: count('Number of these contracts.'),
    open_interest: number('Sum of their open interest in the snapshot that has it, contracts.'),
  });

export const getOpenInterestChanges = defineOperation({
  name: 'get_open_interest_changes',
  ofMarket: true,
  title: 'Where open interest has built',
  page: { absent: 'An answer for agents and programs: the terminal shows the open interest of one moment by strike.' },
  description:
    'Change of open interest at each strike since an earlier moment, as columns, the largest build first. Compares only contracts that are ' +
    'live at both moments, one by one. Two tables by strike do not show this, because settled contracts are only in the earlier one.',
  example: { ticker: 'SPY', since: PREVIOUS_CLOSE },
  input: objectOf({
    ticker: chainInput.properties.ticker,
    since: defaulted(
      momentText(`Earlier moment, or ${PREVIOUS_CLOSE}. The last snapshot up to it is compared.`, PREVIOUS_CLOSE),
      PREVIOUS_CLOSE,
    ),
    expiries: chainInput.properties.expiries,
  }),
  full: objectOf({
    ...headFields,
    before: momentField('Moment of the earlier snapshot, ISO 8601. Its open interest is of the evening before.'),
    after: momentField('Moment of the later snapshot, ISO 8601. Its open interest is of the evening before.'),
    total_change: number('Sum of change, contracts.'),
    compared: count('Contracts that are live in both snapshots.'),
    settled: notCompared('Contracts that settled between the snapshots.'),
    listed: notCompared('Contracts that only the later snapshot has, such as newly listed ones.'),
    missing: notCompared('Contracts that the later snapshot lacks although they have not settled.'),
    unknown: notCompared('Contracts whose open interest one of the snapshots does not give.'),
    count: count('Rows of each column.'),
    strike: numberColumn('Strikes, by change, the largest build first and the largest fall last, dollars.'),
    change: numberColumn('Open interest after less before, calls plus puts, contracts: + built, - closed.'),
    call_change: numberColumn('The change of calls, contracts.'),
    put_change: numberColumn('The change of puts, contracts.'),
    call_open_interest: numberColumn('Open interest of the compared calls after, contracts.'),
    put_open_interest: numberColumn('Open interest of the compared puts after, contracts.'),
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/open-interest' },
  *run({ ticker, since, expiries }, context) {
    const selection = optionsOf({ expiries }).expiries;
    const after = context.market.chain(ticker);
    // An expiry that is not listed is this fault whatever else is stored.
    selectedSeries(after, selection, knownUntil(after, context));
    const { before, notes } = earlierChain(after, since, context);
    requireOpenInterest(after, `newest chain of ${after.underlying}`);
    requireOpenInterest(before, `chain of ${before.underlying} as of ${iso(before.asOf)}`);
    const changes = yield* openInterestChanges(before, after, selection, knownUntil(after, context));
    const { strikes, compared, settled, listed, missing, unknown } = changes;
    const change = strikes.map(builtOf);
    return {
      result: {
        ...reportHead(after),
        before: iso(before.asOf),
        after: iso(after.asOf),
        total_change: change.reduce((sum, each) => sum + each, 0),
        ...{ compared, settled, listed, missing, unknown },
        count: strikes.length,
        strike: strikes.map(({ strike }) => strike),
        change,
        call_change: strikes.map(({ callChange }) => callChange),
        put_change: strikes.map(({ putChange }) => putChange),
        call_open_interest: strikes.map(({ callOpenInterest }) => callOpenInterest),
        put_open_interest: strikes.map(({ putOpenInterest }) => putOpenInterest),
      },
      provenance: provenanceOf(after, context, [...notes, ...sameDayNotes(before, after), ...apartNotes(changes)]),
    };
  },
});

/** Returns the last snapshot up to `since`, and a note if it is of an earlier session. Throws `ClientError` if there is none. */
function earlierChain(after: Chain, since: string, { market }: Context): { before: Chain; notes: string[] } {
  const { underlying, asOf } = after;
  const lastUntil = (ms: number) => market.at(ms).quotedAt(underlying);
  const beforeMs = comparedMoment(since, 'since', asOf, 'snapshots', lastUntil);
  if (lastUntil(asOf - 1) === undefined)
    throw new ClientError('no_chain', `No snapshot of ${underlying} from before ${iso(asOf)} is stored`, {
      hint: 'Open interest can be compared as soon as a snapshot of a later day is stored.',
    });
  const before = market.at(beforeMs).chain(underlying);
  return { before, notes: reachNotes(underlying, 'since', beforeMs, before.asOf, 'snapshots') };
}

/** Throws `ClientError` if a chain, which `name` describes, has no open interest to compare. */
function requireOpenInterest(chain: Chain, name: string): void {
  if (hasOpenInterest(chain)) return;
  throw new ClientError('no_chain', `The ${name} has no open interest`, {
    hint: 'Compare chains that have open interest. Surface, quotes and Greeks need none.',
  });
}

function sameDayNotes(before: Chain, after: Chain): string[] {
  if (newYorkDate(before.asOf) !== newYorkDate(after.asOf)) return [];
  return ['Both snapshots are of the same day. Exchanges publish open interest once a day, so few contracts differ.'];
}

/** Returns a note on the contracts that are not compared. */
function apartNotes({ settled, listed, missing, unknown }: OpenInterestChanges): string[] {
  const kinds = [
    of(settled, 'have settled since'),
    of(listed, 'are only in the later snapshot'),
    of(missing, 'are only in the earlier snapshot although not settled'),
    of(unknown, 'lack open interest in one snapshot'),
  ].flat();
  return kinds.length === 0 ? [] : [`Not compared: ${kinds.join('; ')}.`];
}

function of({ contracts, open_interest }: NotCompared, what: string): string[] {
  return contracts === 0 ? [] : [`${contracts} contracts (open interest ${open_interest}) ${what}`];
}
