/**
 * The numbers under which Massive's glossary of option trade conditions (`/v3/reference/conditions?asset_class=options`) lists OPRA's
 * sale conditions, by OPRA's four letters. A number that is not here says nothing of a trade.
 */
export const OPRA_CONDITIONS: ReadonlyMap<unknown, string> = new Map([
  ...[
    [201, 'canc'],
    [202, 'oseq'],
    [203, 'cncl'],
    [204, 'late'],
    [205, 'cnco'],
    [206, 'open'],
    [207, 'cnol'],
  ],
  ...[
    [208, 'opnl'],
    [209, 'auto'],
    [210, 'reop'],
    [219, 'isoi'],
  ],
  ...[
    [227, 'slan'],
    [228, 'slai'],
    [229, 'slcn'],
    [230, 'slci'],
    [231, 'slft'],
  ],
  ...[
    [232, 'mlet'],
    [233, 'mlat'],
    [234, 'mlct'],
    [235, 'mlft'],
    [236, 'mesl'],
    [238, 'masl'],
    [239, 'mfsl'],
  ],
  ...[
    [237, 'tlat'],
    [240, 'tlet'],
    [241, 'tlct'],
    [242, 'tlft'],
    [243, 'tesl'],
    [244, 'tasl'],
    [245, 'tfsl'],
  ],
  ...[
    [246, 'cbmo'],
    [247, 'mctp'],
    [248, 'exht'],
  ],
] as [number, string][]);
