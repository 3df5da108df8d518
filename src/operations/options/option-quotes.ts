import { type Static, Type } from '@sinclair/typebox';
import { type ContractSelection, inOrderOfStrike, selectContracts } from '../../analytics/chain/contract-selection.ts';
import { selectSeries } from '../../analytics/chain/prepare.ts';
import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import { inOrderOfSettlement } from '../../analytics/chain/rows.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { type ClientError, invalidArgument } from '../../core/errors.ts';
import type { Step } from '../../core/steps.ts';
import { daysBetween, newYorkDate } from '../../market/calendar.ts';
import { defineOperation } from '../engine/operation.ts';
import { cursor, cursorAt, cursorOfNext, pageFrom } from '../engine/pages.ts';
import {
  count,
  dateField,
  defaulted,
  documented,
  integerField,
  integerIn,
  momentField,
  namedList,
  namedObject,
  number,
  objectOf,
  oneOf,
  textField,
} from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { fractionNotes } from '../engine/unlikely-units.ts';
import { integerOrNull, nullableColumn, numberOrNull } from '../engine/wrapped-schemas.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { expirySelection } from '../reading/expiry-choice.ts';
import {
  knownUntil,
  openInterestNotes,
  provenanceOf,
  readMarket,
  reportHead,
  settledSince,
} from '../reading/market-reading.ts';
import { settlement } from '../reading/market-words.ts';
import { seriesFigures } from '../reading/series-figures.ts';
import { quoteRow, quoteRows } from './quote-rows.ts';

/** Number of rows on a page. A tool's page of 18 rows takes up to 1,800 tokens of a model's context. REST pages can be larger. */
const ROWS = { contracts: 10, most: 18 };
const REST_ROWS = { default: 100, most: 1_000 };

const selection = {
  ticker,
  expiry: Type.Optional(
    documented(textField('YYYY-MM-DD or 0dte.'), { anyOf: [{ enum: ['0dte'] }, { format: 'date' }] }),
  ),
  put_call: Type.Optional(oneOf(['C', 'P'], 'Default: both.')),
  near_delta: Type.Optional(number('Nearest this absolute delta, 0 to 1.', { minimum: -1, maximum: 1 })),
  near_pct_from_spot: Type.Optional(number('Nearest this percent from spot: -5 is 5 % below.')),
  strike_min: Type.Optional(number('Lowest strike, dollars.')),
  strike_max: Type.Optional(number('Highest strike, dollars.')),
};

const input = objectOf({
  ...selection,
  limit: Type.Optional(
    integerIn(`Maximum rows; default ${ROWS.contracts} contracts or ${ROWS.most} series.`, 1, ROWS.most),
  ),
  cursor,
});
type Input = Static<typeof input>;

const seriesRow = namedObject('SeriesQuotes', undefined, {
  expiry: dateField('YYYY-MM-DD'),
  root: textField('OSI root.'),
  settlement,
  days: integerField('Calendar days from the snapshot to the expiry.'),
  forward: number('Forward price, dollars.'),
  atm_iv: numberOrNull(
    "At-the-money volatility, decimal per calendar year: that of the series' law in the surface, or of the quotes next to the forward if they determine no smile; null if these determine none.",
  ),
  atm_iv_bid: numberOrNull(
    'At-the-money volatility that the bids next to the forward imply, decimal per calendar year; null if atm_iv is null, or without two-sided quotes.',
  ),
  atm_iv_ask: numberOrNull(
    'At-the-money volatility that the asks next to the forward imply, decimal per calendar year; null if atm_iv_bid is null.',
  ),
  expected_move: numberOrNull('One standard deviation to settlement at atm_iv, dollars; null if atm_iv is null.'),
  skew_25d: numberOrNull(
    'Volatility of the 25-delta put less that of the 25-delta call, decimal per calendar year; null if the quotes determine no smile.',
  ),
  open_interest: integerOrNull('Contracts outstanding; null if the chain has no open interest.'),
  volume: count('Contracts traded on the day of the snapshot.'),
});

export const getOptionQuotes = defineOperation({
  name: 'get_option_quotes',
  ofMarket: true,
  title: 'Option quotes and term structure',
  page: { absent: 'No view lists single contracts. The view Expiries has the same rows as its term structure.' },
  description:
    'Contracts of an expiry nearest spot, by strike: bid, ask (dollars); iv, iv_bid, iv_ask (decimal per year); open interest, volume; ' +
    'delta, gamma (per 1.00 of spot), theta (dollars per calendar day), vega (dollars per vol point). Without expiry: term structure, a row ' +
    'per series (expiry, days, atm_iv). Not for dealer levels (get_live_gex_nodes) or flow (get_whale_prints).',
  example: { ticker: 'SPY' },
  input,
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    spot_price: number('Dollars.'),
    expiry: Type.Optional(dateField('YYYY-MM-DD')),
    quotes: Type.Optional(
      Type.Array(quoteRow, {
        description:
          'put_call, root (if several), nearest (to near_delta or near_pct_from_spot). Dollars: strike, bid, ask. Decimal per year: iv (of ' +
          'the mid), iv_bid, iv_ask; null at or below intrinsic value. Contracts: open_interest, volume. delta, gamma per 1.00 of spot; theta dollars per calendar day; vega dollars per vol point.',
      }),
    ),
    expiries: Type.Optional(
      Type.Array(seriesRow, {
        description:
          'Without expiry: root, expiry, settlement (AM, PM), days. Dollars: forward, expected_move (one standard deviation). ' +
          'Decimal per year: atm_iv, atm_iv_bid, atm_iv_ask, skew_25d (put less call). Contracts: open_interest, volume.',
      }),
    ),
    next_cursor: cursorOfNext,
    straddle_move: Type.Optional(
      nullableColumn(
        'Expected distance of the price at settlement from the forward, dollars: the price of the straddle at the forward, without discounting, which traders call the expected move; null if atm_iv is null.',
        'expiries',
      ),
    ),
    greeks_iv: Type.Optional(
      nullableColumn(
        'Volatility of the Greeks of each row of quotes, decimal per year: that of the out-of-the-money side of the strike; null if no method gives one.',
        'quotes',
      ),
    ),
    series: Type.Optional(
      namedList(
        'SeriesInputs',
        'With expiry: the series of the expiry, by settlement, with the inputs of the Greeks.',
        {
          root: textField('OSI root.'),
          settles_at: momentField('Settlement, ISO 8601.'),
          tte: number('Years to settlement.'),
          forward: number('Forward price, dollars.'),
          rate: number('Discount rate, continuous, decimal per year.'),
          dividend: number('Yield that carries spot to the forward, continuous, decimal per year.'),
        },
      ),
    ),
  }),
  tool: {
    question: 'quotes, volatility and Greeks of listed options; term structure',
    method: 'option-quotes-get_option_quotes-get-apiv1quotesticker',
    units: ['(dollars)', 'decimal per year', 'dollars per calendar day', 'dollars per vol point'],
    answers: ['ticker', 'spot_price'],
    onDemand: ['expiry', 'quotes', 'expiries', 'next_cursor'],
  },
  rest: {
    method: 'GET',
    path: '/api/v1/quotes/{ticker}',
    input: objectOf({
      ...selection,
      limit: defaulted(integerIn('Maximum rows of a page.', 1, REST_ROWS.most), REST_ROWS.default),
      cursor,
    }),
  },
  *run(input, context) {
    yield step('Reading the chain and its volatilities');
    const ofExpiry = contractSelection(input);
    const { ticker: _ticker, limit: _limit, cursor: given, ...chosen } = input;
    const page = pageFrom(given, input.ticker, context, chosen);
    const { chain, prepared } = yield* readMarket(input.ticker, page.context);
    yield step('Reading the quotes');
    const limit = input.limit ?? (ofExpiry ? ROWS.contracts : ROWS.most);
    const { more, notes, listed, ...rows } = ofExpiry
      ? quotesOf(prepared, input, ofExpiry(chain.spot), page.row, limit, knownUntil(chain, context))
      : termStructure(prepared, yield* surfaceOfPrepared(prepared), page.row, limit);
    return {
      result: {
        ...reportHead(chain),
        ...rows,
        ...(more && { next_cursor: cursorAt(chain, page.row + limit, chosen) }),
      },
      provenance: provenanceOf(chain, context, [
        ...openInterestNotes(chain),
        ...settledSince(
          listed.map((each) => each.series),
          context,
        ),
        ...fractionNotes('near_pct_from_spot', [input.near_pct_from_spot ?? 0]),
        ...notes,
      ]),
    };
  },
});

function step(message: string): Step {
  return { message, total: 2 };
}

/** Arguments that select contracts. A request with an argument of this list must also have an expiry. */
const OF_CONTRACTS = ['put_call', 'near_delta', 'near_pct_from_spot', 'strike_min', 'strike_max'] as const;

/** Returns a function from a spot to a selection, or undefined without an expiry. Throws `ClientError` for contradicting arguments. */
function contractSelection(input: Input): ((spot: number) => ContractSelection) | undefined {
  const { expiry = 'all', put_call, near_delta, near_pct_from_spot: percent, strike_min, strike_max } = input;
  if (expiry === 'all') {
    const given = OF_CONTRACTS.find((name) => input[name] !== undefined);
    if (given === undefined) return undefined;
    throw refusal(given, 'needs expiry', 'Add expiry. A call with only ticker lists the expiries.');
  }
  if (near_delta !== undefined && percent !== undefined)
    throw refusal('near_delta', 'must not be combined with near_pct_from_spot', 'Choose one of them.');
  const hasRange = strike_min !== undefined || strike_max !== undefined;
  const { strikeMin, strikeMax } = { strikeMin: strike_min ?? 0, strikeMax: strike_max ?? Number.POSITIVE_INFINITY };
  if (strikeMin > strikeMax)
    throw refusal('strike_min', 'must not be above strike_max', 'Exchange strike_min and strike_max.');
  return (spot) => ({
    callPut: put_call === undefined ? undefined : put_call === 'C' ? 1 : -1,
    strikeMin,
    strikeMax,
    near:
      near_delta !== undefined
        ? { kind: 'delta', delta: Math.abs(near_delta) }
        : hasRange && percent === undefined
          ? undefined
          : { kind: 'strike', strike: spot * (1 + (percent ?? 0) / 100) },
  });
}

function refusal(argument: (typeof OF_CONTRACTS)[number], expected: string, hint: string): ClientError {
  return invalidArgument(`/${argument}`, expected, hint);
}

/** Returns a page of an expiry's contracts in order of strike, and whether the expiry has more contracts. */
function quotesOf(
  prepared: PreparedChain,
  { expiry: expiryText, near_delta, near_pct_from_spot }: Input,
  ofContracts: ContractSelection,
  from: number,
  limit: number,
  nowMs: () => number,
) {
  const series = selectSeries(prepared, expirySelection(expiryText), nowMs);
  const { expiry } = series[0]!.series;
  const selected = selectContracts(prepared, series, ofContracts);
  const contracts = inOrderOfStrike(prepared, series, selected.slice(from, from + limit));
  const rows = quoteRows(prepared, contracts, series.length > 1);
  const hasTarget = near_delta !== undefined || near_pct_from_spot !== undefined;
  const nearest = new Set(hasTarget ? firstOfEachSide(prepared, selected) : []);
  return {
    more: selected.length > from + limit,
    listed: series,
    notes: [
      ...strikeNotes(prepared, series, ofContracts, selected),
      ...denserNotes(prepared, series, ofContracts),
      ...missingNotes(rows.quotes),
    ],
    expiry,
    ...rows,
    quotes: rows.quotes.map((row, i) => (nearest.has(contracts[i]!) ? { ...row, nearest: true as const } : row)),
    series: series.map((each) => ({
      root: each.series.root,
      settles_at: new Date(each.series.settlesAt).toISOString(),
      tte: each.tte,
      forward: each.forward,
      rate: each.rate,
      dividend: each.dividend,
    })),
  };
}

/** Returns the first call and the first put of each series. */
function firstOfEachSide({ seriesIndex, callPut }: PreparedChain, contracts: readonly number[]): Iterable<number> {
  const first = new Map<string, number>();
  for (const each of contracts) first.getOrInsert(`${seriesIndex[each]} ${callPut[each]}`, each);
  return first.values();
}

/** Returns a note if no strike is in the selected range, or if the target lies outside all strikes. The note names listed strikes. */
function strikeNotes(
  { strike }: PreparedChain,
  series: readonly PreparedSeries[],
  { strikeMin, strikeMax, near }: ContractSelection,
  selected: readonly number[],
): string[] {
  const listed = series.flatMap(({ start, end }) => [...strike.subarray(start, end)]);
  if (selected.length === 0) {
    const around = [
      Math.max(...listed.filter((each) => each < strikeMin)),
      Math.min(...listed.filter((each) => each > strikeMax)),
    ];
    const nearest = around.filter(Number.isFinite);
    return [
      `No contract of the expiry is in this range of strikes.${nearest.length > 0 ? ` Nearest listed: ${nearest.join(' and ')}.` : ''}`,
    ];
  }
  const [lowest, highest] = [Math.min(...listed), Math.max(...listed)];
  if (near?.kind !== 'strike' || (near.strike >= lowest && near.strike <= highest)) return [];
  return [
    `The strikes of the expiry go from ${lowest} to ${highest}: none is at ${Number(near.strike.toPrecision(6))}.`,
  ];
}

/** Returns a note if another expiry lists more than twice as many strikes in the selected range. The note names the expiry with most. */
function denserNotes(
  { series: all, strike }: PreparedChain,
  series: readonly PreparedSeries[],
  { strikeMin, strikeMax }: ContractSelection,
): string[] {
  if (strikeMin <= 0 && strikeMax === Number.POSITIVE_INFINITY) return [];
  const isIn = (each: number) => each >= strikeMin && each <= strikeMax;
  const countIn = ({ start, end }: PreparedSeries) => new Set(strike.subarray(start, end).filter(isIn)).size;
  const own = Math.max(...series.map(countIn));
  const [most, ofMost] = all.map((each) => [countIn(each), each] as const).reduce((a, b) => (b[0] > a[0] ? b : a));
  if (most <= 2 * own) return [];
  return [`In this range, the expiry lists ${own} strikes. ${ofMost.series.expiry} lists ${most}.`];
}

/** Returns a note if some contracts have Greeks but no volatility of their own. */
function missingNotes(quotes: readonly Static<typeof quoteRow>[]): string[] {
  const missing = quotes.filter(({ iv, delta }) => iv === null && delta !== null).length;
  if (missing === 0) return [];
  return [
    `${missing} of ${quotes.length} contracts have a null iv, because their quotes determine none. Their Greeks are at the volatility of the strike.`,
  ];
}

/** Returns a page of the series in order of settlement, and whether the chain has more series. */
function termStructure(prepared: PreparedChain, surface: FittedSurface, from: number, limit: number) {
  const series = inOrderOfSettlement(prepared.series);
  const listed = series.slice(from, from + limit);
  const all = listed.map((each) => seriesFigures(prepared, surface, each));
  return {
    more: series.length > from + limit,
    listed,
    notes: [],
    expiries: all.map((figures) => seriesRowOf(prepared, figures)),
    straddle_move: all.map((figures) => figures.straddle_move),
  };
}

function seriesRowOf(prepared: PreparedChain, figures: ReturnType<typeof seriesFigures>): Static<typeof seriesRow> {
  const { expiry, root, settlement, smile_refused: _refused, straddle_move: _straddle, ...rest } = figures;
  return { expiry, root, settlement, days: daysTo(expiry, prepared), ...rest };
}

function daysTo(expiry: string, { chain }: PreparedChain): number {
  return daysBetween(newYorkDate(chain.asOf), expiry);
}
