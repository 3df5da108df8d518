/** Whether tests run at full size (`bun run test:full`). The everyday run has less of the slowest ones. */
export const IS_FULL = process.env.ZOMMA_TESTS_FULL === 'true';

/** How long the generators of hostile members and files run, and from which seed. By hand they can run longer and from any seed. */
export const FAULT_SECONDS = Number(process.env.ZOMMA_FAULT_SECONDS ?? (IS_FULL ? 30 : 5));
export const FAULT_SEED = Number(process.env.ZOMMA_FAULT_SEED ?? 4);
