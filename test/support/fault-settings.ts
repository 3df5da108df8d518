/**
 * How long the generators of hostile members and files run within the suite, and from which seed. By hand they can run longer and from any
 * seed.
 */
export const FAULT_SECONDS = Number(process.env.ZOMMA_FAULT_SECONDS ?? 6);
export const FAULT_SEED = Number(process.env.ZOMMA_FAULT_SEED ?? 4);
