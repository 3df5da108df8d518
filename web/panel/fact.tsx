import type { ComponentChildren } from 'preact';

/** Renders a name and its value as one entry of a definition list. */
export function Fact({ name, value, children }: { name: string; value: string; children?: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {children}
      </dd>
    </div>
  );
}
