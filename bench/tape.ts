import { closeSync, openSync, writeSync } from 'node:fs';
import { generator } from '../src/bench/workloads.ts';

/**
 * Writes an artificial tape of one session, with the 28 columns that commercial tapes have. No two rows are equal. Each call with the same
 * seed writes the same rows, and calls with other seeds write other rows.
 */
export function writeTape(path: string, rows: number, seed = 7): void {
  const random = generator(seed);
  const file = openSync(path, 'w');
  try {
    let text = `${COLUMNS}\n`;
    for (let row = 0; row < rows; row++) {
      text += `${rowOf(Math.floor((row * SESSION_MICROS) / rows), random)}\n`;
      if (text.length < PIECE) continue;
      writeSync(file, text);
      text = '';
    }
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

const COLUMNS =
  'executed_at,underlying_symbol,option_chain_id,side,strike,option_type,expiry,underlying_price,nbbo_bid,nbbo_ask,' +
  'ewma_nbbo_bid,ewma_nbbo_ask,price,size,premium,volume,open_interest,implied_volatility,delta,theta,gamma,vega,rho,theo,' +
  'exchange,report_flags,canceled,upstream_condition_detail';
const PIECE = 1_000_000;
const OPEN_MS = Date.UTC(2026, 7, 17, 13, 30);
const SESSION_MICROS = 6.5 * 3600 * 1e6;

function rowOf(micros: number, random: () => number): string {
  const whole = new Date(OPEN_MS + Math.floor(micros / 1000)).toISOString().slice(0, 19).replace('T', ' ');
  const time = `${whole}.${String(micros % 1e6).padStart(6, '0')}+00`;
  const pick = (words: readonly string[]) => words[Math.floor(words.length * random())]!;
  const strike = 4800 + 5 * Math.floor(80 * random());
  const day = 18 + Math.floor(10 * random());
  const isCall = random() < 0.5;
  const bid = 1 + 30 * random();
  const greek = () => random().toFixed(12);
  const contract = ['SPXW', `SPXW2608${day}${isCall ? 'C' : 'P'}0${strike}000`, pick(['ask', 'bid', 'mid', 'no_side'])];
  const terms = [strike, isCall ? 'call' : 'put', `2026-08-${day}`, (5000 + 10 * random()).toFixed(2)];
  const quote = [
    bid.toFixed(2),
    (bid + 0.3).toFixed(2),
    bid.toFixed(6),
    (bid + 0.3).toFixed(6),
    (bid + 0.1).toFixed(2),
  ];
  const size = 1 + Math.floor(50 * random());
  const figures = [
    size,
    (100 * size * bid).toFixed(2),
    1000,
    500,
    greek(),
    greek(),
    `-${greek()}`,
    greek(),
    greek(),
    greek(),
  ];
  const how = [bid.toFixed(10), pick(['XCBO', 'XISX', 'ARCO', 'XPHO']), random() < 0.8 ? '{}' : '{sweep}', 'f'];
  return [time, ...contract, ...terms, ...quote, ...figures, ...how, pick(['auto', 'slan', 'mlet', 'isoi'])].join(',');
}
