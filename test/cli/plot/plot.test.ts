import { describe, expect, test } from 'bun:test';
import { terminalOf } from '../../../src/cli/forms.ts';
import { formatDollars, formatPrice } from '../../../src/cli/plot/figures.ts';
import { type GexPicture, gexPlot } from '../../../src/cli/plot/gex-plot.ts';
import { line, type Style } from '../../../src/cli/plot/line.ts';
import { type Profile, profileChart } from '../../../src/cli/plot/profile-chart.ts';
import { leftBar, rightBar, type StrikeGex, strikeBars } from '../../../src/cli/plot/strike-bars.ts';

const BLOCKS: Style = { unicode: true, colour: false };
const ASCII: Style = { unicode: false, colour: false };
const COLOURED: Style = { unicode: true, colour: true };

const bars: [length: number, cells: number, right: string, left: string, asciiRight: string, asciiLeft: string][] = [
  [0, 3, '   ', '   ', '   ', '   '],
  [0.01, 3, '▏  ', '  ▕', '.  ', '  .'],
  [0.5, 3, '▌  ', '  ▐', '#  ', '  #'],
  [1.125, 3, '█▏ ', '  █', '#  ', '  #'],
  [2.5, 3, '██▌', '▐██', '###', '###'],
  [3, 3, '███', '███', '###', '###'],
  [9, 3, '███', '███', '###', '###'],
  [1, 0, '', '', '', ''],
];
test.each(bars)('draws a bar of length %p in %p cells', (length, cells, right, left, asciiRight, asciiLeft) => {
  expect(rightBar(length, cells, true)).toBe(right);
  expect(leftBar(length, cells, true)).toBe(left);
  expect(rightBar(length, cells, false)).toBe(asciiRight);
  expect(leftBar(length, cells, false)).toBe(asciiLeft);
});

test.each([
  [0, '0'],
  [-0, '0'],
  [1_234_567_890, '+1.23B'],
  [-45_600_000, '-45.6M'],
  [999_999, '+1M'],
  [0.5, '+0.5'],
  [1e308, '+1.0e+308'],
  [-5e-324, '-4.9e-324'],
])('formats %p dollars as %p', (value, text) => {
  expect(formatDollars(value)).toBe(text);
});

test.each([
  [57.48, '57.48'],
  [3990.5601, '3,990.56'],
  [1e300, '1.0e+300'],
])('formats a price of %p as %p', (value, text) => {
  expect(formatPrice(value)).toBe(text);
});

describe('line', () => {
  test('is cut at the width and has no trailing blanks', () => {
    expect(line([{ text: 'abc ' }, { text: '   def', ink: 'level' }], 6, BLOCKS)).toBe('abc');
    expect(line([{ text: 'abc' }, { text: 'def' }], 4, BLOCKS)).toBe('abcd');
  });

  test('colours only characters that are not blank, adjacent ones of one colour together', () => {
    const spans = [{ text: 'a ' }, { text: 'b', ink: 'level' as const }, { text: 'c ', ink: 'level' as const }];
    expect(line(spans, 9, COLOURED)).toBe('a \u001b[33mbc\u001b[0m');
  });
});

const STRIKES: StrikeGex = {
  spot: 100,
  strike: Float64Array.of(50, 90, 95, 100, 105, 110),
  net: Float64Array.of(-9e6, -1e6, -4e6, 0, 4e6, 2e6),
  levels: [
    { name: 'spot', price: 101 },
    { name: 'call wall', price: 105 },
    { name: 'put wall', price: 95 },
    { name: 'max pain', price: 95 },
  ],
};

describe('strike bars', () => {
  const pictures: [name: string, given: Parameters<typeof strikeBars>, lines: string[]][] = [
    [
      'levels and the strongest strikes, those far from spot left out',
      [STRIKES, 50, 5, BLOCKS],
      [
        '110            │█████      +2M',
        '105            │██████████ +4M  call wall',
        '101 ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄      spot',
        ' 95  ██████████│           -4M  put wall, max pain',
        ' 90         ▐██│           -1M',
      ],
    ],
    [
      'initials if space is short, weaker strikes left out',
      [STRIKES, 22, 4, ASCII],
      ['110      |##   +2M', '105      |#### +4M  C', '101 ----------      S', ' 95  ####|     -4M  PM'],
    ],
    [
      'one strike',
      [{ spot: 10, strike: Float64Array.of(10), net: Float64Array.of(5), levels: [] }, 20, 9, BLOCKS],
      ['10 │█████████████ +5'],
    ],
  ];
  test.each(pictures)('%s', (_name, given, lines) => {
    expect(strikeBars(...given)).toEqual(lines);
  });

  test('if all values are zero, shows the levels without bars', () => {
    const lines = strikeBars({ ...STRIKES, net: new Float64Array(6) }, 60, 9, BLOCKS);
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toMatch(/[▏▕█]/);
  });
});

const PROFILE: Profile = {
  level: Float64Array.of(80, 90, 100, 110, 120),
  gex: Float64Array.of(-2e6, -2e6, 0, 2e6, 2e6),
  annotations: [{ name: 'spot', price: 100 }],
};

describe('profile chart', () => {
  const pictures: [name: string, given: Parameters<typeof profileChart>, lines: string[]][] = [
    [
      'ASCII',
      [PROFILE, 25, 7, ASCII],
      [
        '+2M           :   *******',
        '              : **',
        '  0 ---------***---------',
        '           ** :',
        '-2M *******   :',
        '              : spot 100',
        '    80                120',
      ],
    ],
    [
      'braille',
      [PROFILE, 25, 5, BLOCKS],
      [
        '+2M           ┊ ⢀⡠⠒⠉⠉⠉⠉⠉⠉',
        '  0 ┄┄┄┄┄┄┄┄⢀⡠⠔⠊⠁┄┄┄┄┄┄┄┄',
        '-2M ⣀⣀⣀⣀⣀⣀⠤⠊⠁ ┊',
        '              ┊ spot 100',
        '    80                120',
      ],
    ],
    [
      'zero everywhere',
      [{ ...PROFILE, gex: new Float64Array(5) }, 13, 5, ASCII],
      ['       :', '0 ***********', '       :', '  spot 100', '  80      120'],
    ],
    [
      'a mark without space to its right',
      [{ ...PROFILE, annotations: [{ name: 'flip', price: 119 }] }, 25, 5, ASCII],
      [
        '+2M              ********',
        '  0 --------*****-------:',
        '-2M ********            :',
        '               flip 119 :',
        '    80                120',
      ],
    ],
    [
      'axis labels that would overlap',
      [{ ...PROFILE, annotations: [] }, 9, 3, ASCII],
      ['+2M    **', '  0 ***--', '    80'],
    ],
    [
      'a mark outside the range is left out',
      [{ ...PROFILE, annotations: [{ name: 'flip', price: 121 }] }, 13, 4, ASCII],
      ['+2M       ***', '  0 ----**---', '-2M ****', '    80    120'],
    ],
    [
      'no value below zero',
      [{ ...PROFILE, gex: Float64Array.of(0, 1, 2, 3, 4), annotations: [] }, 13, 4, ASCII],
      ['+4        ***', '      ****', ' 0 ***-------', '   80     120'],
    ],
  ];
  test.each(pictures)('%s', (_name, given, lines) => {
    expect(profileChart(...given)).toEqual(lines);
  });
});

describe('the whole plot', () => {
  const pictureOf = (strikes: Partial<StrikeGex>, profile: Partial<Profile>): GexPicture => ({
    ticker: 'TEST',
    simulated: false,
    strikes: { ...STRIKES, ...strikes },
    profile: { ...PROFILE, ...profile },
  });
  const ramp = (value: (i: number) => number) => Float64Array.from({ length: 161 }, (_, i) => value(i));
  const pictures: [name: string, picture: GexPicture][] = [
    ['plain', pictureOf({}, {})],
    ['all zero', pictureOf({ net: new Float64Array(6) }, { gex: new Float64Array(5) })],
    ['one strike', pictureOf({ strike: Float64Array.of(100), net: Float64Array.of(-3), levels: [] }, {})],
    ['no strike', pictureOf({ strike: new Float64Array(), net: new Float64Array(), levels: [] }, {})],
    [
      'the largest and the smallest doubles',
      pictureOf(
        { net: Float64Array.of(0, -Number.MAX_VALUE, 5e-324, Number.MAX_VALUE, -5e-324, 1) },
        { gex: Float64Array.of(-Number.MAX_VALUE, -5e-324, 0, 5e-324, Number.MAX_VALUE) },
      ),
    ],
    ['only the smallest doubles', pictureOf({ net: new Float64Array(6).fill(-5e-324) }, { gex: ramp(() => 5e-324) })],
    [
      'prices with many digits',
      pictureOf(
        { spot: 1e9, strike: ramp((i) => 1e9 + i / 3), net: ramp((i) => Math.sin(i) * 1e12) },
        { level: ramp((i) => 1e9 + i), gex: ramp((i) => Math.cos(i) * 1e12) },
      ),
    ],
    ['all values on one side', pictureOf({ net: Float64Array.of(1, 1, 1, 1, 1, 1e-9) }, { gex: ramp((i) => i) })],
  ];

  test.each(pictures)('%s: fits every width, is the same in colour, and shows no NaN or Infinity', (_name, picture) => {
    for (let width = 20; width <= 200; width++) {
      for (const height of [12, 23, 50]) {
        for (const style of [ASCII, BLOCKS]) {
          const lines = gexPlot(picture, width, height, style);
          expect(Math.max(...lines.map((each) => each.length))).toBeLessThanOrEqual(width);
          expect(lines.length).toBeLessThanOrEqual(height);
          expect(lines.join('\n')).not.toMatch(/NaN|Infinity|undefined/);
          if (!style.unicode) expect(lines.join('\n')).toMatch(/^[\n -~]*$/);
          const painted = gexPlot(picture, width, height, { ...style, colour: true });
          expect(painted.map(Bun.stripANSI)).toEqual(lines);
        }
      }
    }
  });

  test('draws the charts side by side if there is width, and uses the full height for each', () => {
    const stacked = gexPlot(pictureOf({}, {}), 131, 15, ASCII);
    const beside = gexPlot(pictureOf({}, {}), 132, 15, ASCII);
    expect(stacked.filter((each) => each.includes('gamma profile'))).toHaveLength(1);
    expect(stacked[0]).not.toContain('gamma profile');
    expect(beside[0]).toMatch(/net GEX by strike.* {4}TEST {2}gamma profile/);
    expect(beside).toHaveLength(15);
  });

  test('both charts name the ticker and flag simulated data at every width', () => {
    const titles = (simulated: boolean, width: number) =>
      gexPlot({ ...pictureOf({}, {}), simulated }, width, 23, ASCII).filter((each) => each.includes('TEST'));
    expect(titles(false, 80)).toEqual([
      'TEST  net GEX by strike, dollars per 1 % move',
      'TEST  gamma profile: net GEX at other spots',
    ]);
    for (const title of [...titles(true, 20), ...titles(true, 80)]) expect(title).toStartWith('SIMULATED TEST ');
  });
});

describe('terminal', () => {
  const utf8 = { LANG: 'en_US.UTF-8', TERM: 'xterm' };
  const tty = { isTTY: true, columns: 132, rows: 50 };
  const terminals: [name: string, output: object, env: Record<string, string>, expected: object][] = [
    ['a terminal', tty, utf8, { width: 132, height: 50, style: COLOURED }],
    ['a pipe', {}, utf8, { width: 80, height: 24, style: BLOCKS }],
    [
      'a terminal without a size',
      { isTTY: true, columns: 0, rows: 0 },
      utf8,
      { width: 80, height: 24, style: COLOURED },
    ],
    ['NO_COLOR', tty, { ...utf8, NO_COLOR: '1' }, { style: BLOCKS }],
    ['an empty NO_COLOR', tty, { ...utf8, NO_COLOR: '' }, { style: COLOURED }],
    ['a dumb terminal', tty, { ...utf8, TERM: 'dumb' }, { style: ASCII }],
    ['a terminal without a TERM', tty, { LANG: 'C.utf8' }, { style: BLOCKS }],
    ['no locale', tty, { TERM: 'xterm' }, { style: { unicode: false, colour: true } }],
    [
      'LC_ALL takes precedence over LANG',
      tty,
      { ...utf8, LC_ALL: 'C', LC_CTYPE: 'C.UTF-8' },
      { style: { unicode: false } },
    ],
    [
      'LC_CTYPE takes precedence over LANG',
      tty,
      { LANG: 'C', LC_ALL: '', LC_CTYPE: 'C.UTF-8' },
      { style: { unicode: true } },
    ],
  ];
  test.each(terminals)('%s', (_name, output, env, expected) => {
    expect(terminalOf(output, env)).toMatchObject(expected);
  });
});
