/** A scenario as a TypeScript program with the C names of `flowsteer/verbs` and `flowsteer/mlx5dv`. */
import { hexOf } from "../../../base/hex.js";
import { filterNumber, type FilterField, type MatchSpec, type Spec } from "../../../model/match/flowSpec.js";
import type { Scenario } from "../../../scenario/document.js";
import type { Format } from "../../writing/format.js";
import { programOf } from "../../program/build.js";
import { commentText, DOMAINS, identifiers, REFORMATS } from "../../program/names.js";
import type { Program, ProgramAction, ProgramBytes, ProgramFlow } from "../../program/program.js";

export const TYPESCRIPT: Format = {
  title: "a TypeScript program with the functions of flowsteer",
  write: (scenario, findings) => new Writer(scenario, programOf(scenario, findings)).text(),
};

const FLOW_TYPES = ["NORMAL", "ALL_DEFAULT", "MC_DEFAULT", "SNIFFER"];

class Writer {
  readonly #domains: readonly string[];
  readonly #named: Readonly<Record<"queues" | "counters" | "tables" | "matchers" | "flowCounters", readonly string[]>>;

  constructor(
    private readonly scenario: Scenario,
    private readonly program: Program,
  ) {
    const of = (kind: string, list: readonly { readonly name: string }[]): string[] =>
      identifiers(
        kind,
        list.map(({ name }) => name),
      ).map((name) => name.toLowerCase());
    this.#domains = program.domains;
    this.#named = {
      queues: of("queue", program.queues),
      counters: of("counter", program.counters),
      tables: of("table", program.tables),
      matchers: of("matcher", program.matchers),
      flowCounters: of("counters", program.flowCounters),
    };
  }

  text(): string {
    const { title, queues, counters, flows, flowCounters } = this.program;
    const body = [
      ...section(
        "Queues, which take every frame",
        queues.map(({ name, port }, n) => {
          return `export const ${this.#named.queues[n] ?? ""} = createSink(context, ${JSON.stringify(name)}, ${port});`;
        }),
      ),
      ...section("Counters: ALLOC_FLOW_COUNTER", this.#counters()),
      ...section("Tables", this.#tables()),
      ...section(
        "Actions",
        this.program.actions.map((action, n) => `const action${n + 1} = ${this.#action(action)};`),
      ),
      ...section("Matchers and their rules", this.#rules()),
      ...section(
        "Counters of flows",
        flowCounters.flatMap(({ points }, n) => {
          const name = this.#named.flowCounters[n] ?? "";
          return [
            `export const ${name} = ib.ibv_create_counters(context, { comp_mask: 0 });`,
            ...points.map(({ index, counts }) => {
              return `ib.ibv_attach_counters_point_flow(${name}, { counter_desc: ib.IBV_COUNTER_${counts.toUpperCase()}, index: ${index} }, null);`;
            }),
          ];
        }),
      ),
      ...section(
        "Flows",
        flows.map((flow) => this.#flow(flow)),
      ),
    ];
    const lines = [
      `// ${commentText(title)}. Written by flowsteer export.`,
      `import { createDevice${queues.length > 0 ? ", createSink" : ""} } from "flowsteer";`,
      ...(this.#domains.length + counters.length > 0 ? ['import * as dv from "flowsteer/mlx5dv";'] : []),
      'import * as ib from "flowsteer/verbs";',
      "",
      `export const device = await createDevice(${JSON.stringify(this.scenario.device ?? {})});`,
      "const context = ib.ibv_open_device(device);",
      ...(/\bbytes\(/.test(body.join("\n")) ? BYTES : []),
      ...body,
    ];
    return `${lines.join("\n")}\n`;
  }

  #counters(): string[] {
    return this.program.counters.map(({ bulkLog }, n) => {
      const bytes = `bytes(16, { 0: "0939"${bulkLog === 0 ? "" : `, 12: "${bulkLog.toString(16).padStart(2, "0")}"`} })`;
      return `export const ${this.#named.counters[n] ?? ""} = dv.mlx5dv_devx_obj_create(context, ${bytes}, 16, new Uint8Array(16), 16);`;
    });
  }

  #tables(): string[] {
    return [
      ...this.#domains.map((type) => {
        const number = `dv.MLX5DV_DR_DOMAIN_TYPE_${DOMAINS[type as keyof typeof DOMAINS]}`;
        return `export const ${type} = dv.mlx5dv_dr_domain_create(context, ${number});`;
      }),
      ...this.program.tables.map(({ domain, level }, n) => {
        return `export const ${this.#named.tables[n] ?? ""} = dv.mlx5dv_dr_table_create(${this.#domains[domain] ?? ""}, ${level});`;
      }),
    ];
  }

  #action(action: ProgramAction): string {
    const create = (what: string, ...args: readonly (string | number)[]): string =>
      `dv.mlx5dv_dr_action_create_${what}(${args.join(", ")})`;
    const domain = (at: number): string => this.#domains[at] ?? "";
    const flags = (root: boolean): string => (root ? "dv.MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL" : "0");
    switch (action.kind) {
      case "drop":
      case "default_miss":
      case "pop_vlan":
        return create(action.kind);
      case "tag":
        return create("tag", action.tag);
      case "dest_ibv_qp":
        return create("dest_ibv_qp", this.#named.queues[action.queue] ?? "");
      case "dest_table":
        return create("dest_table", this.#named.tables[action.table] ?? "");
      case "dest_root_table":
        return create("dest_root_table", this.#named.tables[action.table] ?? "", action.priority);
      case "flow_counter":
        return create("flow_counter", this.#named.counters[action.counter] ?? "", action.offset);
      case "dest_vport":
        return create("dest_vport", domain(action.domain), action.vport);
      case "dest_ib_port":
        return create("dest_ib_port", domain(action.domain), action.port);
      case "push_vlan":
        return create("push_vlan", domain(action.domain), `0x${action.header.toString(16)}`);
      case "packet_reformat": {
        const type = `dv.MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_${REFORMATS[action.type] ?? action.type}`;
        const { length } = action.data;
        const data = length === 0 ? "null" : `bytes(${length}, { 0: "${hexOf(action.data)}" })`;
        return create("packet_reformat", domain(action.domain), flags(action.root), type, length, data);
      }
      case "modify_header": {
        const words = action.words.map((word) => `0x${word.toString(16).padStart(16, "0")}n`);
        const size = 8 * words.length;
        return create("modify_header", domain(action.domain), flags(action.root), size, `[${words.join(", ")}]`);
      }
      case "dest_array": {
        const members = action.members.map(({ dest, reformat }) =>
          reformat < 0
            ? `{ type: dv.MLX5DV_DR_ACTION_DEST, dest: action${dest + 1} }`
            : `{ type: dv.MLX5DV_DR_ACTION_DEST_REFORMAT, dest_reformat: { reformat: action${reformat + 1}, dest: action${dest + 1} } }`,
        );
        return create("dest_array", domain(action.domain), members.length, `[${members.join(", ")}]`);
      }
    }
  }

  #rules(): string[] {
    const { matchers, rules } = this.program;
    const lines = matchers.map(({ table, priority, criteria, mask }, n) => {
      const args = [this.#named.tables[table] ?? "", priority, `0x${criteria.toString(16)}`, parameters(mask)];
      return `export const ${this.#named.matchers[n] ?? ""} = dv.mlx5dv_dr_matcher_create(${args.join(", ")});${comment(mask)}`;
    });
    for (const { name, matcher, value, actions } of rules) {
      const list = `[${actions.map((at) => `action${at + 1}`).join(", ")}]`;
      const args = [this.#named.matchers[matcher] ?? "", parameters(value), actions.length, list];
      lines.push(`// ${commentText(name)}`, `dv.mlx5dv_dr_rule_create(${args.join(", ")});${comment(value)}`);
    }
    return lines;
  }

  #flow({ name, queue, request }: ProgramFlow): string {
    const { type, priority, port, flags, specs } = request;
    const attr = [
      `type: ib.IBV_FLOW_ATTR_${FLOW_TYPES[type] ?? type}`,
      `priority: ${priority}`,
      `port: ${port}`,
      `flags: ${flags}`,
      `specs: [\n${specs.map((spec) => `    ${this.#spec(spec)},\n`).join("")}  ]`,
    ];
    return `// ${commentText(name)}\nib.ibv_create_flow(${this.#named.queues[queue] ?? ""}, {\n  ${attr.join(",\n  ")},\n});`;
  }

  #spec(spec: Spec): string {
    if (spec.kind === "match") {
      const type = `ib.${spec.layout.name}${spec.inner ? " | ib.IBV_FLOW_SPEC_INNER" : ""}`;
      return `{ type: ${type}, val: ${filter(spec, "val")}, mask: ${filter(spec, "mask")} }`;
    }
    if (spec.kind === "tag") return `{ type: ib.IBV_FLOW_SPEC_ACTION_TAG, tag_id: ${spec.tag_id} }`;
    if (spec.kind === "count") {
      return `{ type: ib.IBV_FLOW_SPEC_ACTION_COUNT, counters: ${this.#named.flowCounters[Number(spec.counters)] ?? ""} }`;
    }
    return "{ type: ib.IBV_FLOW_SPEC_ACTION_DROP }";
  }
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `// ${title}.`, ...lines];
}

/** Runs of bytes that are not zero, by the place where they begin. */
function parameters({ bytes }: ProgramBytes): string {
  const runs: string[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0) continue;
    let end = at;
    while (end < bytes.length && bytes[end] !== 0) end++;
    runs.push(`${at}: "${hexOf(bytes.subarray(at, end))}"`);
    at = end;
  }
  return `bytes(${bytes.length}, {${runs.length === 0 ? "" : ` ${runs.join(", ")} `}})`;
}

function comment({ fields }: ProgramBytes): string {
  return fields.length === 0 ? "" : ` // ${commentText(fields.map(({ text }) => text).join(", "))}`;
}

function filter(spec: MatchSpec, which: "val" | "mask"): string {
  const asked = spec.layout.fields.filter((field) => filterNumber(spec.mask, field) !== 0n);
  const texts = asked.map((field) => `${field.name}: ${valueText(spec[which], field)}`);
  return texts.length === 0 ? "{}" : `{ ${texts.join(", ")} }`;
}

function valueText(bytes: Uint8Array, field: FilterField): string {
  if (field.size <= 4) return `0x${filterNumber(bytes, field).toString(16)}`;
  return `bytes(${field.size}, { 0: "${hexOf(bytes.subarray(field.at, field.at + field.size))}" })`;
}

const BYTES = [
  "",
  "/** Bytes of zero with these parts in them, in hexadecimal digits. */",
  "function bytes(size: number, parts: Record<number, string>): Uint8Array {",
  "  const made = new Uint8Array(size);",
  "  for (const [at, part] of Object.entries(parts)) {",
  "    (part.match(/../g) ?? []).forEach((digits, n) => (made[Number(at) + n] = Number.parseInt(digits, 16)));",
  "  }",
  "  return made;",
  "}",
];
