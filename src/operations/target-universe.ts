import { Type } from '@sinclair/typebox';
import { defineOperation } from './engine/operation.ts';

export const targetUniverse = defineOperation({
  name: 'get_target_universe',
  title: 'Target universe',
  page: 'scan',
  description: 'The tickers of the universe, by theme.',
  example: {},
  input: Type.Object({}, { additionalProperties: false }),
  full: Type.Object(
    {
      status: Type.Literal('success', { description: 'Always success.' }),
      total_tracked: Type.Integer({ description: 'Number of tickers in the universe.' }),
      macro_themes: Type.Record(Type.String(), Type.Array(Type.String()), { description: 'Tickers by theme.' }),
    },
    { additionalProperties: false },
  ),
  rest: { method: 'GET', path: '/api/v1/universe', ignoresUnknown: true },
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
