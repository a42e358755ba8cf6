/** The titles of the columns: each sorts the list, up, down, and back to the order of arrival. */
import type { JSX } from "preact";
import { order } from "../../state/frameList.js";
import { columns } from "./columns.js";

export function Head(): JSX.Element {
  const now = order.value;
  return (
    <div class="frame-head" role="row" aria-rowindex={1}>
      {columns.value.map(({ id, title, field }) => {
        const sorted = now === null || now.by !== field ? undefined : now.descending ? "descending" : "ascending";
        return (
          <div key={id} class={id} role="columnheader" aria-sort={sorted}>
            {field === null ? (
              title
            ) : (
              <button type="button" class="quiet" title={`Sort by ${title}`} onClick={() => sortBy(field)}>
                {title}
                {sorted !== undefined && <span aria-hidden="true">{sorted === "ascending" ? " ▲" : " ▼"}</span>}
              </button>
            )}
          </div>
        );
      })}
    </div>
  );
}

function sortBy(by: string): void {
  const now = order.peek();
  order.value = now?.by !== by ? { by, descending: false } : now.descending ? null : { by, descending: true };
}
