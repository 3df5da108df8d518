import type { Store } from '../../src/store/sqlite.ts';

/** Returns a store some of whose methods are replaced, also within the transactions of its ledger. */
export function overriding(store: Store, methods: Partial<Store>): Store {
  return { ...store, ...methods, write: (work) => store.write((tx) => work({ ...tx, ...methods })) };
}
