import type { Operation } from '../operations/engine/operation.ts';

/** Returns the server's instructions for models, at most 2 kB: which tool answers which question, and the limits of the figures. */
export function instructionsFor(tools: readonly Operation[]): string {
  const map = tools.map(({ name, tool }) => `- ${tool!.question}: ${name}`);
  return `${BEFORE}\n${map.join('\n')}\n${AFTER}`;
}

const BEFORE = 'Zomma computes options-market analytics from the quotes of its operator. Which tool answers what:';

const AFTER = `Tables are resources. GEX by expiry: zomma://gex/{ticker}/expiries. With other ends: /flow (what customers bought and sold), /prints (single large trades), /surface, /quotes/{expiry}, /strikes/{expiry}, /interest/{expiry}?since=DATE (where open interest built), /history, /record (whether levels held).
Tickers may be names or old symbols: the answer says how they were read. Errors name similar tickers.
Read provenance in every answer, and repeat what matters: age, stale, simulated (no real market), source, notes.
Limits: dealers are assumed long calls and short puts. Open interest is from the evening before. Probabilities are those of option prices, not forecasts. No orders, alerts, news, fundamentals or dates of earnings.
Most tools take "at", a past moment. Methods of each figure: zomma://methods/{tool}. Tickers with data: zomma://universe.`;
