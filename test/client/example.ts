import { createClient, ProblemError } from '../../src/client/client.ts';

const client = createClient({ baseUrl: process.env.ZOMMA_URL!, apiKey: process.env.ZOMMA_KEY! });

const { spot_price, gex_flip } = await client.call('get_live_gex_nodes', { ticker: 'SPY' });
console.log(`SPY is ${spot_price > gex_flip ? 'above' : 'below'} its flip`);

const { contracts } = await client.callExtended('get_live_gex_nodes', { ticker: 'SPY' });
console.log(`${contracts.used} contracts`);

try {
  await client.call('get_live_gex_nodes', { ticker: 'NOWHERE' });
} catch (error) {
  if (!(error instanceof ProblemError)) throw error;
  console.log(`${error.status} ${error.code}`);
}
