/** Planted faults of flows in device bytes, steering anchors, and commands that destroy. */

const FLOWS = ["test/mlx5dv/flow/createFlow.test.ts"];
const REFUSED = ["test/mlx5dv/flow/createFlowRefused.test.ts"];
const TABLES = ["test/mlx5dv/flow/createFlowTables.test.ts"];
const RDMA = ["test/mlx5dv/flow/createFlowRdma.test.ts"];
const DESTROYED = ["test/mlx5dv/devx/destroy.test.ts"];
const CHAINS = ["test/mlx5dv/devx/tables.test.ts"];
const DATA = ["test/mlx5dv/devx/asoData.test.ts"];

const model = (name, id, search, replace, breaks, sees) => {
  return { id: `create-flow-${id}`, file: `src/model/${name}.ts`, search, replace, breaks, sees };
};
const flow = (...fault) => model("deviceFlow", ...fault);
const actions = (...fault) => model("deviceFlowActions", ...fault);
const matcher = (...fault) => model("flowMatcher", ...fault);
const anchor = (...fault) => model("steeringAnchor", ...fault);

export const CREATE_FLOW = [
  flow("group-mac", "asks(OUTER + LAYER_DMAC, 1, 1) || ", "", "the group bit of a MAC", FLOWS),
  flow("group-rdma", 'const ordered = stage === "root" || stage === "egress";', "const ordered = true;", "RoCE", RDMA),
  flow("loops", "    return true;", "    return false;", "frames that come back", FLOWS),
  flow("sends", 'sends: domainType === "nic_tx"', "sends: false", "what is sent goes on", RDMA),
  flow("managed", "if (!device.managedFlowSteering) {", "if (false) {", "devices without steering", REFUSED),
  flow("takes", "matcher.checkTakesFlows(call);", "", "what the kernel finds when flows are made", REFUSED),
  actions("tag-bits", "const TAG_END = 2 ** 24;", "const TAG_END = 2 ** 25;", "the 25th bit", REFUSED),
  actions("offset-end", "if (offset >= object.size)", "if (offset > object.size)", "the end of a bulk", REFUSED),
  actions("offset", "new BulkCounter(object, offset)", "new BulkCounter(object, 0)", "the first of a bulk", FLOWS),
  actions("three", "const KERNEL_FLOW_ACTIONS = 2;", "const KERNEL_FLOW_ACTIONS = 3;", "three actions", REFUSED),
  actions(
    "miss",
    "return { target: { op: Op.default_miss, operand: 0 }, holds: [] };",
    "return NOWHERE;",
    "where a miss goes",
    FLOWS,
  ),
  actions(
    "table-held",
    "operand: object.classifier.table }, holds: [object] }",
    "operand: object.classifier.table }, holds: [] }",
    "a table that is in use",
    TABLES,
  ),
  actions("rdma-tir", 'if (domainType !== "nic_rx" || rdma)', 'if (domainType !== "nic_rx")', "TIRs for RoCE", REFUSED),
  actions(
    "rdma-change",
    "if (rdma || action.domainType !== domainType) {",
    "if (action.domainType !== domainType) {",
    "changes of RoCE",
    REFUSED,
  ),
  actions(
    "twice",
    "if ((!manual || esp) && kinds.has(action.kind)) {",
    "if (false) {",
    "two changes of a kind",
    REFUSED,
  ),
  actions(
    "owner",
    "if (object.device === device && object.context.function === context.function) return;",
    "if (object.device === device) return;",
    "what another function has",
    TABLES,
  ),
  actions("fdb-tag", 'if (manual && tableType.domainType === "fdb") bad', "if (false) bad", "tags in the FDB", REFUSED),
  actions(
    "endless",
    "if (!manual && counts !== null && sorted.end === null",
    "if (false && counts !== null && sorted.end === null",
    "counters without an end",
    REFUSED,
  ),
  matcher("port", "ask(bits, EXT_PORT + 1, 0xff, this.port & 0xff);", "", "the port of transport tables", RDMA),
  matcher("roce", 'if (rdma && domainType === "nic_rx") ask(', "if (false) ask(", "what is no RoCE", RDMA),
  matcher("named", "known?.transport === true && !named", "false", "transport tables of no port", REFUSED),
  matcher("flags", "if (typed && flags !== 0)", "if (false)", "flags beside a type", REFUSED),
  matcher("egress", "FLOW_TABLE_TYPES[flags === 0 ? 0 : 1]", "FLOW_TABLE_TYPES[0]", "what is sent", FLOWS),
  matcher(
    "used",
    'retire(call, "matcher", this, "destroy its flows first");',
    "this.destroyed = true;",
    "matchers in use",
    ["test/mlx5dv/flow/createFlowAgree.test.ts"],
  ),
  model(
    "flowTableTypes",
    "stage",
    'type("RDMA_TRANSPORT_RX", "rdmaTransportRx"',
    'type("RDMA_TRANSPORT_RX", "rdmaRx"',
    "which comes first",
    RDMA,
  ),
  anchor("slot", "trappingSlot(priority) - 1", "trappingSlot(priority)", "those that let a frame go on", TABLES),
  anchor("last", "if (--table.anchors > 0) return;", "table.anchors--;", "other anchors of a place", TABLES),
  anchor(
    "place",
    "    const key = `${tableType.name} ${priority}`;",
    "    const key = tableType.name;",
    "one priority",
    TABLES,
  ),
  anchor("busy", "if (table.anchors === 1 && table.users > 0)", "if (false)", "anchors in use", TABLES),
  {
    id: "create-flow-count",
    file: "src/mlx5dv/createFlow.ts",
    search: "actions_attr.slice(0, count)",
    replace: "actions_attr.slice()",
    breaks: "actions behind num_actions",
    sees: FLOWS,
  },
  model("devx/destroyCommands", "whole", "object.id === id ? object", "id > 0 ? object", "parts of a bulk", DESTROYED),
  model("devx/destroyCommands", "group", "group.table === table", "group_id > 0", "groups of other tables", DESTROYED),
  model(
    "devx/commands",
    "destroy-status",
    "command.carry(() => destroyObject(command.call, named));",
    "destroyObject(command.call, named);",
    "the status of what is in use",
    DESTROYED,
  ),
  model("devx/flowTable", "chain", "setting.missTable.behind + 1", "1", "chains without an end", CHAINS),
  model("asoObject", "bound", "object, 32) < this.objects", "object, 32) <= this.objects", "one object too far", DATA),
  {
    id: "jump-anew",
    file: "assembly/walk/nextTable.ts",
    search: "  store<u8>(branch, 0, BRANCH_MISSES);\n",
    replace: "",
    breaks: "the misses before a jump",
    sees: CHAINS,
  },
];
