/** Planted faults in lists of actions, domains, rules of two sides, rules that wait, and many rules at once. */

const LISTS = ["test/mlx5dv/dr/actionLists.test.ts"];
const ACTIONS = ["test/mlx5dv/dr/actions.test.ts"];
const DOMAINS = ["test/mlx5dv/dr/domains.test.ts"];
const EXECUTION = ["test/mlx5dv/dr/execution.test.ts"];
const ASYNC = ["test/mlx5dv/dr/asyncRules.test.ts"];
const BULK = ["test/mlx5dv/dr/bulk.test.ts"];
const ORDERS = ["test/model/action/order.test.ts"];

const model = (name, id, search, replace, breaks, sees) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};

export const RULES = [
  // the order of execution, and sides
  model(
    "actionList",
    "received-order",
    '"push", "meter", "track", "count"',
    '"count", "push", "meter", "track"',
    "counting on receive",
    EXECUTION,
  ),
  model(
    "actionList",
    "sent-order",
    '"count", "modify", "push"',
    '"modify", "push", "count"',
    "counting what is sent",
    EXECUTION,
  ),
  model(
    "sides",
    "side-of-wire",
    "=== VPORT_UPLINK ? WIRE",
    "!== VPORT_UPLINK ? WIRE",
    "the side of source_port",
    EXECUTION,
  ),
  model("sides", "one-side", "=== 0xffff) {", "=== 0xfffff) {", "a matcher of one side has two", LISTS),
  model(
    "rule",
    "side-key",
    "SIDE_VALUE[EXT_SIDE] = side;",
    "SIDE_VALUE[EXT_SIDE] = 1;",
    "the half for functions",
    EXECUTION,
  ),
  model("rule", "twin-stays", "if (this.twin !== 0) core", "if (false) core", "a half is never removed", EXECUTION),
  model("rule", "half-undone", "this.device.core.exports.removeRule(this.handle);", "", "half a rule", EXECUTION),
  model("rule", "halves-alike", "word === otherRecord[i]", "true", "both sides do the same", EXECUTION),
  model(
    "classifier",
    "twin-rank",
    "for (const one of [handle, twin]) {",
    "for (const one of [handle]) {",
    "renumbering half a rule",
    ["test/model/table/classifier.test.ts"],
  ),
  // lifetimes
  model("action", "holds-count", "for (const one of holds) one.users++;", "", "what actions hold", ACTIONS),
  model(
    "action",
    "holds-released",
    "for (const one of this.holds) one.users--;",
    "",
    "what destroyed actions held",
    ACTIONS,
  ),
  model(
    "action",
    "record-released",
    "for (const { address, bytes } of this.#records) release",
    "for (const { address, bytes } of NO_RECORDS) release",
    "records leak",
    ACTIONS,
  ),
  model(
    "domainActions",
    "array-holds",
    "holds: [domain, ...actions],",
    "holds: [domain],",
    "members in use can be destroyed",
    ACTIONS,
  ),
  // what is refused
  model("actionPlace", "other-function", "action.function === owner", "true", "a queue of another function", DOMAINS),
  model("actionPlace", "root-level", "rootLevel === isRoot", "true", "actions of another level", LISTS),
  model("actionPlace", "host-alone", 'type === "nic_rx" ||', "true ||", "tags outside NIC_RX", LISTS),
  model(
    "actionOrder",
    "push-then-aso",
    "encap: ENCAP, ...behindPush }",
    "encap: ENCAP }",
    "steps of the automaton",
    ORDERS,
  ),
  model("actionOrder", "two-tags-to-pop", 'kind === "popVlan" || kind', "kind", "two pops", LISTS),
  model("actionDriverChecks", "third-push", "before === 2)", "before === 3)", "the errno of a third push", LISTS),
  model(
    "actionDriverChecks",
    "sides-checked",
    "of sides) {",
    "of sides.slice(0, 1)) {",
    "the second side's automaton",
    LISTS,
  ),
  model("actionDriverChecks", "one-way", 'step === "push" || step', "step", "VLAN push of the first device", LISTS),
  model("actionDriverChecks", "root-kinds", "ROOT_KINDS.has(action.kind)", "true", "kinds of root tables", LISTS),
  model(
    "steeringAnchor",
    "root-slot",
    "trappingSlot(priority) - 1",
    "trappingSlot(priority) + 1",
    "the first rule of a priority",
    ACTIONS,
  ),
  model("domainActions", "vport-range", "<= vports ||", "< vports ||", "the last function", ACTIONS),
  // domains
  model("domain", "root-only", "!context.function.managesSwitch", "false", "FDB domains of VFs", DOMAINS),
  model("domain", "sent-tables", "nic_tx: TABLE_SEND", "nic_tx: 0", "the end of tables of the send path", DOMAINS),
  model("domain", "fdb-tables", "fdb: TABLE_FDB", "fdb: 0", "the end of tables of the eSwitch", DOMAINS),
  model(
    "domain",
    "later-tables",
    "(this.#reclaims ? 0 : TABLE_KEEPS)",
    "TABLE_KEEPS",
    "tables made after reclaim",
    DOMAINS,
  ),
  model("domain", "sync-trims", "if ((flags & SYNC_MEM) === 0) return;", "return;", "MEM gives nothing back", DOMAINS),
  model("domain", "sync-flags", "(flags & (SYNC_SW | SYNC_HW))", "(flags & SYNC_SW)", "HW includes SW", ASYNC),
  // duplicates
  model(
    "rule",
    "duplicates-in-core",
    "if (!found.destroyed) refuse",
    "if (false) refuse",
    "duplicates of rules that are there",
    DOMAINS,
  ),
  model(
    "rule",
    "duplicates-wait",
    "if (waits === true) refuse",
    "if (false) refuse",
    "duplicates of rules that wait",
    ASYNC,
  ),
  model(
    "rule",
    "duplicates-of-sides",
    "SIDE_VALUE[EXT_SIDE] = SIDE_WIRE;",
    "{}",
    "duplicates of rules of two sides",
    DOMAINS,
  ),
  model(
    "rule",
    "duplicates-matcher",
    "|| found.matcher !== matcher) break",
    ") break",
    "duplicates of another matcher",
    DOMAINS,
  ),
  // rules that wait
  model(
    "rule",
    "own-value",
    "value: value.slice(), ranges",
    "value, ranges",
    "a rule that waits has its own value",
    ASYNC,
  ),
  model("heldRules", "never-made", "else if (!rule.destroyed) {", "else {", "a rule that was destroyed is made", ASYNC),
  model("heldRules", "done-again", "this.#changes.slice(done)", "[]", "what waits when memory ends", ASYNC),
  model(
    "heldRules",
    "settles",
    "for (const [held] of leaving) held.apply(call);",
    "",
    "what only leaving rules use",
    ASYNC,
  ),
  model("heldRules", "settles-early", "< object.users) return;", "< 0) return;", "a sync that nobody asked for", ASYNC),
  // many at once
  model("bulk", "bulk-versions", "checkAllVersions(request);", "", "ip_version of many rules", BULK),
  model(
    "bulk",
    "bulk-undone",
    "for (const rule of rules.reverse()) rule.withdraw();",
    "",
    "rules that were made before memory ended",
    BULK,
  ),
  model("bulk", "bulk-users", "matcher.users += count;", "", "a matcher in use can be destroyed", BULK),
  model(
    "bulk",
    "bulk-duplicates",
    "if (!isRoot && !domain.allowsDuplicates) return false;",
    "",
    "duplicates among many",
    BULK,
  ),
  model(
    "bulk",
    "bulk-taken-back",
    "for (const rule of rules.reverse()) rule.takeBack();",
    "",
    "rules made one by one",
    BULK,
  ),
  {
    id: "bulk-list",
    file: "src/engine/bulk.ts",
    search: "if (this.#list !== record) this.#layList(record, lists);",
    replace: "if (this.#list === null) this.#layList(record, lists);",
    breaks: "each rule's own actions",
    sees: BULK,
  },
];
