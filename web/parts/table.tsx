/** A table that becomes a list of blocks on a phone. */

import type { ComponentChildren } from "preact";

/** A heading; `num` for numbers, `vh` for one that only screen readers need. */
export type Column = string | readonly [name: string, kind: "num" | "vh"];

interface TableProps {
  readonly label: string;
  readonly columns: readonly Column[];
  /** Inside a panel; otherwise it uses the width of the page. */
  readonly isInside?: boolean;
  /** The rows. */
  readonly children: ComponentChildren;
}

export function Table({ label, columns, isInside = false, children }: TableProps) {
  return (
    <table class={isInside ? "t stackable" : "t stackable flush bleed"} aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => {
            const [name, kind] = typeof column === "string" ? [column, undefined] : column;
            return (
              <th key={name} class={kind === "num" ? "num" : ""}>
                {kind === "vh" ? <span class="vh">{name}</span> : name}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
