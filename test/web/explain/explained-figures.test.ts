import { describe, expect, test } from 'bun:test';
import { FIGURE_TEXTS } from '../../../scripts/figure-texts.ts';
import { methodsPage } from '../../../scripts/methods-page.ts';
import type { ExplainedFigure } from '../../../web/data/figure-texts.ts';
import type { Strikes } from '../../../web/data/page-answers.ts';
import {
  dailyDeviation,
  figureOfId,
  figureValue,
  remarksOn,
  strikeRow,
} from '../../../web/explain/explained-figures.ts';
import type { MarkdownBlock, MarkdownSpan } from '../../../web/markdown/markdown-page.ts';
import { plainText, sectionOf } from '../../../web/markdown/markdown-page.ts';

const methods = methodsPage();

/** Returns the text of blocks, a line for each paragraph. */
function textOf(blocks: readonly MarkdownBlock[]): string[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'list') return block.items.flatMap(textOf);
    if (block.kind === 'formula') return [inWords(block.tex)];
    return 'spans' in block ? [plainText(block.spans as readonly MarkdownSpan[])] : [];
  });
}

/** Returns a product in TeX as the page writes it. */
function inWords(tex: string): string {
  const names = tex.replace(/\\mathrm\{(\w+)\}/g, '$1').replaceAll('\\Gamma', 'Γ');
  return names.replaceAll('\\cdot', '·').replaceAll('^2', '²').trim();
}

describe.each(Object.entries(FIGURE_TEXTS.figures))('%s', (_figure, { sentence, formula, section, item }) => {
  const paragraphs = textOf(sectionOf(methods, section));

  test('is explained in the words of the methods', () => {
    const sentences = sentence.split(/(?<=\.) /);
    // The page names the figure as a reader does, and the documentation as the API does.
    const words = sentences.map((each) => each.replace(/^.*? is (?:one of )?/, '').replace(/\.$/, ''));
    expect(words.filter((each) => !paragraphs.some((paragraph) => paragraph.includes(each)))).toEqual([]);
  });

  test('has an item in its section', () => {
    expect(paragraphs.filter((paragraph) => paragraph.startsWith(item))).toHaveLength(1);
  });

  test('has the formula of the methods for GEX', () => {
    const gex = 'sign · Γ · OI · multiplier · S² · 0.01';
    if (formula.includes('multiplier')) {
      expect(formula.replace('Γ(S)', 'Γ')).toContain(gex);
      expect(textOf(methods).some((paragraph) => paragraph.includes(gex))).toBe(true);
    } else expect(formula).not.toContain('S²');
  });
});

test.each<[id: string, figure: ExplainedFigure | undefined, strike: number | null]>([
  ['gex_flip', 'gex_flip', null],
  ['hedging', 'hedging', null],
  ['strike.650', 'strike', 650],
  ['strike.637_5', 'strike', 637.5],
  ['strike', undefined, null],
  ['strike.', undefined, null],
  ['strike.1_2_3', undefined, null],
  ['toString', undefined, null],
  ['iv_rank', undefined, null],
])('the id %s names a figure', (id, figure, strike) => {
  expect(figureOfId(id)).toEqual(figure && { figure, strike });
});

test('remarks name the options that are not the defaults', () => {
  expect(remarksOn(FIGURE_TEXTS.remarks, {})).toEqual([]);
  expect(remarksOn(FIGURE_TEXTS.remarks, { weight: 'volume', expiries: '0dte' })).toEqual([
    expect.stringContaining('volume of the day'),
    'Of the live expiries, only these count: 0DTE.',
  ]);
  expect(remarksOn(FIGURE_TEXTS.remarks, { ticker: 'SPY', expiries: 'all', smile_dynamics: 'ssr=2' })).toEqual([
    expect.stringContaining('SSR 2'),
  ]);
  expect(
    remarksOn(FIGURE_TEXTS.remarks, { sign: 'short_both', gamma: 'feed', iv: 'own', forward: 'flat' }),
  ).toHaveLength(4);
});

test('values of figures, with a flip that is not resolved', () => {
  const levels = { spot_price: 500, call_wall: 510, gex_flip: 505.5, put_wall: 490, max_pain: 495, net_gex_mil: -2.5 };
  const value = (figure: ExplainedFigure, isResolved = true) => figureValue(figure, levels, isResolved);
  expect(value('net_gex')).toBe(-2_500_000);
  expect(value('hedging')).toBe(-5_000);
  expect([value('spot_price'), value('call_wall'), value('put_wall'), value('max_pain')]).toEqual([500, 510, 490, 495]);
  expect([value('gex_flip'), value('gex_flip', false)]).toEqual([505.5, null]);
});

test('a daily deviation is that of the series nearest 30 days with a volatility', () => {
  const series = (tte: number, atm_iv: number | null, expiry: string) => ({ tte, atm_iv, expiry });
  const of = (all: ReturnType<typeof series>[]) => dailyDeviation({ spot_price: 100, series: all as never });
  expect(
    of([series(0.01, 0.5, 'a'), series(0.08, null, 'b'), series(0.1, Math.sqrt(252) / 100, 'c'), series(1, 0.3, 'd')]),
  ).toEqual({ dollars: expect.closeTo(1, 12), iv: Math.sqrt(252) / 100, expiry: 'c' });
  expect(of([series(0.1, null, 'a')])).toBeUndefined();
  expect(of([])).toBeUndefined();
});

describe('the row of a strike', () => {
  const strikes = {
    strike: [95, 97.5, 100],
    call_gex: [1e6, 3e6, 0],
    put_gex: [-2e6, -3e6, 0],
    net_gex: [-1e6, 0, 0],
    sign_margin_pct: [12.5, 0, 0],
    call_open_interest: [10, 20, 30],
    put_open_interest: [40, 50, 60],
    call_volume: [1, 2, 3],
    put_volume: [4, 5, 6],
  } as unknown as Strikes;

  test('gross gamma follows from the sign margin', () => {
    const row = { calls: 1e6, puts: -2e6, net: -1e6, signMargin: 12.5, grossShare: 10 };
    expect(strikeRow(strikes, 40, 95)).toEqual({ ...row, openInterest: [10, 40], volume: [1, 4] });
  });

  test('calls and puts that cancel out have the gross gamma of both', () => {
    expect(strikeRow(strikes, 60, 97.5)!.grossShare).toBeCloseTo(10, 12);
    expect(strikeRow(strikes, 0, 100)!.grossShare).toBeNull();
  });

  test('a strike that the snapshot does not have', () => {
    expect(strikeRow(strikes, 60, 96)).toBeUndefined();
  });
});
