import { answerGreeks, GREEKS_PATH } from './greeks.ts';

/**
 * A server with Hono on Bun, as users of Hono write it, without validation. The name of the package is in a variable, so that TypeScript
 * does not report an error if the package is not installed.
 */
const name: string = 'hono';
const { Hono } = await import(name);
const app = new Hono();
// biome-ignore lint/suspicious/noExplicitAny: its types are missing if it is not installed
app.post(GREEKS_PATH, async (context: any) => context.json(answerGreeks(await context.req.json())));
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: app.fetch });
console.log(`listening on http://127.0.0.1:${server.port}`);
