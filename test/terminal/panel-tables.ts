import type {
  AggressorFlows,
  DayChanges,
  Expiries,
  HedgingNodes,
  History,
  Matrix,
  ProfileAnswer,
  Radar,
  RecordAnswer,
  SignedPrints,
  Strikes,
  Surface,
  WhalePrints,
} from '../../web/data/page-answers.ts';

type Cell = string | number | null;
/** The figures of a panel. A value that is undefined is not that of an answer: it is live, or a text of the page. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (Cell | undefined)[])[];
}

/** The lists of an answer as a table, all of them or some. */
function listsOf(answer: object, names?: readonly string[]): Table {
  const lists = Object.entries(answer).filter((entry): entry is [string, Cell[]] => Array.isArray(entry[1]));
  const chosen = names ? names.map((name) => lists.find(([each]) => each === name)!) : lists;
  return {
    columns: chosen.map(([name]) => name),
    rows: chosen[0]![1].map((_, i) => chosen.map(([, values]) => values[i]!)),
  };
}

const tableOf = <Row>(
  columns: Readonly<Record<string, (row: Row, i: number) => Cell | undefined>>,
  rows: readonly Row[],
) => ({
  columns: Object.keys(columns),
  rows: rows.map((row, i) => Object.values(columns).map((value) => value(row, i))),
});

/** A table with the tickers of an answer, whose other figures are live. */
const liveOf = ({ ticker }: DayChanges, live: readonly string[]) =>
  tableOf<string>(
    { ticker: (name) => name, ...Object.fromEntries(live.map((name) => [name, () => undefined])) },
    ticker,
  );

const indices = (list: readonly unknown[]) => list.map((_, i) => i);

/** What the table and the file of each panel must have, by the answer of the panel's own call. Null: a panel without a table. */
export const TABLES: Readonly<Record<string, ((answer: never) => Table) | null>> = {
  ladder: (answer: Strikes) => listsOf(answer),
  profile: (answer: ProfileAnswer) => listsOf(answer, ['spot', 'net_gex']),
  combined: (answer: ProfileAnswer) => listsOf(answer, ['spot', 'net_gex']),
  'expiry-shares': (answer: Expiries) =>
    listsOf(answer, ['root', 'expiry', 'settlement', 'net_gex', 'gross_share_pct', 'expired_share_pct', 'atm_iv']),
  term: (answer: Expiries) => listsOf(answer),
  matrix: ({ strike, expiry, root, settlement, values, by_strike }: Matrix) => ({
    columns: ['strike', ...expiry.map((each, i) => `${each} ${root[i]} ${settlement[i]}`), 'all'],
    rows: strike.map((at, row) => [at, ...values.map((column) => column[row]!), by_strike[row]!]),
  }),
  expiries: (answer: Expiries) => {
    const figures = [
      ...['tte', 'net_gex', 'gross_share_pct', 'expired_share_pct', 'atm_iv', 'atm_iv_bid', 'atm_iv_ask'],
      ...[
        'atm_iv_trading',
        'expected_move',
        'straddle_move',
        'skew_25d',
        'max_pain',
        'forward',
        'rate',
        'open_interest',
        'volume',
      ],
      ...['gross_gex', 'sign_margin_pct', 'smile_refused'],
    ];
    const { columns, rows } = listsOf(answer, ['expiry', ...figures]);
    const series = (i: number) => `${answer.root[i]} ${answer.settlement[i]}`;
    return {
      columns: columns.toSpliced(1, 0, 'series'),
      rows: rows.map((row, i) => row.toSpliced(1, 0, series(i))),
    };
  },
  strikes: (answer: Strikes) => {
    const figures = [
      ...['net_gex', 'call_gex', 'put_gex', 'net_dex', 'net_vex', 'net_cex', 'call_open_interest', 'put_open_interest'],
      ...['call_volume', 'put_volume', 'sign_margin_pct'],
    ];
    const { columns, rows } = listsOf(answer, ['strike', ...figures]);
    return {
      columns: columns.toSpliced(1, 0, 'distance_pct', 'level'),
      rows: rows.map((row, i) => row.toSpliced(1, 0, 100 * (answer.strike[i]! / answer.spot_price - 1), undefined)),
    };
  },
  nodes: ({ top_nodes, components }: HedgingNodes) =>
    tableOf<Readonly<Record<string, Cell>>>(
      Object.fromEntries(
        [
          ...['strike', 'put_call', 'expiry_date', 'Dealer_Share_Exposure', 'Delta_Flux_j', 'drift_shares'],
          ...['expected_abs_shares', 'strike_shares', 'rank', 'dealer_contracts', 'gex', 'iv', 'iv_band', 'delta'],
          ...['delta_after_a_day', 'gamma', 'tte', 'ends_in_the_money', 'root'],
        ].map((name) => [name, (row, i) => (name === 'rank' ? i + 1 : row[name]!)]),
      ),
      top_nodes.map((node, i) => ({ ...node, ...components[i]! })),
    ),
  flow: ({ by_day }: AggressorFlows) =>
    listsOf(by_day, [
      ...['day', 'prints', 'contracts', 'premium', 'call_bought', 'call_sold', 'put_bought', 'put_sold'],
      ...['unsigned', 'net_delta'],
    ]),
  tape: (answer: SignedPrints) =>
    tableOf(
      {
        at: (i) => answer.at[i]!,
        contract: () => undefined,
        aggressor: (i) => answer.aggressor[i]!,
        price: (i) => answer.price[i]!,
        quote: () => undefined,
        size: (i) => answer.size[i]!,
        premium: (i) => answer.premium[i]!,
        signed_by: (i) => answer.signed_by[i]!,
        manner: (i) => answer.manner[i]!,
        delta: (i) => answer.delta[i]!,
      },
      indices(answer.at),
    ),
  'large-prints': ({ call_fiat_paid, put_fiat_paid, by_side }: WhalePrints) => ({
    columns: ['side', 'premium', 'at_ask', 'at_bid'],
    rows: [
      ['calls', call_fiat_paid, by_side?.call_at_ask ?? null, by_side?.call_at_bid ?? null],
      ['puts', put_fiat_paid, by_side?.put_at_ask ?? null, by_side?.put_at_bid ?? null],
    ],
  }),
  sessions: (answer: History) =>
    tableOf(
      {
        at: (i) => answer.as_of[i]!,
        spot: (i) => answer.spot[i]!,
        gex_flip: (i) => (answer.flip_resolved[i] ? answer.gex_flip[i]! : null),
        call_wall: (i) => answer.call_wall[i]!,
        put_wall: (i) => answer.put_wall[i]!,
      },
      indices(answer.day)
        .filter((i) => answer.day[i] !== answer.day[i + 1])
        .slice(-20)
        .reverse(),
    ),
  history: (answer: History) =>
    tableOf(
      {
        at: (i) => answer.as_of[i]!.replace('.000Z', 'Z'),
        spot: (i) => answer.spot[i]!,
        gex_flip: (i) => (answer.flip_resolved[i] ? answer.gex_flip[i]! : null),
        call_wall: (i) => answer.call_wall[i]!,
        put_wall: (i) => answer.put_wall[i]!,
        max_pain: (i) => answer.max_pain[i]!,
        net_gex: (i) => answer.net_gex[i]!,
        gross_gex: (i) => answer.gross_gex[i]!,
        net_dex: (i) => answer.net_dex[i]!,
        net_vex: (i) => answer.net_vex[i]!,
        net_cex: (i) => answer.net_cex[i]!,
        atm_iv_30d: (i) => answer.atm_iv_30d[i]!,
      },
      // The newest comes first.
      indices(answer.as_of).reverse(),
    ),
  record: (answer: RecordAnswer) => ({
    columns: ['level', 'outcome', 'days', 'count', 'pct', 'low_pct', 'high_pct', 'control_pct', 'verdict'],
    rows: (['call_wall', 'put_wall', 'band', 'flip'] as const).flatMap((level) =>
      (['held', 'touched', 'crossed'] as const).map((outcome) => {
        const { n, verdict, [outcome]: rate } = answer[level];
        const { count, pct, low_pct, high_pct, control_pct } = rate;
        return [level, outcome, n, count, pct, low_pct, high_pct, control_pct, outcome === 'held' ? verdict : null];
      }),
    ),
  }),
  compare: (answer: DayChanges) =>
    liveOf(answer, [
      ...['spot', 'change_pct', 'regime', 'net_gex', 'flip_pct', 'put_wall', 'call_wall', 'iv_rank', 'move_pct'],
      'age_s',
    ]),
  universe: (answer: DayChanges) =>
    liveOf(answer, [
      ...['theme', 'spot', 'change_pct', 'flip', 'flip_pct', 'call_wall', 'put_wall', 'net_gex', 'regime'],
      ...['sign_margin_pct', 'iv_rank', 'age_s'],
    ]),
  density: ({ density_curve }: Radar) => listsOf(density_curve),
  whipsaw: ({ whipsaw_components: { flip_proximity, regime, realised_over_implied, expiring_gamma } }: Radar) => ({
    columns: ['part', 'value', 'why'],
    rows: [flip_proximity, regime, realised_over_implied, expiring_gamma].map((value) => [undefined, value, undefined]),
  }),
  concentration: (answer: Radar) => listsOf(answer.largest_gamma_strikes!, ['strike', 'share_pct']),
  smile({ expiries: { tte }, smiles }: Surface) {
    // The view opens with the settlement nearest to 30 days.
    const days = tte.map((each) => Math.abs(365 * each - 30));
    const shown = days.indexOf(Math.min(...days));
    return listsOf(Object.fromEntries(Object.entries(smiles!).map(([name, column]) => [name, column[shown]])));
  },
  'surface-term': ({ expiries }: Surface) => listsOf(expiries),
  maturities: ({ maturities }: Surface) => listsOf(maturities),
  events: ({ events }: Surface) => listsOf(events),
  'feed-simulated': null,
};

/** The panels with a menu of each view, on a page that is wide enough for all of them. */
export const PANELS: readonly (readonly [address: string, panels: readonly string[]])[] = [
  ['ticker', ['ladder', 'sessions', 'profile', 'expiry-shares']],
  ['ticker?_with=QQQ', ['ladder', 'sessions', 'combined', 'expiry-shares']],
  ['expiries', ['matrix', 'term', 'expiries']],
  ['strikes', ['strikes', 'nodes']],
  ['flow', ['flow', 'tape', 'large-prints']],
  ['history', ['history', 'record']],
  ['compare?_with=SPY,QQQ', ['compare', 'universe']],
  ['odds', ['density', 'whipsaw', 'concentration']],
  ['surface', ['smile', 'surface-term', 'maturities', 'events']],
  ['house', ['feed-simulated']],
];
