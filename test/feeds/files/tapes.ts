import { type PrintsDelivery, readPrints } from '../../../src/feeds/files/prints-csv.ts';

export const NOW_MS = Date.parse('2026-08-20T00:00:00Z');

export const ROW = {
  ...{ executed_at: '2026-08-17 13:30:01.00714+00', underlying_symbol: 'SPXW' },
  ...{ option_chain_id: 'SPXW260821C05000000', side: 'ask', strike: '5000', option_type: 'call' },
  ...{ expiry: '2026-08-21', underlying_price: '5010.25', nbbo_bid: '24.9', nbbo_ask: '25.3', price: '25.3' },
  ...{ size: '40', premium: '101200', volume: '1200', open_interest: '900', implied_volatility: '0.14' },
  ...{ delta: '0.55', exchange: 'XCBO', report_flags: '{}', canceled: 'f', upstream_condition_detail: 'auto' },
};
export type Cells = Readonly<Record<string, string>>;

/** Returns a tape with rows that differ from `ROW` by these cells. The cells of the first row may add columns. */
export function tape(...changes: readonly Cells[]): string {
  const header = Object.keys({ ...ROW, ...changes[0] });
  const lines = changes.map((cells) => header.map((name) => cellOf({ ...ROW, ...cells }, name)).join(','));
  return `${[header.join(','), ...lines].join('\n')}\n`;
}

function cellOf(cells: Cells, name: string): string {
  const text = cells[name] ?? '';
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export async function* inPieces(text: string | Uint8Array, size = 1e9): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

export async function read(text: string | Uint8Array, pieceBytes?: number, nowMs = NOW_MS) {
  const batches: PrintsDelivery[] = [];
  for await (const batch of readPrints(inPieces(text, pieceBytes), nowMs)) batches.push(batch);
  const refused: Record<string, number> = {};
  for (const batch of batches) {
    for (const [why, count] of Object.entries(batch.refused ?? {})) refused[why] = (refused[why] ?? 0) + count;
  }
  return { prints: batches.flatMap(({ prints }) => [...prints]), refused, batches };
}

export const ids = async (text: string) => (await read(text)).prints.map(({ id }) => id);
