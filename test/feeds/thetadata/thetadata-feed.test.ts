import { createThetadataFeed } from '../../../src/feeds/thetadata/thetadata-feed.ts';
import { describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'thetadata',
  create: (options) => createThetadataFeed(options),
  isChainPath: (path) => /^\/v3\/option\/snapshot\/(?:quote|open_interest)/.test(path),
  answersOfChain: 2,
  absent: ['iv', 'delta', 'gamma'],
  optionsOf: (answer) => answer,
  rename: (answer) => answer.map(({ strike, ...row }: { strike: string }) => ({ ...row, price: strike })),
  unname: (option) => {
    option.right = '';
  },
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'] },
});
