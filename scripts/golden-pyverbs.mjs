// What rdma-core's own tests say on Debian's compiled pyverbs under `flowsteer exec`: test/golden/pyverbs.json. Run from the
// project root, with python3-pyverbs of Debian 12, python3-scapy, the tests of rdma-core v44.0, and a build:
//
//     git -C RDMA-CORE archive v44.0 tests | tar -x -C FOLDER
//     node scripts/golden-pyverbs.mjs FOLDER > test/golden/pyverbs.json
//
// A file that crashes has no result, which ends the script. Tests of CUDA and VFIO need other hardware.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
const OTHER_HARDWARE = /cuda|vfio/;
const PROGRAM = join(import.meta.dirname, "golden-pyverbs.py");
const CLI = join(import.meta.dirname, "../dist/cli.js");

const files = readdirSync(join(folder, "tests"))
  .filter((name) => /^test_.*\.py$/.test(name) && !OTHER_HARDWARE.test(name))
  .map((name) => name.replace(/\.py$/, ""))
  .sort();
const results = files.map((file) => {
  const exec = ["exec", "--quiet", "--profile", "connectx6dx", "--", "/usr/bin/python3", PROGRAM, file];
  const out = execFileSync(process.execPath, [CLI, ...exec], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return [file, JSON.parse(out.trim().split("\n").at(-1))];
});
console.log(JSON.stringify({ rdmaCore: "v44.0", profile: "connectx6dx", files: Object.fromEntries(results) }, null, 2));
