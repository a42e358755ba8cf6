/** Global setup of the tests: builds what they run on where it is missing or out of date. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export default function setup(project) {
  buildAll();
  project.onTestsRerun(buildAll);
}

function buildAll() {
  build("--tests");
  const flavour = process.env["FLOWSTEER_CORE"];
  if (flavour !== undefined) build("--wasm", flavour);
}

function build(...options) {
  const { status } = spawnSync(process.execPath, ["scripts/build.mjs", ...options], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("the build failed: see above");
}
