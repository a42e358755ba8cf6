/** The folder with the C sources of the package. */
import { fileURLToPath } from "node:url";

/** From dist/, or from src/cli/. */
export const NATIVE = fileURLToPath(new URL(import.meta.bundled ? "../native" : "../../native", import.meta.url));

/** The sources of the recorders, each a library of its own: those of verbs and of rte_flow, and what they share. */
export const RECORDERS: readonly string[] = [
  "flowsteer-record.c",
  "flowsteer-record.h",
  "flowsteer-record-rte.c",
  "flowsteer-record-rte.h",
];
