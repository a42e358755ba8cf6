/** Planted faults of matchers: what they ask, what values say, how much room they have. */

const REFUSED = ["test/mlx5dv/dr/matchers.test.ts", "test/mlx5dv/dr/matcherFields.test.ts"];
const WAY = ["test/mlx5dv/dr/matcherWay.test.ts"];
const LAYOUT = ["test/mlx5dv/dr/layout.test.ts"];

const checks = (id, search, replace, breaks, sees = REFUSED) => {
  return { id, file: "src/model/table/matcherChecks.ts", search, replace, breaks, sees };
};
const model = (name, id, search, replace, breaks, sees) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};

export const MATCHERS = [
  model(
    "deviceMask",
    "version-mask",
    "checkVersions(call, this.#checks, versions, key);",
    "{}",
    "an IP version other than the mask's",
    REFUSED,
  ),
  checks("version-errno", 'checks === "manual" ? differs(i) : outside(i)', "outside(i)", "its errno under manual"),
  checks("version-bits-first", 'checks === "manual" ? differs(i) : outside(i)', "differs(i)", "bits before the number"),
  checks("version-kernel", 'if (checks === "kernel") return [0, 0];', "", "ip_version as a plain mask"),
  checks("size-kernel", "(kernel && size === 0)", "false", "a mask of no bytes, for the kernel"),
  checks("priority-kernel", "if (priority > LAST_KERNEL_PRIORITY)", "if (priority > 16)", "the kernel's priorities"),
  checks("source-port-part", "port !== 0 && port !== 0xffff", "port === 1", "a source port that is masked in part"),
  checks("source-port-vport", "port > vports && port", "port > vports + 1 && port", "the source port of no vport", WAY),
  checks("source-sent", 'SOURCES.has(name) && type === "nic_tx"', "false", "sources on the send path", WAY),
  checks("empty-mask", "criteria === 0 || definers ||", "criteria === 0 ||", "criteria that mask nothing"),
  checks("never-matched", '  "misc.inner_esp_spi",\n', "", "a field that no steering entry has"),
  checks("tunnel-kinds", "Geneve: /^misc3?\\.geneve_/", "Geneve: /^misc3\\.geneve_/", "fields of two tunnels"),
  checks("version-needed", "versions.includes(version)", "version !== 0", "fields of one version under the other"),
  checks("frag-alone", "if (version === 0 && own", "if (version !== 0 && own", "frag without L2 and ip_version"),
  checks("cvlan-wins", "value[byte] = bits & ~svlan", "value[byte] = bits & ~cvlan", "a value with both tags"),
  model("parse", "parse-way", "field.ofWay || ", "", "parse tells of a way that no frame has gone", [
    "test/model/match/fields.test.ts",
  ]),
  model("classifier", "room-sum", "    this.#room = room;\n", "", "the rooms of several matchers", LAYOUT),
  model("matcher", "room-resizable", "const kept = stays ? rules : 0;", "const kept = rules;", "RESIZABLE", LAYOUT),
  model(
    "matcher",
    "room-destroyed",
    "if (this.#room > 0) this.reserve(call, 0, false);",
    "",
    "a destroyed matcher keeps its room",
    LAYOUT,
  ),
  {
    id: "parameters-root",
    file: "src/mlx5dv/params.ts",
    search: "if (options.root !== true)",
    replace: "if (options.root === true)",
    breaks: "how device bytes mask ip_version",
    sees: REFUSED,
  },
  {
    id: "room-impossible",
    file: "assembly/classify/hashTable.ts",
    search: "  if (more * BUCKET_SIZE > <i64>arenaRoom()) return false;\n",
    replace: "",
    breaks: "room that cannot be had eats what there is",
    sees: LAYOUT,
  },
];
