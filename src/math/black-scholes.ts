import { arenaColumn, type Column, kernels, mapColumns, mapRow } from './kernels.ts';

/** Options as columns of `count` rows; a number stands for a column of it. */
export interface OptionColumns {
  readonly count: number;
  /** +1 call, -1 put. */
  readonly callPut: Column;
  /** > 0. */
  readonly spot: Column;
  /** > 0. */
  readonly strike: Column;
  /** Years to expiry, >= 0. */
  readonly tte: Column;
  /** Volatility per square root of a year, >= 0 (0.2 = 20 %). */
  readonly iv: Column;
  /** Continuously compounded, per year. */
  readonly rate: Column;
  /** Continuous yield, per year. */
  readonly dividend: Column;
}

/** One column of `count` rows for the price and each Greek. */
export type GreekColumns = Readonly<Record<GreekName, Float64Array>>;

export type GreekName = keyof typeof COLUMNS;

/** Each Greek's column in the kernel's block. */
const COLUMNS = {
  price: 9,
  delta: 10,
  gamma: 14,
  vega: 15,
  theta: 11,
  rho: 12,
  vanna: 16,
  charm: 13,
  volga: 17,
} as const;

const GREEKS = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** Where the put of a pair has columns of its own. */
const PUT_COLUMNS: Readonly<Record<GreekName, number>> = {
  ...COLUMNS,
  price: 18,
  delta: 19,
  theta: 20,
  rho: 21,
  charm: 22,
};

/** Greeks that differ between call and put. */
const PUT_OWN = GREEKS.filter((name) => PUT_COLUMNS[name] !== COLUMNS[name]);

const OUTPUTS = GREEKS.map((name) => COLUMNS[name]);
const PAIR_OUTPUTS = [...OUTPUTS, ...PUT_OWN.map((name) => PUT_COLUMNS[name])];
/** Where among these the put's are. */
const PUT_OUTPUTS = GREEKS.map((name) => PAIR_OUTPUTS.indexOf(PUT_COLUMNS[name]));

const generic = (count: number, block: number) => kernels.blackScholes(count, block, false);
const discounted = (count: number, block: number) => kernels.blackScholes(count, block, true);
const genericPair = (count: number, block: number) => kernels.blackScholesPair(count, block, false);
const discountedPair = (count: number, block: number) => kernels.blackScholesPair(count, block, true);

/** Discount factors, where the caller has them, e.g. one an expiry: saves the kernel two exponentials a row. */
export interface Discounts {
  /** e^(-rate * tte). */
  readonly discount: Column;
  /** e^(-dividend * tte). */
  readonly dividendDiscount: Column;
}

/**
 * Black-Scholes-Merton price and Greeks as raw partial derivatives: per 1.00 of spot, volatility and rate, per year; theta and
 * charm are d/dt = -d/dT. Where T or iv is 0, the intrinsic value's. Accuracy: within twice what one rounding of each input can
 * do, for every output (24,000 rows, to the ends of what is accepted). With `into` the answer is written there: new columns cost a third more.
 * @throws RangeError where a column's length is not `count`.
 */
export function greeks(options: OptionColumns, discounts?: Discounts, into?: GreekColumns): GreekColumns {
  const outputs = mapColumns(
    discounts ? discounted : generic,
    options.count,
    inputs(options, options.callPut, discounts),
    OUTPUTS,
    into && GREEKS.map((name) => into[name]),
  );
  return named((_, at) => outputs[at]!);
}

/**
 * One column of what `greeks` gives, to the bit: the nine it copies out cost a third of the time where one is wanted.
 * @throws RangeError where a column's length is not `count`.
 */
export function oneGreek(name: GreekName, options: OptionColumns): Float64Array {
  return mapColumns(generic, options.count, inputs(options, options.callPut), [COLUMNS[name]])[0]!;
}

/**
 * Call and put of each row, to the bit what `greeks` gives for each, in little more time than one of them takes. Gamma, vega,
 * vanna and volga are the same columns in both. `into`: an earlier answer to be written over.
 * @throws RangeError where a column's length is not `count`.
 */
export function callPutGreeks(
  options: Omit<OptionColumns, 'callPut'>,
  discounts?: Discounts,
  into?: CallPutGreeks,
): CallPutGreeks {
  const outputs = mapColumns(
    discounts ? discountedPair : genericPair,
    options.count,
    inputs(options, 0, discounts),
    PAIR_OUTPUTS,
    into && [...GREEKS.map((name) => into.call[name]), ...PUT_OWN.map((name) => into.put[name])],
  );
  return { call: named((_, at) => outputs[at]!), put: named((_, at) => outputs[PUT_OUTPUTS[at]!]!) };
}

export interface CallPutGreeks {
  readonly call: GreekColumns;
  readonly put: GreekColumns;
}

/** In the order of the kernel's block. */
function inputs(
  options: Omit<OptionColumns, 'callPut'>,
  callPut: Column,
  discounts?: Discounts,
): Record<string, Column> {
  const { spot, strike, tte, iv, rate, dividend } = options;
  if (!discounts) return { callPut, spot, strike, tte, iv, rate, dividend };
  const { discount, dividendDiscount } = discounts;
  return { callPut, spot, strike, tte, iv, rate, dividend, discount, dividendDiscount };
}

/** One option, its fields as in OptionColumns. */
export type Option = Readonly<Record<Exclude<keyof OptionColumns, 'count'>, number>>;

/** The same kernel for a single option. */
export function greeksOf(option: Option): Readonly<Record<GreekName, number>> {
  const { callPut, spot, strike, tte, iv, rate, dividend } = option;
  mapRow(generic, [callPut, spot, strike, tte, iv, rate, dividend]);
  return {
    price: ROW.price[0]!,
    delta: ROW.delta[0]!,
    gamma: ROW.gamma[0]!,
    vega: ROW.vega[0]!,
    theta: ROW.theta[0]!,
    rho: ROW.rho[0]!,
    vanna: ROW.vanna[0]!,
    charm: ROW.charm[0]!,
    volga: ROW.volga[0]!,
  };
}

/** The arena's columns that the kernel writes. */
const ROW = named((name) => arenaColumn(COLUMNS[name]));

const DAY_YEARS = 1 / 365;
const POINT = 0.01;

/** Raw unit to market unit, as brokers and exchanges quote. */
export const MARKET_UNITS: Readonly<Record<GreekName, number>> = {
  price: 1,
  delta: 1,
  gamma: 1,
  vega: POINT,
  theta: DAY_YEARS,
  rho: POINT,
  vanna: POINT,
  charm: DAY_YEARS,
  volga: POINT * POINT,
};

/**
 * Raw Greeks in market units: vega per volatility point (0.01), theta per calendar day (1/365), rho per 1 % of
 * rate, vanna = change of delta per volatility point, charm = change of delta per calendar day as time passes, volga = change
 * of market vega per volatility point (1e-4 of raw). Price, delta and gamma keep theirs (1.00), and are the same columns. With `into`
 * equal to `raw` the columns are written over.
 */
export function inMarketUnits(raw: GreekColumns, into?: GreekColumns): GreekColumns {
  return named((name) => {
    const unit = MARKET_UNITS[name];
    const column = raw[name];
    if (unit === 1) return column;
    const scaled = into?.[name] ?? new Float64Array(column.length);
    for (let i = 0; i < column.length; i++) scaled[i] = column[i]! * unit;
    return scaled;
  });
}

function named<T>(of: (name: GreekName, at: number) => T): Record<GreekName, T> {
  const result = {} as Record<GreekName, T>;
  for (let at = 0; at < GREEKS.length; at++) result[GREEKS[at]!] = of(GREEKS[at]!, at);
  return result;
}
