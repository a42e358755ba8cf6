/** Who wrote a register: random chains of writes, and what the sentences of explanations say of them. */
import { expect, test } from "vitest";
import { openTracer, why } from "../../../src/explain/index.js";
import { buildFrame } from "../../../src/packet/index.js";
import { loadScenario } from "../../../src/scenario/index.js";
import { Random } from "../../oracle/generate/random.js";
import { seedFor } from "../../assembly/support/core.js";
import { checkReached, rounds } from "../../support/tier.js";

/** A rule of a chain, and the register that it writes; null for none. */
interface Link {
  readonly writes: number | null;
  readonly by: "rule" | "meter" | "first-hit flag" | "none";
  readonly actions: readonly object[];
}

const frame = buildFrame([{ header: "ethernet" }, { header: "ipv4" }, { header: "tcp", destination_port: 443 }]);

/** Those that stateful actions can write. */
const REGISTERS = [1, 3, 5] as const;

function drawLink(random: Random, n: number, next: string): Link {
  const register = random.pick(REGISTERS);
  const field = `misc2.metadata_reg_c_${register}`;
  switch (random.below(5)) {
    case 0:
      return { writes: null, by: "none", actions: [{ table: next }] };
    case 1:
      return { writes: register, by: "meter", actions: [{ action: `meter ${n}` }] };
    case 2: {
      const aso = { object: "seen", offset: n, flags: "first_hit_set", return_reg_c: register };
      return { writes: register, by: "first-hit flag", actions: [{ aso }, { table: next }] };
    }
    default:
      return {
        writes: register,
        by: "rule",
        actions: [{ modify: [{ set: field, to: random.below(2) * 7 }] }, { table: next }],
      };
  }
}

function scenarioOf(links: readonly Link[], last: object): object {
  const tables = [...links.keys(), links.length].map((n) => ({ name: `t${n}`, level: n }));
  const meters = links.flatMap(({ by, writes }, n) =>
    by !== "meter"
      ? []
      : {
          name: `meter ${n}`,
          flow_meter: { next_table: `t${n + 1}`, reg_c_index: writes, meter_mode: "pkt", cir: 1000, cbs: 1 },
        },
  );
  return {
    flowsteer: 1,
    queues: [{ name: "q" }],
    tables,
    asoObjects: [{ name: "seen", first_hit: [] }],
    actions: meters,
    rules: [
      ...links.map(({ actions }, n) => ({ name: `r${n}`, table: `t${n}`, match: {}, actions })),
      { name: "last", table: `t${links.length}`, match: last, actions: [{ queue: "q" }] },
    ],
  };
}

/** What the sentence about a register begins with. */
function expected(links: readonly Link[], register: number): RegExp {
  const n = links.findLastIndex(({ writes }) => writes === register);
  if (n < 0) return new RegExp(`^no rule wrote register C${register} before$`);
  const { by } = links[n] as Link;
  if (by === "rule") return new RegExp(`^rule "r${n}" wrote it$`);
  return by === "meter"
    ? new RegExp(`^meter "flow_meter \\(t${n + 1}\\)" coloured`)
    : new RegExp(`^first-hit flag "seen\\[${n}\\]" was`);
}

test("sentences name the action that wrote the register, and no other", async () => {
  const random = new Random(seedFor("writers"));
  const seen = new Set<string>();
  for (let i = 0; i < rounds(100); i++) {
    const length = 1 + random.below(4);
    const links = Array.from({ length }, (_, n) => drawLink(random, n, `t${n + 1}`));
    const register = random.pick(REGISTERS);
    const document = scenarioOf(links, { [`misc2.metadata_reg_c_${register}`]: 99 });
    const { device } = await loadScenario(document);
    const text = JSON.stringify(document);
    const { trace } = await openTracer(device).then((tracer) => ({ trace: tracer.trace(1, frame) }));
    // What the core says of the frame that has ended.
    const noted = trace.steps.flatMap((step) => (step.kind === "action" ? (step.registers ?? []) : []));
    expect([...new Set(noted)].sort(), text).toEqual(Object.keys(trace.outcome.registers).sort());
    const { reasons, mistake } = await why(device, 1, frame, { kind: "rule", name: "last" });
    const [reason] = reasons;
    if (reason?.kind !== "no match") throw new Error(text);
    expect(reason.differences[0]?.note, text).toMatch(expected(links, register));
    const writer = links.findLast(({ writes }) => writes === register)?.by ?? "nothing";
    seen.add(writer);
    expect(mistake?.name ?? null, text).toBe(MISTAKES[writer] ?? null);
  }
  checkReached(() => expect([...seen].sort()).toEqual(["first-hit flag", "meter", "nothing", "rule"]));
});

const MISTAKES: Readonly<Record<string, string>> = {
  meter: "meter-colour",
  "first-hit flag": "first-hit-state",
  nothing: "register-not-written",
};
