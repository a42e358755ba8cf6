/** Starts the page. */
import { render } from "preact";
import { App } from "./shell/app.js";
import { openRules } from "./state/document.js";
import { startSteering } from "./state/steering.js";

const root = document.querySelector("#app");
if (root === null) throw new Error("the page has no #app");
render(<App />, root);
startSteering();
const example = await fetch("./examples/why-vxlan.json");
openRules(await example.text(), "why-vxlan");
