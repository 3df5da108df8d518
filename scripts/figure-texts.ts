import type { FigureTexts } from '../web/data/figure-texts.ts';

const NODES = 'gex-nodes-get_live_gex_nodes-get-apiv1nodesgexticker';
const VIEWS = 'other-views-of-the-levels';
const GEX = 'sign · Γ · OI · multiplier · S² · 0.01';

const figures: FigureTexts['figures'] = {
  spot_price: {
    unit: 'dollars',
    sentence: 'Spot is the price of the underlying in the snapshot.',
    formula: '',
    section: 'conventions',
    item: 'Spot',
  },
  call_wall: {
    unit: 'dollars',
    sentence:
      'The call wall is the strike at or above spot with the largest sum of gamma times open interest over its calls.',
    formula: 'the K ≥ S with the largest Σ Γ · OI over calls',
    section: NODES,
    item: 'call_wall',
  },
  gex_flip: {
    unit: 'dollars',
    sentence: 'The gamma flip is the spot at which net gamma changes sign.',
    formula: `Σ ${GEX.replace('Γ', 'Γ(S)')}\u00a0=\u00a00`,
    section: NODES,
    item: 'gex_flip',
  },
  put_wall: {
    unit: 'dollars',
    sentence:
      'The put wall is the strike at or below spot with the largest sum of gamma times open interest over its puts.',
    formula: 'the K ≤ S with the largest Σ Γ · OI over puts',
    section: NODES,
    item: 'call_wall',
  },
  max_pain: {
    unit: 'dollars',
    sentence:
      'Max pain is the strike at which the options of the dominant series pay out least in total, if each counts with its open interest and the price settles at the strike.',
    formula: 'the K with the least Σ OI · max(0, K − Kᵢ) over calls + Σ OI · max(0, Kᵢ − K) over puts',
    section: NODES,
    item: 'max_pain',
  },
  net_gex: {
    unit: 'dollars per 1 % move',
    sentence: 'Net GEX is the sum of GEX over the contracts of all live expiries.',
    formula: `Σ ${GEX}`,
    section: NODES,
    item: 'GEX (gamma exposure)',
  },
  hedging: {
    unit: 'shares per 1 % move',
    sentence:
      'Hedging is the number of shares that dealers trade per 1 % move, which is net GEX divided by spot. It is positive if they trade against the move, and negative if they trade with it.',
    formula: `Σ ${GEX} / S`,
    section: VIEWS,
    item: 'hedging',
  },
  strike: {
    unit: 'dollars per 1 % move',
    sentence:
      'Net GEX of a strike is one of the sums of GEX, DEX, VEX and CEX at each strike over the selected series.',
    formula: `Σ ${GEX} over the contracts at the strike`,
    section: VIEWS,
    item: 'By strike (',
  },
};

/** The sentences of the Explain panel, which the page loads as a file. */
export const FIGURE_TEXTS: FigureTexts = {
  figures,
  remarks: {
    'weight=volume': 'OI is here the volume of the day, because the page weights contracts by volume.',
    'sign=flow':
      "Dealers hold here the opposite of customers' net positions. The walls are the strikes at which dealers have the most gamma, long or short.",
    'sign=short_both': 'Dealers are assumed to be short of calls and of puts, so all gamma has one sign.',
    smile_dynamics: 'The flip is that of this assumption on volatilities at other spots: ….',
    'gamma=feed': 'Γ is here the gamma of the feed, except in the flip.',
    'iv=feed': 'The volatility of the feed comes first if its price lies within the quote.',
    'iv=own': 'Each contract has its own volatility in the feed.',
    'forward=flat': 'Forwards are flat: spot, rate and dividend in place of put-call parity.',
    expiries: 'Of the live expiries, only these count: ',
  },
  notes: {
    symbols: 'Γ gamma, OI open interest, S spot, K strike',
    given: 'Firm: the source gives it. No choice of the analysis changes it.',
    no_record: 'A record is counted for the call wall, the put wall and the gamma flip.',
    too_few_days: 'too few to say. Each trading day with levels from before its open and a close adds one.',
    held: 'Held: the close was not beyond the level. The control is a level at the same distance from spot. What the price did between two snapshots is not known. Spots seen a day: ',
    mcp_options:
      'There is no such form with options of the analysis. MCP and the commands of its tools have all expiries, with the default options.',
    mcp_none: 'MCP has no form of this call.',
  },
};
