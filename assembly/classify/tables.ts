/** The list of all tables (src/abi/table.ts has the layout of a table). */
export namespace Tables {
  /** All tables, linked by TABLE_NEXT. */
  export let first: usize = 0;
}
