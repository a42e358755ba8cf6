/** Texts of columns that are fields of filters. */
import type { ParsedHeaders } from "flowsteer";
import { filterValueText, type FilterField } from "flowsteer/packet";
import type { Run } from "../steer/run.js";
import { fieldsOf, valuesIn } from "./fieldColumns.js";

/** The texts of a frame's columns; "" where it has none of a column's fields. */
export function cellsOf(
  columns: readonly string[],
  run: Run,
): (frame: number, bytes: Uint8Array, parsed: ParsedHeaders | null) => Record<string, string> {
  const all = columns.map((column) => [column, fieldsOf(column)] as const);
  return (frame, bytes, parsed) => {
    const textOf = (field: FilterField): string => {
      const values = valuesIn(field, run, frame, bytes, parsed);
      return values.map((value) => filterValueText(field, value)).join(", ");
    };
    return Object.fromEntries(
      all.map(([column, fields]) => [column, fields.map(textOf).find((text) => text !== "") ?? ""]),
    );
  };
}
