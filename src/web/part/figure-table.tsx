export interface FigureTableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A small table of texts, for some rows that need no sorting. The first cell of a row is its heading. */
export function FigureTable({ label, head, rows }: FigureTableProps) {
  return (
    <div class="figure-table" role="region" aria-label={label} tabIndex={0}>
      <table>
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
            <tr key={name}>
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
