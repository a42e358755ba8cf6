/** The folder with the C sources of the package. */
import { fileURLToPath } from "node:url";

/** From dist/, or from src/cli/. */
export const NATIVE = fileURLToPath(new URL(import.meta.bundled ? "../native" : "../../native", import.meta.url));
