export interface FigureTableProps {
  /** What the table has. `hasCaption` shows it above, otherwise only screen readers read it. */
  readonly label: string;
  readonly hasCaption?: boolean;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A small table of texts, for some rows that need no sorting. The first cell of a row is its heading. */
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
