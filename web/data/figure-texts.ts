export type Driver = 'net_gex' | 'call_gex' | 'put_gex' | 'open_interest';

export interface Explanation {
  /** The type of the figure: a price of the underlying, a signed amount, or a value that the source provides. */
  readonly kind: 'price' | 'signed' | 'given';
  /** The strike column that drives the figure: the changes in this column explain the change of the figure. */
  readonly driver: Driver;
  /** The field of a `get_level_record` answer about the level. Null if the figure has no track record. */
  readonly record: 'call_wall' | 'put_wall' | 'flip' | null;
}

const EXPLAINED_AMOUNT = { kind: 'signed', driver: 'net_gex', record: null } as const;

export const EXPLANATIONS = {
  spot_price: { kind: 'given', driver: 'net_gex', record: null },
  call_wall: { kind: 'price', driver: 'call_gex', record: 'call_wall' },
  gex_flip: { kind: 'price', driver: 'net_gex', record: 'flip' },
  put_wall: { kind: 'price', driver: 'put_gex', record: 'put_wall' },
  max_pain: { kind: 'price', driver: 'open_interest', record: null },
  net_gex: EXPLAINED_AMOUNT,
  hedging: EXPLAINED_AMOUNT,
  strike: EXPLAINED_AMOUNT,
} as const satisfies Readonly<Record<string, Explanation>>;

/** The figures of a ticker that the Explain panel explains. Each strike of the ladder has an id such as `strike.637_5`. */
export type ExplainedFigure = keyof typeof EXPLANATIONS;

/** The texts of the Explain panel for a figure. */
export interface FigureText {
  readonly unit: string;
  /** The definition of the figure. The words after "is" or "has" are the same as in docs/methods. */
  readonly sentence: string;
  /** The formula of the figure. Empty if the figure is not computed. */
  readonly formula: string;
  /** The anchor of a section in docs/methods, and the start of the list item about the figure. */
  readonly section: string;
  readonly item: string;
}

/** The texts of the Explain panel. The page loads these texts as a separate file when the panel opens. */
export interface FigureTexts {
  readonly figures: Readonly<Record<ExplainedFigure, FigureText>>;
  /**
   * Remarks by option and value: how the option changes the sentences and formulas. The remark on the option `expiries` ends with the
   * chosen expiries, which the page adds.
   */
  readonly remarks: Readonly<Record<string, string>>;
  /** Sentences by name, for the sections of the Explain panel. */
  readonly notes: Readonly<Record<FigureNote, string>>;
}

/** The file of the Explain panel: the texts above, and the fields of all answers on the page, by operation. */
export interface FigureFile extends FigureTexts {
  readonly fields: Readonly<Record<string, OperationFields>>;
}

/** The figures of an operation: the sentence of each field, and the anchor of the operation's section in docs/methods, or ''. */
export interface OperationFields {
  readonly title: string;
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
}

export type FigureNote = 'symbols' | 'given' | 'no_record' | 'too_few_days' | 'held' | 'mcp_options' | 'mcp_none';
