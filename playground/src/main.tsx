/** Starts the page. */
import { render } from "preact";
import { openFirst } from "./share/opening.js";
import { registerSharing } from "./share/views.js";
import { startOffline } from "./offline/offline.js";
import { App } from "./shell/app.js";
import { startComparing } from "./state/compare.js";
import { startComparingAll } from "./state/difference.js";
import { startMeasuring } from "./state/felt.js";
import { startListing } from "./state/frameList.js";
import { startImporting } from "./state/imported.js";
import { startProving } from "./state/proofs.js";
import { startSteering, untilAnswered } from "./state/steering.js";

const root = document.querySelector("#app");
if (root === null) throw new Error("the page has no #app");
// The static frame in the document has served until now.
root.replaceChildren();
startMeasuring();
registerSharing();
render(<App />, root);
performance.mark("started");
startImporting();
startSteering();
void untilAnswered().then(() => performance.mark("answered"));
startComparing();
startComparingAll();
startListing();
startProving();
await openFirst();
// The worker of the cache asks for all files: those of the first answer have come by then.
void untilAnswered().then(startOffline);
