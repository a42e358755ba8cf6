/** npm run bench */
import { runBundled } from "./bundle.js";

await runBundled("main.ts", "main.mjs");
