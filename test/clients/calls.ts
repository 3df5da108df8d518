import { toolView } from '../../src/operations/perform.ts';
import { findTool } from '../../src/operations/registry.ts';
import { satisfies } from '../../src/operations/validate.ts';
import type { Connection } from './client.ts';

/** Calls every tool on the simulated market once. Rejects if an answer does not have the tool's form. */
export async function callEach(connection: Connection): Promise<void> {
  const ask = async (name: string, args: Record<string, unknown>) => {
    const answer = await connection.call(name, args);
    if (satisfies(toolView(findTool(name)!).output, answer)) return answer as Record<string, number | string>;
    throw new Error(`${name} answered ${JSON.stringify(answer)}`);
  };
  const ticker = 'SPY';
  const { spot_price: spot, put_wall, whale_expiry } = await ask('get_live_gex_nodes', { ticker });
  await ask('get_whale_prints', { ticker, target_expiry: whale_expiry });
  await ask('calculate_merton_probability', { ticker, spot_price: spot, ambush_strike: put_wall });
  await ask('run_strategic_omni_radar', { ticker });
  await ask('detect_lethal_nodes', { ticker });
  await ask('compute_options_greeks', { put_call: 'P', spot, strike: put_wall, tte: 0.1, iv: 0.3, rate: 0.04 });
  await ask('calculate_kelly_sizing', { win_prob: 0.6 });
  await ask('evaluate_market_hamiltonian', {
    ticker,
    ...{ whale_fiat_kinetic: 1, gex_potential_friction: -5, iv_crush_factor: 1 },
  });
  await ask('evaluate_etf_contagion', {
    single_name_ticker: 'NVDA',
    ...{ whale_fiat: 1, current_iv: 0.6, iv_ceiling: 0.5 },
  });
}

/** One call that needs no market, to check a connection. */
export async function callOne(connection: Connection): Promise<void> {
  await connection.call('calculate_kelly_sizing', { win_prob: 0.6 });
}
