import { cellNumber } from '../numbers.ts';
import { unreadable } from '../rejections.ts';

/** Number of strikes and volatilities from which the scale of a column is decided. */
const SCALE_SAMPLES = 5_000;

/** Returns a dollar amount, which may have a dollar sign, or NaN or infinity like `cellNumber`. */
export function cellDollars(text: string): number {
  return cellNumber(text.replace('$', ''));
}

/** Of a cheaper underlying, strikes may be hundreds of times as large as the spot. */
const SPOT_MIN = 1;

/** Samples of a chain's numbers, from which the scales of its strikes and volatilities follow. */
export class ScaleSamples {
  readonly #strikes: number[] = [];
  readonly #spots: number[] = [];
  readonly #bids: number[] = [];
  readonly #ivs: number[] = [];

  add(strike: number, bid: number, spot: number, iv: string): void {
    if (strike > 0 && Number.isFinite(strike) && this.#strikes.length < SCALE_SAMPLES) {
      this.#strikes.push(strike);
      this.#bids.push(Number.isFinite(bid) ? bid : 0);
    }
    if (spot > 0 && Number.isFinite(spot) && this.#spots.length < SCALE_SAMPLES) this.#spots.push(spot);
    if (this.#ivs.length >= SCALE_SAMPLES || iv.endsWith('%')) return;
    const value = cellNumber(iv);
    if (value > 0 && Number.isFinite(value)) this.#ivs.push(value);
  }

  /** Volatilities whose median is above 300 % are percentages: no chain has such a median. */
  ivScale(): number {
    return median(this.#ivs) > 3 ? 0.01 : 1;
  }

  /**
   * Strikes some thousand times as large as spot are thousandths. Without a spot, strikes that are far from what the bids of their deepest
   * options allow are refused: the bid of an option deep in the money is about its distance from spot.
   */
  strikeScale(column: string): number {
    const [strike, spot] = [median(this.#strikes), median(this.#spots)];
    if (spot > 0) return spot >= SPOT_MIN && strike / spot > 200 && strike / spot < 5_000 ? 0.001 : 1;
    if (this.#strikes.length < 20) return 1;
    const range = this.#strikes.reduce((most, each) => Math.max(most, each), 0) - Math.min(...this.#strikes);
    const deepest = this.#bids.reduce((most, each) => Math.max(most, each), 0);
    const areThousandths =
      range > 0 && deepest / range < 0.02 && this.#strikes.every((each) => each >= 500 && each % 10 === 0);
    if (!areThousandths) return 1;
    throw unreadable(
      `the strikes in column ${column} may be dollars or thousandths: no option is worth what its strike implies. State the factor in a mapping: strike = 0.001 or 1`,
    );
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
