import { createTradierFeed } from '../../../src/feeds/tradier/tradier-feed.ts';
import { CREDENTIAL, describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'tradier',
  create: (options) => createTradierFeed({ ...options, token: CREDENTIAL }),
  isChainPath: (path) => path.startsWith('/v1/markets/options/chains'),
  optionsOf: (answer) => answer.options.option,
  rename: ({ options }) => ({ contracts: options }),
  unname: (option) => delete option.root_symbol,
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'], iv: ['greeks', 'mid_iv'] },
});
