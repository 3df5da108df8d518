import { Elysia, t } from 'elysia';
import { answerGreeks, GREEKS_PATH } from './greeks.ts';

/** A server with Elysia, as users of Elysia write it: with a typed body, without keys and limits. */
const app = new Elysia({ normalize: false })
  .post(GREEKS_PATH, ({ body }) => answerGreeks(body), {
    parse: 'json',
    body: t.Object(
      {
        put_call: t.Union([t.Literal('C'), t.Literal('P')]),
        spot: t.Number({ minimum: 1e-6, maximum: 1e9 }),
        strike: t.Number({ minimum: 1e-6, maximum: 1e9 }),
        tte: t.Number({ minimum: 1e-8, maximum: 100 }),
        iv: t.Number({ minimum: 1e-4, maximum: 100 }),
        rate: t.Number({ minimum: -1, maximum: 1, default: 0.04 }),
        dividend: t.Number({ minimum: -1, maximum: 1, default: 0 }),
      },
      { additionalProperties: false },
    ),
  })
  .listen({ hostname: '127.0.0.1', port: 0 });
console.log(`listening on http://127.0.0.1:${app.server!.port}`);
