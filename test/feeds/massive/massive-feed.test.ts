import { createMassiveFeed } from '../../../src/feeds/massive/massive-feed.ts';
import { CREDENTIAL, describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'massive',
  create: (options) => createMassiveFeed({ ...options, key: CREDENTIAL }),
  isChainPath: (path) => path.startsWith('/v3/snapshot/options/'),
  optionsOf: (answer) => answer.results,
  rename: ({ results, ...answer }) => ({ ...answer, contracts: results }),
  unname: (option) => delete option.details.ticker,
  fields: {
    openInterest: ['open_interest'],
    bid: ['last_quote', 'bid'],
    ask: ['last_quote', 'ask'],
    iv: ['implied_volatility'],
  },
});
