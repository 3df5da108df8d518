import type { ComponentChildren } from 'preact';

export interface FigureTableProps {
  /** A description of the table. It is a visible caption if `hasCaption` is true. Otherwise only screen readers read it. */
  readonly label: string;
  readonly hasCaption?: boolean;
  readonly head: readonly string[];
  /** The cells by row. The first cell is a text. */
  readonly rows: readonly (readonly [string, ...ComponentChildren[]])[];
}

/** Renders a small table of texts without sorting. The first cell of each row is a row heading. */
export function FigureTable({ label, hasCaption, head, rows }: FigureTableProps) {
  return (
    <div class="figure-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        {hasCaption && <caption>{label}</caption>}
        <thead>
          <tr>
            {head.map((each) => (
              <th key={each} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr key={name} data-row={name}>
              <th scope="row">{name}</th>
              {values.map((each) => (
                <td>{each}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
