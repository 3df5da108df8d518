import { expect, test } from 'bun:test';
import { TOOLS } from '../../src/operations/registry.ts';
import { startServed } from '../support/service.ts';
import { connectNew, keyOf } from './connect.ts';

/** The tools of the API contract, in its order. */
const CONTRACT = [
  'compute_options_greeks',
  'get_live_gex_nodes',
  'get_whale_prints',
  'calculate_merton_probability',
  'calculate_kelly_sizing',
  'run_strategic_omni_radar',
  'evaluate_market_hamiltonian',
  'detect_lethal_nodes',
  'evaluate_etf_contagion',
];
const FURTHER = ['get_levels_history', 'get_hedging_profile', 'screen_tickers', 'get_option_quotes'];

test('the tools of the contract come first, then the four others', () => {
  expect(TOOLS.map(({ name }) => name)).toEqual([...CONTRACT, ...FURTHER]);
});

test('--tools contract offers the nine tools alone, with instructions and prompts that name no other', async () => {
  const server = await startServed({ tools: 'contract' });
  const client = await connectNew('auto', server.url, keyOf(server.service));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(CONTRACT);
  expect((await client.listPrompts()).prompts).toEqual([]);
  for (const name of [...FURTHER, 'read_resource']) {
    const refusal = await client.callTool({ name, arguments: {} }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: -32602, message: `Tool '${name}' is not registered` });
  }
  await client.close();
  await server.close();
});
