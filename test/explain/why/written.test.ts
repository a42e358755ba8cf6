/** Why completions report a tag or not, and why a counter counted a frame or not. */
import { describe, expect, test } from "vitest";
import { openExplainer, type Explanation, type Target } from "../../../src/explain/index.js";
import { buildFrame, type Layer } from "../../../src/packet/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { HOSTS, scenario, tcp, type Parts } from "../catalogue/planted/shapes.js";

const frame = buildFrame([{ header: "ethernet" }, HOSTS, tcp(80)] as Layer[]);
const tag = (n: number): Target => ({ kind: "tag", tag: n });
const counter = (name: string): Target => ({ kind: "counter", name });
const PORT = { "outer.tcp_dport": 443 };

async function explain(parts: Omit<Parts, "frames">, target: Target): Promise<Explanation> {
  const { device } = await loadScenario(scenario({ ...parts, frames: [] }));
  return (await openExplainer(device)).why(1, frame, target);
}

async function firstLine(parts: Omit<Parts, "frames">, target: Target): Promise<string> {
  return (await explain(parts, target)).sentence;
}

describe("a tag", () => {
  test("names the rule that set it, and what it replaced", async () => {
    const tables = {
      root: [["mark", {}, [{ tag: 5 }, { table: "second" }]]],
      second: [["web", {}, [{ tag: 7 }, { queue: "a" }]]],
    } as const;
    expect(await explain({ tables }, tag(7))).toMatchObject({
      reached: true,
      sentence: 'qp:a got the frame with tag 7, which rule "web" set in place of tag 5 of rule "mark"',
    });
    expect(await explain({ tables }, tag(5))).toMatchObject({
      reached: false,
      sentence:
        'rule "web" overwrote tag 5 of rule "mark" with tag 7; qp:a got the frame with tag 7, which rule "web" set in place of tag 5 of rule "mark"',
      reasons: [{ kind: "action", action: "tag", rule: { name: "web" } }],
      repairs: [],
    });
  });

  test("says why the rule that sets it did not match, and repairs that", async () => {
    const tables = { root: [["web", PORT, [{ tag: 7 }, { queue: "a" }]]] } as const;
    const { reached, sentence, repairs } = await explain({ tables }, tag(7));
    expect(reached).toBe(false);
    expect(sentence).toBe('rule "web", which sets tag 7, does not match: outer.tcp_dport is 80, not 443');
    expect(repairs.map(({ of }) => of)).toContain("frame");
  });

  test("says which rule took the frame first", async () => {
    const tables = {
      root: [
        ["all", {}, [{ queue: "b" }], 0],
        ["web", {}, [{ tag: 7 }, { queue: "a" }], 5],
      ],
    } as const;
    expect(await firstLine({ tables }, tag(7))).toBe(
      'rule "web" sets tag 7; rule "all" took the frame first, by its lower priority number (0 before 5); rule "web" would match too',
    );
  });

  test("of a lost frame is on no completion", async () => {
    const tables = {
      root: [["mark", {}, [{ tag: 5 }, { table: "second" }]]],
      second: [["deny", {}, ["drop"]]],
    } as const;
    expect(await firstLine({ tables }, tag(5))).toBe(
      'rule "mark" set tag 5; then it was lost: rule "deny" drops the frame',
    );
  });

  test("ends where a frame goes on to the next stage", async () => {
    const tables = { root: [["mark", {}, [{ tag: 5 }, "default_miss"]]] } as const;
    const flows = [{ name: "rest", type: "all_default", queue: "a" }];
    expect(await firstLine({ tables, flows }, tag(5))).toBe(
      'flow "rest" is of a later stage, which takes no tags over: tag 5 of rule "mark" ended there; qp:a got the frame without a tag',
    );
  });

  test("that no rule sets: what the completion has", async () => {
    const tables = { root: [["web", {}, [{ tag: 7 }, { queue: "a" }]]] } as const;
    expect(await firstLine({ tables }, tag(8))).toBe(
      'no rule sets tag 8; qp:a got the frame with tag 7, which rule "web" set',
    );
    expect(await firstLine({ tables: { root: [["web", {}, ["drop"]]] } }, tag(8))).toBe(
      'no rule sets tag 8; rule "web" drops the frame',
    );
  });

  test("that no rule sets, and one writes to a register as tc does a mark", async () => {
    const note = { modify: [{ set: "misc2.metadata_reg_c_1", to: 8 }] };
    const tables = { root: [["web", {}, [note, { queue: "a" }]]] } as const;
    expect(await firstLine({ tables }, tag(8))).toBe(
      'no rule sets tag 8 (rule "web" writes it to register C1, which no completion reports); qp:a got the frame without a tag',
    );
    expect(await firstLine({ tables }, tag(80))).toBe("no rule sets tag 80; qp:a got the frame without a tag");
  });

  test("is a number of 32 bits", async () => {
    await expect(explain({}, tag(-1))).rejects.toThrow(/target\.tag/);
  });
});

describe("a counter", () => {
  const counters = [{ name: "hits" }];

  test("has its values, and what became of the frame", async () => {
    const tables = {
      root: [["web", {}, [{ count: "hits" }, { table: "second" }]]],
      second: [["deny", {}, ["drop"]]],
    } as const;
    expect(await explain({ counters, tables }, counter("hits"))).toMatchObject({
      reached: true,
      sentence: `rule "web" counted the frame: counter "hits" went from 0 to 1 packets, 0 to ${frame.length} bytes; then it was lost: rule "deny" drops the frame`,
    });
  });

  test("says why the rule that counts did not match", async () => {
    const tables = { root: [["web", PORT, [{ count: "hits" }, { queue: "a" }]]] } as const;
    expect(await firstLine({ counters, tables }, counter("hits"))).toBe(
      'rule "web", which counts in counter "hits", does not match: outer.tcp_dport is 80, not 443',
    );
  });

  test("says which table was not reached", async () => {
    const tables = {
      root: [["lead", PORT, [{ table: "second" }]]],
      second: [["web", {}, [{ count: "hits" }, { queue: "a" }]]],
    } as const;
    expect(await firstLine({ counters, tables }, counter("hits"))).toBe(
      'rule "web" counts in counter "hits"; the frame never reached table "second": rule "lead" leads there, and rule "lead" does not match: outer.tcp_dport is 80, not 443',
    );
  });

  test("that no rule uses, or that is not there", async () => {
    const tables = { root: [["web", {}, ["drop"]]] } as const;
    expect(await firstLine({ counters, tables }, counter("hits"))).toBe(
      'no rule counts in counter "hits"; rule "web" drops the frame',
    );
    await expect(explain({ counters, tables }, counter("hit"))).rejects.toThrow(/hits/);
  });

  test("of a bulk is one of them, or any", async () => {
    const tables = { root: [["web", {}, [{ count: "bulk", offset: 2 }, { queue: "a" }]]] } as const;
    const parts = { counters: [{ name: "bulk", flow_counter_bulk_log_size: 2 }], tables };
    expect(await firstLine(parts, counter("bulk"))).toContain('counter "bulk[2]" went from 0 to 1 packets');
    expect((await explain(parts, counter("bulk[2]"))).reached).toBe(true);
    expect(await firstLine(parts, counter("bulk[3]"))).toBe(
      'no rule counts in counter "bulk[3]"; qp:a got the frame without a tag',
    );
    await expect(explain(parts, counter("bulk[4]"))).rejects.toThrow(/bulk/);
  });

  test("of a flow", async () => {
    const flows = [{ name: "web", queue: "a", specs: [{ tcp: { dst_port: 443 } }, { count: "hits" }] }];
    const flowCounters = [{ name: "hits", points: [{ index: 0, counts: "packets" }] }];
    expect(await firstLine({ flowCounters, flows }, counter("hits"))).toContain(
      'flow "web", which counts in counter "hits", does not match',
    );
  });
});
