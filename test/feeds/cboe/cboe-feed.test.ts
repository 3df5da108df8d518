import { createCboeFeed } from '../../../src/feeds/cboe/cboe-feed.ts';
import { describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'cboe',
  create: createCboeFeed,
  isChainPath: () => true,
  optionsOf: (answer) => answer.data.options,
  rename: ({ data: { options, ...data }, ...answer }) => ({ ...answer, data: { ...data, contracts: options } }),
  unname: (option) => delete option.option,
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'], iv: ['iv'] },
});
