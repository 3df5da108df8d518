import { Type } from '@sinclair/typebox';
import { defineOperation } from './engine/operation.ts';
import { integerField, objectOf } from './engine/schemas.ts';

export const targetUniverse = defineOperation({
  name: 'get_target_universe',
  title: 'Target universe',
  page: 'compare',
  description: 'The tickers of the universe, by theme.',
  example: {},
  input: objectOf({}),
  full: objectOf({
    status: Type.Literal('success', { description: 'Always success.' }),
    total_tracked: integerField('Number of tickers in the universe.'),
    macro_themes: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Tickers by theme.' }),
  }),
  rest: { method: 'GET', path: '/api/v1/universe', isContract: true },
  run: (_, { universe }) => ({
    result: {
      status: 'success' as const,
      total_tracked: universe.tickers.size,
      macro_themes: Object.fromEntries(
        Object.entries(universe.themes).map(([theme, tickers]) => [theme, [...tickers]]),
      ),
    },
  }),
});
