/**
 * A scenario as a C program with libibverbs and libmlx5: it creates the objects, checks each call, waits
 * for Enter, and destroys them in the opposite order.
 */
import type { Format } from "../../writing/format.js";
import { programOf } from "../../program/build.js";
import { commentText, DOMAINS, identifiers, REFORMATS } from "../../program/names.js";
import type { Program, ProgramAction } from "../../program/program.js";
import { byteText, bytesWithFields, literal } from "./data.js";
import { flowLines } from "./flows.js";
import { dataLines, OPEN, PARAMETERS, parametersText, rows } from "./parts.js";

export const C: Format = {
  title: "a C program with libibverbs and libmlx5",
  write: (scenario, findings) => new Writer(programOf(scenario, findings)).text(),
};

/** Lists of objects: in the order of their creation. */
const LISTS = [
  ["queues", "QUEUE", "struct ibv_qp", "ibv_destroy_qp"],
  ["counters", "COUNTER", "struct mlx5dv_devx_obj", "mlx5dv_devx_obj_destroy"],
  ["domains", "DOMAIN", "struct mlx5dv_dr_domain", "mlx5dv_dr_domain_destroy"],
  ["tables", "TABLE", "struct mlx5dv_dr_table", "mlx5dv_dr_table_destroy"],
  ["actions", "ACTION", "struct mlx5dv_dr_action", "mlx5dv_dr_action_destroy"],
  ["matchers", "MATCHER", "struct mlx5dv_dr_matcher", "mlx5dv_dr_matcher_destroy"],
  ["rules", "RULE", "struct mlx5dv_dr_rule", "mlx5dv_dr_rule_destroy"],
  ["flowCounters", "FLOW_COUNTER", "struct ibv_counters", "ibv_destroy_counters"],
  ["flows", "FLOW", "struct ibv_flow", "ibv_destroy_flow"],
] as const;
type ListKey = (typeof LISTS)[number][0];

const ARRAYS: Readonly<Record<ListKey, string>> = {
  queues: "queues",
  counters: "counters",
  domains: "domains",
  tables: "tables",
  actions: "actions",
  matchers: "matchers",
  rules: "rules",
  flowCounters: "flow_counters",
  flows: "flows",
};

class Writer {
  readonly #names: Readonly<Record<ListKey, readonly string[]>>;

  constructor(private readonly program: Program) {
    this.#names = Object.fromEntries(
      LISTS.map(([key, kind]) => {
        const list = program[key] as readonly (string | { name?: string; kind?: string })[];
        return [
          key,
          identifiers(
            kind,
            list.map((one) => (typeof one === "string" ? one : (one.name ?? one.kind ?? ""))),
          ),
        ];
      }),
    ) as unknown as Record<ListKey, readonly string[]>;
  }

  text(): string {
    const { title, counters, matchers, queues, flows } = this.program;
    const usesDevx = counters.length > 0;
    return [
      `/* ${commentText(title)}. Written by flowsteer export. gcc -Wall -Wextra FILE.c -libverbs -lmlx5 */`,
      "#include <arpa/inet.h>",
      "#include <endian.h>",
      "#include <errno.h>",
      "#include <infiniband/mlx5dv.h>",
      "#include <stdio.h>",
      "#include <stdlib.h>",
      "#include <string.h>",
      "",
      "static struct ibv_context *context;",
      ...(queues.length > 0 ? ["static struct ibv_pd *pd;", "static struct ibv_cq *cq;"] : []),
      ...this.#declarations(),
      "",
      "static int failed(const char *what)",
      "{",
      '\tfprintf(stderr, "%s: %s\\n", what, strerror(errno));',
      "\treturn -1;",
      "}",
      ...(matchers.length > 0 ? PARAMETERS : []),
      ...this.#functions(),
      "",
      "static void destroy(void)",
      "{",
      ...this.#destroyed(),
      "}",
      ...OPEN,
      "int main(int argc, char **argv)",
      "{",
      `\tint status = open_device(argc > 1 ? argv[1] : NULL, ${usesDevx ? "MLX5DV_CONTEXT_FLAGS_DEVX" : "0"});`,
      "",
      ...this.#steps().map((step) => `\tif (!status)\n\t\tstatus = create_${step}();`),
      "\tif (!status) {",
      `\t\tprintf("%d rules and %d flows; Enter removes them\\n", ${this.program.rules.length}, ${flows.length});`,
      "\t\tgetchar();",
      "\t}",
      "\tdestroy();",
      "\treturn status ? 1 : 0;",
      "}",
      "",
    ].join("\n");
  }

  #steps(): string[] {
    return LISTS.filter(([key]) => this.program[key].length > 0).map(([key]) => ARRAYS[key]);
  }

  #declarations(): string[] {
    return LISTS.flatMap(([key, kind, type]) => {
      const names = this.#names[key];
      if (names.length === 0) return [];
      return [
        "",
        "enum {",
        ...names.map((name) => `\t${name},`),
        `\t${kind}S`,
        "};",
        `static ${type} *${ARRAYS[key]}[${kind}S];`,
      ];
    });
  }

  #functions(): string[] {
    const bodies: Readonly<Record<ListKey, () => string[]>> = {
      queues: () => this.#queues(),
      counters: () => this.#counters(),
      domains: () =>
        this.program.domains.flatMap((type, n) => {
          const call = `mlx5dv_dr_domain_create(context, MLX5DV_DR_DOMAIN_TYPE_${DOMAINS[type]})`;
          return this.#created("domains", n, call, `domain ${type}`);
        }),
      tables: () =>
        this.program.tables.flatMap(({ name, domain, level }, n) => {
          const call = `mlx5dv_dr_table_create(${this.#of("domains", domain)}, ${level})`;
          return this.#created("tables", n, call, `table ${name}`);
        }),
      actions: () => this.program.actions.flatMap((action, n) => this.#action(action, n)),
      matchers: () => this.#matchers(),
      rules: () => this.#rules(),
      flowCounters: () => this.#flowCounters(),
      flows: () =>
        this.program.flows.flatMap((flow, n) => {
          const counters = this.#names.flowCounters.map((_, at) => this.#of("flowCounters", at));
          return flowLines(flow, this.#of("flows", n), this.#of("queues", flow.queue), counters);
        }),
    };
    return LISTS.flatMap(([key]) => {
      if (this.program[key].length === 0) return [];
      return ["", `static int create_${ARRAYS[key]}(void)`, "{", ...bodies[key](), "\treturn 0;", "}"];
    });
  }

  #of(key: ListKey, at: number): string {
    return `${ARRAYS[key]}[${this.#names[key][at] ?? ""}]`;
  }

  #created(key: ListKey, at: number, call: string, what: string, indent = "\t"): string[] {
    const handle = this.#of(key, at);
    return [`${indent}${handle} = ${call};`, `${indent}if (!${handle})`, `${indent}\treturn failed(${literal(what)});`];
  }

  #queues(): string[] {
    return [
      "\tpd = ibv_alloc_pd(context);",
      "\tif (!pd)",
      '\t\treturn failed("protection domain");',
      "\tcq = ibv_create_cq(context, 1024, NULL, NULL, 0);",
      "\tif (!cq)",
      '\t\treturn failed("completion queue");',
      ...this.program.queues.flatMap(({ name, port, type }, n) => [
        "\t{",
        "\t\tstruct ibv_qp_init_attr init = {",
        `\t\t\t.qp_type = IBV_QPT_${type.toUpperCase()}, .send_cq = cq, .recv_cq = cq,`,
        "\t\t\t.cap = { .max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 },",
        "\t\t};",
        ...this.#created("queues", n, "ibv_create_qp(pd, &init)", `queue ${name}`, "\t\t"),
        `\t\tstruct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = ${port}${type === "ud" ? ", .qkey = 0x11111111" : ""} };`,
        `\t\tint mask = IBV_QP_STATE | IBV_QP_PORT${type === "ud" ? " | IBV_QP_PKEY_INDEX | IBV_QP_QKEY" : ""};`,
        `\t\tif ((errno = ibv_modify_qp(${this.#of("queues", n)}, &attr, mask)))`,
        `\t\t\treturn failed(${literal(`queue ${name} to INIT`)});`,
        "\t\tattr.qp_state = IBV_QPS_RTR;",
        `\t\tif ((errno = ibv_modify_qp(${this.#of("queues", n)}, &attr, IBV_QP_STATE)))`,
        `\t\t\treturn failed(${literal(`queue ${name} to RTR`)});`,
        "\t}",
      ]),
    ];
  }

  /** ALLOC_FLOW_COUNTER (0x939) of the PRM; flow_counter_bulk selects 128 counters and more. */
  #counters(): string[] {
    return this.program.counters.flatMap(({ name, bulkLog }, n) => [
      "\t{",
      `\t\tuint8_t in[16] = { 0x09, 0x39${bulkLog === 0 ? "" : `, [12] = ${byteText(bulkLog)}`} }, out[16] = { 0 };`,
      ...this.#created(
        "counters",
        n,
        "mlx5dv_devx_obj_create(context, in, sizeof in, out, sizeof out)",
        `counter ${name}`,
        "\t\t",
      ),
      "\t}",
    ]);
  }

  #action(action: ProgramAction, n: number): string[] {
    const create = (what: string, args: readonly (string | number)[], indent = "\t"): string[] =>
      this.#created("actions", n, `mlx5dv_dr_action_create_${what}(${args.join(", ")})`, action.comment, indent);
    const flags = (root: boolean): string => (root ? "MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL" : "0");
    switch (action.kind) {
      case "drop":
      case "default_miss":
      case "pop_vlan":
        return create(action.kind, []);
      case "tag":
        return create("tag", [action.tag]);
      case "dest_ibv_qp":
        return create("dest_ibv_qp", [this.#of("queues", action.queue)]);
      case "dest_table":
        return create("dest_table", [this.#of("tables", action.table)]);
      case "dest_root_table":
        return create("dest_root_table", [this.#of("tables", action.table), action.priority]);
      case "flow_counter":
        return create("flow_counter", [this.#of("counters", action.counter), action.offset]);
      case "dest_vport":
        return create("dest_vport", [this.#of("domains", action.domain), action.vport]);
      case "dest_ib_port":
        return create("dest_ib_port", [this.#of("domains", action.domain), action.port]);
      case "push_vlan":
        return create("push_vlan", [this.#of("domains", action.domain), `htonl(0x${action.header.toString(16)})`]);
      case "packet_reformat": {
        const { domain, root, type, data } = action;
        const name = `MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_${REFORMATS[type] ?? type}`;
        const args = [this.#of("domains", domain), flags(root), name];
        if (data.length === 0) return create("packet_reformat", [...args, 0, "NULL"]);
        return [
          "\t{",
          `\t\tstatic uint8_t data[] = {`,
          ...rows(Array.from(data, byteText), 12),
          "\t\t};",
          ...create("packet_reformat", [...args, "sizeof data", "data"], "\t\t"),
          "\t}",
        ];
      }
      case "modify_header":
        return [
          "\t{",
          "\t\t__be64 changes[] = {",
          ...rows(
            action.words.map((word) => `htobe64(0x${word.toString(16).padStart(16, "0")}ull)`),
            1,
          ),
          "\t\t};",
          ...create(
            "modify_header",
            [this.#of("domains", action.domain), flags(action.root), "sizeof changes", "changes"],
            "\t\t",
          ),
          "\t}",
        ];
      case "dest_array":
        return this.#array(action.members, (args) =>
          create("dest_array", [this.#of("domains", action.domain), ...args], "\t\t"),
        );
    }
  }

  #array(
    members: Extract<ProgramAction, { kind: "dest_array" }>["members"],
    create: (args: readonly string[]) => string[],
  ): string[] {
    const list = members.map(({ dest, reformat }, n) => {
      const to = this.#of("actions", dest);
      const both = `struct mlx5dv_dr_action_dest_reformat reformat${n + 1} = { .reformat = ${this.#of("actions", reformat)}, .dest = ${to} };`;
      return reformat < 0
        ? [`\t\tstruct mlx5dv_dr_action_dest_attr dest${n + 1} = { .type = MLX5DV_DR_ACTION_DEST, .dest = ${to} };`]
        : [
            `\t\t${both}`,
            `\t\tstruct mlx5dv_dr_action_dest_attr dest${n + 1} = { .type = MLX5DV_DR_ACTION_DEST_REFORMAT, .dest_reformat = &reformat${n + 1} };`,
          ];
    });
    return [
      "\t{",
      ...list.flat(),
      `\t\tstruct mlx5dv_dr_action_dest_attr *dests[] = { ${members.map((_, n) => `&dest${n + 1}`).join(", ")} };`,
      ...create([String(members.length), "dests"]),
      "\t}",
    ];
  }

  #matchers(): string[] {
    return this.program.matchers.flatMap(({ name, table, priority, criteria, mask }, n) => [
      "\t{",
      ...dataLines("mask", mask.bytes.length, bytesWithFields(mask)),
      ...this.#created(
        "matchers",
        n,
        `mlx5dv_dr_matcher_create(${this.#of("tables", table)}, ${priority}, 0x${criteria.toString(16)}, ${parametersText("mask", mask.bytes.length)})`,
        `matcher ${name}`,
        "\t\t",
      ),
      "\t}",
    ]);
  }

  #rules(): string[] {
    return this.program.rules.flatMap(({ name, matcher, value, actions }, n) => {
      const list = actions.map((at) => this.#of("actions", at));
      const of = list.length === 0 ? "NULL" : "list";
      const call = `mlx5dv_dr_rule_create(${this.#of("matchers", matcher)}, ${parametersText("value", value.bytes.length)}, ${list.length}, ${of})`;
      return [
        "\t{",
        ...dataLines("value", value.bytes.length, bytesWithFields(value)),
        ...(list.length === 0 ? [] : [`\t\tstruct mlx5dv_dr_action *list[] = { ${list.join(", ")} };`]),
        ...this.#created("rules", n, call, `rule ${name}`, "\t\t"),
        "\t}",
      ];
    });
  }

  #flowCounters(): string[] {
    return this.program.flowCounters.flatMap(({ name, points }, n) => [
      "\t{",
      "\t\tstruct ibv_counters_init_attr init = { 0 };",
      ...this.#created("flowCounters", n, "ibv_create_counters(context, &init)", `counters ${name}`, "\t\t"),
      ...points.flatMap(({ index, counts }, at) => [
        `\t\tstruct ibv_counter_attach_attr point${at + 1} = { .counter_desc = IBV_COUNTER_${counts.toUpperCase()}, .index = ${index} };`,
        `\t\tif ((errno = ibv_attach_counters_point_flow(${this.#of("flowCounters", n)}, &point${at + 1}, NULL)))`,
        `\t\t\treturn failed(${literal(`point ${index} of ${name}`)});`,
      ]),
      "\t}",
    ]);
  }

  #destroyed(): string[] {
    const lines = LISTS.toReversed().flatMap(([key, kind, , destroy]) => {
      if (this.#names[key].length === 0) return [];
      return [
        `\tfor (int n = ${kind}S - 1; n >= 0; n--)`,
        `\t\tif (${ARRAYS[key]}[n])`,
        `\t\t\t${destroy}(${ARRAYS[key]}[n]);`,
      ];
    });
    const shared = ["\tif (cq)", "\t\tibv_destroy_cq(cq);", "\tif (pd)", "\t\tibv_dealloc_pd(pd);"];
    return [
      ...lines,
      ...(this.program.queues.length > 0 ? shared : []),
      "\tif (context)",
      "\t\tibv_close_device(context);",
    ];
  }
}
