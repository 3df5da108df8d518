import type { ComponentChildren } from 'preact';

interface FactProps {
  readonly name: string;
  readonly value: string;
  /** The meaning of the value, which the tooltip shows. */
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
