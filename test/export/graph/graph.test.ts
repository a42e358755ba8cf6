/** Graphs of tables: each rule is at an edge that leads where its actions lead. */
import { expect, it } from "vitest";
import { exportRules } from "../../../src/export/index.js";
import type { Scenario } from "../../../src/scenario/index.js";

const SCENARIO: Scenario = {
  flowsteer: 1,
  queues: [{ name: 'a "web" queue' }],
  tables: [
    { name: "root", level: 0 },
    { name: "l4", level: 1 },
  ],
  rules: [
    { name: "tcp", table: "root", match: { "outer.ip_protocol": "tcp" }, actions: [{ table: "l4" }] },
    { name: "udp", table: "root", match: { "outer.ip_protocol": "udp" }, actions: [{ table: "l4" }] },
    { name: "web", table: "l4", match: { "outer.tcp_dport": 80 }, actions: [{ queue: 'a "web" queue' }] },
    { name: "all", table: "l4", priority: 1, actions: ["drop"] },
  ],
};

it("writes Graphviz", () => {
  expect(exportRules(SCENARIO, { format: "dot" }).text).toBe(`digraph rules {
  rankdir=LR;
  n1 [shape=box, label="root\\nnic_rx"];
  n2 [shape=box, label="l4\\nnic_rx"];
  n3 [shape=oval, label="queue a \\"web\\" queue"];
  n4 [shape=oval, label="drop"];
  n1 -> n2 [label="tcp\\nudp"];
  n2 -> n3 [label="web"];
  n2 -> n4 [label="all"];
}
`);
});

it("writes Mermaid", () => {
  expect(exportRules(SCENARIO, { format: "mermaid" }).text).toBe(`flowchart LR
  n1["root<br>nic_rx"]
  n2["l4<br>nic_rx"]
  n3(["queue a #34;web#34; queue"])
  n4(["drop"])
  n1 -->|"tcp<br>udp"| n2
  n2 -->|"web"| n3
  n2 -->|"all"| n4
`);
});

it("draws an SVG whose boxes do not cover each other", () => {
  const rules = Array.from({ length: 12 }, (_, n) => ({
    name: `rule <${n}>`,
    table: "l4",
    priority: n + 2,
    actions: [{ queue: `queue ${n}` }, ...(n === 0 ? [{ array: [{ queue: "queue 0" }, { queue: "queue 1" }] }] : [])],
  }));
  const many = { ...SCENARIO, rules: [...(SCENARIO.rules ?? []), ...rules.slice(1)] } as Scenario;
  const queues = Array.from({ length: 12 }, (_, n) => ({ name: `queue ${n}` }));
  const text = exportRules({ ...many, queues: [...(SCENARIO.queues ?? []), ...queues] }, { format: "svg" }).text ?? "";
  expect(text).toContain(">queue a &#34;web&#34; queue</text>");
  expect(text).toContain(">rule &#60;11&#62;</text>");
  expect(text.match(/<path d="M\d/g)).toHaveLength(3 + 1 + 11);
  const boxes = [...text.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/g)].map((found) =>
    found.slice(1).map(Number),
  );
  expect(boxes).toHaveLength(4 + 11 + 3 + 11);
  for (const [n, [x = 0, y = 0, width = 0, height = 0]] of boxes.entries()) {
    for (const [left = 0, top = 0, wide = 0, high = 0] of boxes.slice(n + 1)) {
      expect(left >= x + width || left + wide <= x || top >= y + height || top + high <= y).toBe(true);
    }
  }
});

it("refuses a format that it does not know, with the nearest one", () => {
  expect(() => exportRules(SCENARIO, { format: "mermaids" as never })).toThrow(/mermaid/);
});
