import type { Radar } from '../../data/page-answers.ts';
import { amount, plain, price, volatility } from '../../page-format.ts';

/**
 * Returns the components of the whipsaw index: name, value from 0 to 100 or null if data are missing, and a text that states the figures
 * behind the value.
 */
export function whipsawParts(radar: Radar) {
  const { whipsaw_components: part, whipsaw_inputs: input, realised_volatility: realised, implied_volatility } = radar;
  const moves = input.flip_distance === null ? null : input.flip_distance / input.daily_move;
  return [
    {
      name: 'Nearness of the flip',
      value: part.flip_proximity,
      why:
        moves === null
          ? 'net gamma changes sign nowhere within half of spot'
          : `the flip is ${price(input.flip_distance)} away, ${plain(moves, 2)} daily moves of ${price(input.daily_move)}`,
    },
    {
      name: 'Short gamma (50 is neutral)',
      value: part.regime,
      why: `net ${amount(1e6 * input.net_gex_mil)} of ${amount(1e6 * input.gross_gex_mil)} gross, $ per 1 % move`,
    },
    {
      name: 'Realised over implied',
      value: part.realised_over_implied,
      why:
        realised === null
          ? 'too few closes are known for 20 daily returns'
          : `realised ${volatility(realised)} over 20 days, implied ${volatility(implied_volatility)}`,
    },
    {
      name: 'Expiring gamma',
      value: part.expiring_gamma,
      why: `${amount(1e6 * input.expiring_gex_mil)} of it settles within a day`,
    },
  ];
}
