/**
 * How much the slowest tests do, by ZOMMA_TESTS_SIZE: less in the everyday run, all in CI (`full`), and what takes an hour in a run by hand
 * (`long`: `bun run test:terminal` and `bun run test:cluster`).
 */
const SIZES = ['everyday', 'full', 'long'];
const SIZE = process.env.ZOMMA_TESTS_SIZE ?? 'everyday';
if (!SIZES.includes(SIZE)) throw new Error(`ZOMMA_TESTS_SIZE is ${SIZE}. It is one of ${SIZES.join(', ')}.`);

export const IS_LONG = SIZE === 'long';
export const IS_FULL = SIZE !== 'everyday';

/** How long the generators of hostile members and files run, and from which seed. By hand they can run longer and from any seed. */
export const FAULT_SECONDS = Number(process.env.ZOMMA_FAULT_SECONDS ?? (IS_FULL ? 30 : 5));
export const FAULT_SEED = Number(process.env.ZOMMA_FAULT_SEED ?? 4);
