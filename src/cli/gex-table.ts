import type { GexAnalysis } from './gex-analysis.ts';

/**
 * Returns the rows about flow: the share of open interest for which the prints give customers' positions and, without `--sign flow`, the
 * levels by flow.
 */
function flowRows(
  { by_flow: flow, options }: GexAnalysis['report'],
  price: (value: number) => string,
): [string, string][] {
  if (!flow) return [];
  const signed = `covers ${flow.signed_share_pct.toFixed(1)} % of open interest, leaves out gross GEX of ${price(flow.unsigned_gex_mil)} million per 1 %`;
  if (options.sign === 'flow') return [['by flow', signed]];
  const flip = flow.flip_resolved ? price(flow.gex_flip) : 'unresolved';
  return [
    [
      'by flow',
      `${price(flow.net_gex_mil)} million per 1 %, sign margin ${flow.sign_margin_pct.toFixed(1)} %, flip ${flip}`,
    ],
    ['', `walls ${price(flow.call_wall)} and ${price(flow.put_wall)}; ${signed}`],
  ];
}

/** Formats the levels as a table. */
export function gexTable(report: GexAnalysis['report']): string {
  const price = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
  const used = report.contracts;
  const rows: [string, string][] = [
    ['spot', price(report.spot_price)],
    ['call wall', price(report.call_wall)],
    ['gamma flip', `${price(report.gex_flip)}${report.flip_resolved ? '' : '  (unresolved: nearest to zero net GEX)'}`],
    ['put wall', price(report.put_wall)],
    ['max pain', `${price(report.max_pain)}  (${report.expiry}, by ${report.expiry_chosen_by.replace('_', ' ')})`],
    ['net GEX', `${price(report.net_gex_mil)} million per 1 %  (${report.regime.replace('_', ' ')})`],
    ['sign margin', `${report.sign_margin_pct.toFixed(1)} % of gross gamma`],
    ['gross GEX', `${price(report.gross_gex_mil)} million per 1 %`],
    ...flowRows(report, price),
    [
      'contracts',
      `${used.used} used of ${used.contracts}; IV ${used.iv.taken} taken, ${used.iv.solved} solved, ${used.iv.interpolated + used.iv.extended} interpolated`,
    ],
  ];
  const head = `${report.ticker}  ${report.as_of}  ${report.source}${report.simulated ? '  SIMULATED' : ''}`;
  return `${head}\n${rows.map(([name, value]) => `  ${name.padEnd(11)} ${value}`).join('\n')}\n`;
}
