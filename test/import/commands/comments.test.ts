/** `#` in front of a command: a comment, or the prompt of root. */
import { expect, test } from "vitest";
import { importRules } from "../../../src/import/index.js";

const names = (...lines: readonly string[]): unknown =>
  importRules(lines.join("\n"), { lenient: true, driver: "none" })
    .scenario?.rules?.map(({ name }) => name)
    .filter((name) => / (?:flow|prio) \d/.test(name ?? ""));

const FLOW = "flow create 0 ingress pattern eth / ipv4 / end actions drop / end";
const FILTER = "tc filter add dev eth0 ingress protocol ip pref 1 flower action drop";
const OTHER_FILTER = "tc filter add dev eth0 ingress protocol ip pref 2 flower action drop";

test("testpmd commands are comments where others have none", () => {
  expect(names(`# ${FLOW}`, FLOW, `  #${FLOW}`)).toEqual(["port 0 flow 0"]);
  expect(names(`# ${FLOW}`, `# ${FLOW}`)).toEqual(["port 0 flow 0", "port 0 flow 1"]);
});

test("flows of Open vSwitch are, commands with them may have the prompt of root", () => {
  const flow = (priority: number): string => `table=0,priority=${priority},ip,actions=drop`;
  const add = (priority: number): string => `ovs-ofctl add-flow br0 "${flow(priority)}"`;
  const taken = (...lines: readonly string[]): number | undefined =>
    importRules(lines.join("\n"), { lenient: true, driver: "none" }).scenario?.rules?.filter(({ name }) =>
      /priority=/.test(name ?? ""),
    ).length;
  expect(taken(`# ${flow(1)}`, flow(2))).toBe(1);
  expect(taken(`# ${add(1)}`, `# ${add(2)}`)).toBe(2);
  expect(taken(`# ${add(1)}`, add(2))).toBe(2);
});

test("tc commands are those of root, but in a script", () => {
  expect(names(`# ${FILTER}`, OTHER_FILTER)).toHaveLength(2);
  expect(names("#!/bin/sh", `# ${FILTER}`, OTHER_FILTER)).toHaveLength(1);
});
