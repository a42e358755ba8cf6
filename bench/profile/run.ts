/** npm run profile */
import { runBundled } from "../bundle.js";

await runBundled("profile/main.ts", "profile.mjs");
