import type { ComponentChildren } from 'preact';

interface FactProps {
  readonly name: string;
  readonly value: string;
  /** The text of the tooltip: the meaning of the value. */
  readonly note?: string;
  readonly children?: ComponentChildren;
}

/** Renders a name and its value as one entry of a definition list. */
export function Fact({ name, value, note, children }: FactProps) {
  return (
    <div data-fact={name} title={note}>
      <dt>{name}</dt>
      <dd>
        {value}
        {children}
      </dd>
    </div>
  );
}
