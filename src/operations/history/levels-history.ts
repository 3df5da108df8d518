import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_OPTIONS, DEFAULT_SIGN } from '../../analytics/chain/options.ts';
import { requireWeights } from '../../analytics/chain/prepare.ts';
import { downsample } from '../../analytics/downsample.ts';
import type { Horizon } from '../../analytics/exposure/horizons.ts';
import { gammaOfRecord } from '../../analytics/exposure/sign-margin.ts';
import { ClientError, invalidArgument } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { iso, newYorkDate } from '../../market/calendar.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { momentOf, momentText, rangeOf } from '../engine/moment.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { count, defaulted, objectOf, oneOf, textField } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { regimeNotes, UNRESOLVED_FLIP_NOTE } from '../gex/gamma-regime.ts';
import { levelNotes } from '../gex/gex-nodes.ts';
import { levelRow, reportLevels } from '../gex/level-row.ts';
import { levelsByHorizonOf, levelsOf, provenanceOf, settledSince } from '../reading/market-reading.ts';
import {
  changedContracts,
  comparisonNotes,
  levelComparison,
  movedLevels,
  NOT_COMPARED,
  readingAt,
} from './compare-levels.ts';
import { comparedMoment, PREVIOUS_CLOSE, reachNotes } from './compared-moment.ts';
import { dueNotes, findTimes, pastNotes } from './gex-history.ts';
import { atHorizon, horizonChoice, recordsAt, withoutHorizonNotes } from './horizon.ts';

/** Maximum number of rows in an answer. The rows and the provenance take less than 2,000 tokens of a model's context. */
const ROWS_MAX = 18;

const input = objectOf({
  ticker,
  from: Type.Optional(momentText('Begin.')),
  to: Type.Optional(momentText('End; of a date, its last moment.')),
  per: defaulted(oneOf(['day', 'snapshot'], 'A row per day or snapshot.'), 'day'),
  horizon: horizonChoice,
  compare_with: Type.Optional(momentText(`Earlier moment, or ${PREVIOUS_CLOSE}.`, PREVIOUS_CLOSE)),
});

export const getLevelsHistory = defineOperation({
  name: 'get_levels_history',
  ofMarket: true,
  title: 'Levels in the past, and what has changed',
  page: { absent: 'An answer for agents: History shows the same levels, and Record whether they held.' },
  description:
    `Stored GEX levels of a ticker: at a moment (at), as up to ${ROWS_MAX} rows from/to, or changes since compare_with: moved levels, and ` +
    'contracts new in, gone or expired from the ten largest. Dollars; net_gex_mil: million dollars per 1 % move, + damps moves, - amplifies ' +
    'them; atm_iv_30d: decimal.',
  example: { ticker: 'SPY', from: '2026-11-02' },
  input,
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    levels: Type.Array(levelRow, { description: 'By time, ascending; with compare_with the two compared moments.' }),
    comparison: Type.Optional(levelComparison),
    rows_in_range: count('Rows of the range that are stored, before evenly spaced rows were selected.'),
  }),
  tool: {
    question: 'levels on another day, what changed since',
    method: 'history',
    units: ['Dollars', 'million dollars per 1 % move, + damps moves, - amplifies', 'decimal'],
    answers: ['ticker', 'levels'],
    onDemand: ['comparison'],
    echoes: ['rows_in_range'],
  },
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/levels' },
  *run(request, context) {
    const { market } = context;
    const name = market.tracked(request.ticker);
    const { horizon } = request;
    const notes = [
      ...dueNotes(name, context, horizon),
      ...pastNotes(market.findChain(name)?.simulated ?? false, context),
    ];
    if (request.compare_with !== undefined) {
      const { times, notes: ofMoment } = comparedTimes(name, request, context);
      const [before, after] = market.levels(name, times).map((each) => requireHorizon(each, horizon)) as [
        LevelRecord,
        LevelRecord,
      ];
      const found = yield* changedContracts(name, before.asOf, after.asOf, context);
      const levels = [reportLevels(before), reportLevels(after)] as const;
      notes.push(...ofMoment, ...comparisonNotes(...levels, found));
      const comparison = { moved: movedLevels(...levels), ...(found?.changed ?? NOT_COMPARED) };
      return {
        result: { ticker: name, levels: [...levels], comparison, rows_in_range: levels.length },
        provenance: provenanceOfLevels(after, context, [
          ...notes,
          ...(yield* newestNotes(after, true, horizon, context)),
        ]),
      };
    }
    const times = yield* timesOf(name, request, context);
    const shown = downsample(times, ROWS_MAX);
    const records = market.levels(name, shown);
    const { found: rows, notes: leftOut } = recordsAt(records, horizon);
    if (shown.length < times.length)
      notes.push(`${shown.length} of ${times.length} rows, evenly spaced: narrow the range for all.`);
    const newest = rows.at(-1) ?? requireHorizon(records.at(-1)!, horizon);
    notes.push(
      ...leftOut,
      ...beginNotes(name, request, context),
      ...(yield* newestNotes(newest, rows.length > 1, horizon, context)),
    );
    return {
      result: { ticker: name, levels: rows.map(reportLevels), rows_in_range: times.length },
      provenance: provenanceOfLevels(newest, context, notes),
    };
  },
});

type Request = Static<typeof input>;

/** Returns the caveats of get_live_gex_nodes on the newest levels, without a stored chain only those of the levels themselves. */
function* newestNotes(
  newest: LevelRecord,
  isOneOfSeveral: boolean,
  horizon: Horizon,
  context: Context,
): Steps<string[]> {
  const notes: string[] = [];
  const reading = yield* readingAt(newest.underlying, newest.asOf, context);
  if (reading) {
    const whole = { ...(yield* levelsOf(reading)), prepared: reading.prepared };
    const levels = horizon === 'all' ? whole : ((yield* levelsByHorizonOf(reading))[horizon] ?? whole);
    const isPresent = reading.chain === context.market.findChain(newest.underlying);
    notes.push(
      ...(isPresent ? settledSince([levels.dominant.series], context) : []),
      ...levelNotes(levels.prepared, levels),
    );
  } else {
    if (!newest.flipResolved) notes.push(UNRESOLVED_FLIP_NOTE);
    notes.push(...regimeNotes(gammaOfRecord(newest)));
  }
  return isOneOfSeveral ? notes.map((note) => `Newest levels: ${note}`) : notes;
}

/** Returns a record with the levels of a horizon. Throws `ClientError` if they are not stored. */
function requireHorizon(record: LevelRecord, horizon: Horizon): LevelRecord {
  const found = atHorizon(record, horizon);
  if (found) return found;
  const { underlying, asOf } = record;
  throw new ClientError(
    'unprocessable',
    `No levels of horizon=${horizon} of ${underlying} are stored at ${iso(asOf)}`,
    {
      hint: withoutHorizonNotes(1, 'row', horizon)[0]!,
    },
  );
}

/** Returns a note if the requested period begins before the oldest stored levels. */
function beginNotes(name: string, { from }: Request, { market }: Context): string[] {
  if (from === undefined) return [];
  const [oldest] = market.levelTimes(name, 0, Number.MAX_SAFE_INTEGER, 'day');
  if (newYorkDate(oldest!) <= newYorkDate(momentOf(from, '/from', 'first'))) return [];
  return [`No levels of ${name} from before ${newYorkDate(oldest!)} are stored.`];
}

/** Returns the moments of the rows in a period, or else the newest moment. Throws `ClientError` if there is no row. */
function* timesOf(name: string, { per, ...range }: Request, context: Context): Steps<number[]> {
  const { market } = context;
  const { fromMs, toMs } = rangeOf(range);
  if (fromMs === undefined && range.to === undefined) return [newestOf(name, toMs, { market })];
  const times = yield* findTimes(name, fromMs ?? 0, toMs, per, context);
  if (times.length > 0) return times;
  const before = newestOf(name, toMs, { market });
  throw new ClientError('unprocessable', `No levels of ${name} are stored in the range`, {
    hint: `The last levels before it are of ${iso(before)}.`,
  });
}

/** Returns the two moments of a comparison, the earlier moment first. Throws `ClientError` if one of the moments has no levels. */
function comparedTimes(
  name: string,
  { from, to, compare_with }: Request,
  { market }: Context,
): { times: [number, number]; notes: string[] } {
  if (from !== undefined || to !== undefined)
    throw invalidArgument('/compare_with', 'must be given without /from and /to');
  const after = newestOf(name, Number.MAX_SAFE_INTEGER, { market });
  const beforeMs = comparedMoment(compare_with!, 'compare_with', after, 'levels', (ms) =>
    market.lastLevelsAt(name, ms),
  );
  const before = newestOf(name, beforeMs, { market });
  return { times: [before, after], notes: reachNotes(name, 'compare_with', beforeMs, before, 'levels') };
}

/** Returns the last moment with stored levels that is not after `untilMs`. Throws `ClientError` if there is no such moment. */
function newestOf(name: string, untilMs: number, { market }: Pick<Context, 'market'>): number {
  const found = market.lastLevelsAt(name, untilMs);
  if (found !== undefined) return found;
  const [first] = market.levelTimes(name, 0, Number.MAX_SAFE_INTEGER, 'day');
  // For a ticker without a chain or without open interest, the error says so.
  if (first === undefined) requireWeights({ chain: market.chain(name), options: DEFAULT_OPTIONS, sign: DEFAULT_SIGN });
  throw new ClientError(
    'unprocessable',
    `No levels of ${name} are stored${untilMs === Number.MAX_SAFE_INTEGER ? '' : ` up to ${iso(untilMs)}`}`,
    {
      hint:
        first === undefined
          ? 'Retry shortly: they are being computed, unless get_live_gex_nodes says that the chain gives none.'
          : `The oldest stored day ends at ${iso(first)}.`,
    },
  );
}

/** Returns the provenance of stored levels. The source is unknown if the snapshot of the levels was removed. */
function provenanceOfLevels({ underlying, asOf, simulated }: LevelRecord, context: Context, notes: readonly string[]) {
  const chain = context.market.findChain(underlying);
  const source = chain?.asOf === asOf ? chain.source : 'stored levels';
  return provenanceOf({ asOf, simulated, source }, context, notes);
}
