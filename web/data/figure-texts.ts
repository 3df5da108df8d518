/** The figures of a ticker that the Explain panel explains. Each strike of the ladder has an id such as `strike.637_5`. */
export type ExplainedFigure =
  | 'spot_price'
  | 'call_wall'
  | 'gex_flip'
  | 'put_wall'
  | 'max_pain'
  | 'net_gex'
  | 'hedging'
  | 'strike';

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
