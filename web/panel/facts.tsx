import type { ComponentChildren } from 'preact';

/** A name and its value. The note is the tooltip: the meaning of the value. */
export type NamedFact = readonly [name: string, value: ComponentChildren, note?: string];

/** Renders a list with a name and a value in each row. */
export function Facts({ of }: { of: readonly NamedFact[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value, note]) => (
        <div key={name} data-fact={name} title={note}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
