// Commands that DPDK's testpmd reads, and commands that it does not: test/golden/testpmd.json. Run from the project root, with
// dpdk-testpmd 22.11.11 (Debian bookworm; TESTPMD names another one, TESTPMD_OPTIONS what it needs besides):
//
//     node --import tsx scripts/golden-testpmd.mjs > test/golden/testpmd.json
//
// Its port is net_null, which refuses every rule. A command that testpmd cannot read answers "Bad arguments" or "Command not
// found"; anything else was read.

import { execFileSync } from "node:child_process";
import { judgedCommands } from "../test/export/testpmd/commands.ts";

const OPTIONS = ["--no-huge", "--no-pci", "-m", "256", "--no-telemetry", "--vdev=net_null0", "--vdev=net_null1"];
const commands = judgedCommands();
const output = execFileSync(
  process.env.TESTPMD ?? "dpdk-testpmd",
  [...(process.env.TESTPMD_OPTIONS ?? "").split(" ").filter(Boolean), ...OPTIONS, "--", "-i", "--total-num-mbufs=2048"],
  {
    stdio: ["pipe", "pipe", "ignore"],
    input: [...commands, "quit", ""].join("\n"),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  },
);
const answers = new Map();
let current;
for (const line of output.split(/\r?\n/)) {
  const command = /^testpmd> (.*)$/.exec(line)?.[1];
  if (command !== undefined) current = command.trim();
  if (command !== undefined) answers.set(current, true);
  else if (/^(Bad arguments|Command not found)/.test(line)) answers.set(current, false);
}
const judged = commands.map((command) => {
  if (!answers.has(command)) throw new Error(`testpmd did not echo: ${command}`);
  return [command, answers.get(command)];
});
console.log(JSON.stringify(Object.fromEntries(judged), null, 1));
