import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { withFolder } from '../../support/process.ts';
import { cboeAnswer } from '../../support/provider-answers.ts';
import { CHAINS, polled } from '../provider-market.ts';
import { DELAYED_QUOTES, describeShape } from '../shape-suite.ts';

/** The cases of the exchange's quotes over the network apply to the same quotes in a folder. */
describeShape({ name: 'files', ...DELAYED_QUOTES }, (change) =>
  withFolder((folder) => {
    writeFileSync(join(folder, 'CHPT.json'), JSON.stringify(change(cboeAnswer(CHAINS.get('CHPT')!))));
    return polled(createFilesFeed(folder, { pause: async () => {}, checkpoints: () => new Map() }));
  }),
);
