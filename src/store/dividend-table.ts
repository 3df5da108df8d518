import type { Database } from 'bun:sqlite';
import type { CashDividend } from '../market/cash-dividend.ts';
import type { DividendStore } from '../market/store.ts';

/** Creates the functions that read and write cash dividends. A dividend replaces the stored dividend with the same ticker and ex-date. */
export function dividendTable(db: Database): DividendStore {
  const upsert = db.prepare<null, [Omit<CashDividend, 'simulated'> & { simulated: number }]>(
    `INSERT INTO dividends (simulated, ticker, ex_date, amount, status) VALUES ($simulated, $ticker, $exDate, $amount, $status)
     ON CONFLICT DO UPDATE SET amount = $amount, status = $status`,
  );
  const select = db.prepare<Pick<CashDividend, 'exDate' | 'amount' | 'status'>, [number, string, string, string]>(
    `SELECT ex_date AS exDate, amount, status FROM dividends
     WHERE simulated = ? AND ticker = ? AND ex_date BETWEEN ? AND ? AND amount > 0 ORDER BY ex_date`,
  );
  const save = db.transaction((dividends: readonly CashDividend[]) => {
    for (const dividend of dividends) upsert.run({ ...dividend, simulated: Number(dividend.simulated) });
  });
  return {
    saveDividends: (dividends) => save.immediate(dividends),
    dividends: (ticker, fromDate, toDate, simulated) =>
      select.all(Number(simulated), ticker, fromDate, toDate).map((row) => ({ ticker, ...row, simulated })),
  };
}
