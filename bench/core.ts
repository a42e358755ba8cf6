/** The core alone, for suites that run in a browser too. */
export { loadCore } from "../src/engine/load.js";
