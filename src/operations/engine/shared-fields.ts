import { Type } from '@sinclair/typebox';
import { defaulted, number, oneOf } from './schemas.ts';

/** Bounds in dollars or decimals per year, wider than any traded option. The bounds keep answers finite, and reject percent and days. */
const PRICE_MIN = 1e-6;
const PRICE_MAX = 1e9;
/** Minimum time to expiry, years: a third of a second. */
const TTE_MIN = 1e-8;
const TTE_MAX = 100;
const IV_MIN = 1e-4;
const IV_MAX = 100;
/** Maximum of an amount, dollars, above any flow or exposure of an underlying. The bound keeps sums and products finite. */
const DOLLARS_MAX = 1e15;

export const priceField = (description: string) => number(description, { minimum: PRICE_MIN, maximum: PRICE_MAX });

export const dollarsField = (description: string) =>
  number(description, { minimum: -DOLLARS_MAX, maximum: DOLLARS_MAX });

export const putCall = oneOf(['C', 'P'], 'C for a call, P for a put.');

export const spot = priceField('Spot price of the underlying, dollars.');
export const strike = priceField('Strike price, dollars.');

/** The schema of an option's price. Unlike the price of an underlying, the price of an option may be 0. */
export const optionPrice = number('Price of the option, dollars.', { minimum: 0, maximum: PRICE_MAX });

export const tte = number('Years to expiry: days / 365.25.', { minimum: TTE_MIN, maximum: TTE_MAX });

export const iv = number('Implied volatility, decimal per year: 0.22 is 22 %.', { minimum: IV_MIN, maximum: IV_MAX });

/** The schemas of columns. At 0, the results are the limits of the formulas. */
export const tteFromZero = number('Years to expiry: days / 365.25; 0 at expiry.', { minimum: 0, maximum: TTE_MAX });
export const ivFromZero = number(iv.description!, { minimum: 0, maximum: IV_MAX });

export const rate = number('Risk-free rate, continuous, decimal per year: 0.04 is 4 %.', { minimum: -1, maximum: 1 });

export const dividendYield = number('Dividend yield, continuous, decimal per year.', { minimum: -1, maximum: 1 });
export const dividend = defaulted(dividendYield, 0);

/** Maximum length of a ticker or name, characters. */
export const TICKER_MAX = 40;

/** The schema of a ticker, or of the name of its company, fund or index. Any spelling is allowed, because the market finds the ticker. */
export const ticker = Type.String({ description: 'Symbol or name, e.g. BRK.B.', minLength: 1, maxLength: TICKER_MAX });
