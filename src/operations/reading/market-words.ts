import type { ForwardMethod } from '../../analytics/chain/prepared-chain.ts';
import type { RefusalReason } from '../../analytics/surface/quote-bands.ts';
import type { Series } from '../../market/chain.ts';
import { wordField } from '../engine/schemas.ts';
import { wordColumn } from '../engine/wrapped-schemas.ts';

// Fields and columns whose words several answers share.

const SETTLEMENTS = ['AM', 'PM'] as const satisfies readonly Series['settlement'][];
const OF_SETTLEMENT = 'AM (opening prices) or PM (close).';
export const settlement = wordField(SETTLEMENTS, OF_SETTLEMENT);
export const settlementColumn = (table?: string) => wordColumn(SETTLEMENTS, OF_SETTLEMENT, undefined, table);

const FORWARD_METHODS = ['regression', 'parity', 'delta', 'carry', 'flat'] as const satisfies readonly ForwardMethod[];
const OF_FORWARD = 'regression, parity, delta, carry or flat.';
export const forwardMethod = wordField(FORWARD_METHODS, OF_FORWARD, 'ForwardMethod');
export const forwardMethodColumn = wordColumn(FORWARD_METHODS, OF_FORWARD, 'ForwardMethod');

/** Why a series has no volatility smile. */
export const SMILE_REFUSALS = [
  'no_volatility',
  'too_few_strikes',
  'one_sided',
] as const satisfies readonly RefusalReason[];
