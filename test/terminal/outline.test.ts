import { expect, test } from 'bun:test';
import { outlineOf } from './outline.ts';

test.each([
  ['figures are masked, levels are not', '- heading "SPY 650.25" [level=2]', '- heading "SPY #" [level=2]'],
  ['signs and sizes belong to the figures', '- text: −30.1M of 1,200 at 16:00', '- text: # of # at #'],
  ['words with digits in them stay', '- text: 0DTE', '- text: 0DTE'],
  [
    'choices are on one line',
    '- combobox:\n  - option "a" [selected]\n  - option "b"',
    '- combobox:\n  - option: a | b',
  ],
  [
    'the first row stands for all',
    '- rowgroup:\n  - row "x 1":\n    - gridcell "x"\n    - gridcell "1"\n  - row "y 2":\n    - gridcell "y"',
    '- rowgroup:\n  - row:\n    - gridcell: x | #',
  ],
  [
    'another role follows a list',
    '- list:\n  - listitem: a\n  - listitem: b\n- button "c"',
    '- list:\n  - listitem: a\n- button "c"',
  ],
])('%s', (_, snapshot, outline) => {
  expect(outlineOf(snapshot)).toBe(`${outline}\n`);
});
