/** Planted faults of functions, of ways through the eSwitch, and of what leaves by ports. No core is built for them. */

const SEEN = [
  "test/model/device/functions.test.ts",
  "test/model/device/eswitch.test.ts",
  "test/model/traffic/forwarding.test.ts",
  "test/model/flow/hostRules.test.ts",
];

const model = (name, id, search, replace, breaks) => {
  return { id, file: `src/model/${name}.ts`, search, replace, breaks, sees: SEEN };
};

export const FUNCTIONS = [
  model(
    "context",
    "function-opened",
    "this.function = owner;",
    "this.function = device.function(0);",
    "VFs are the PF",
  ),
  model(
    "deviceFunction",
    "function-nic-tx",
    'this.stages.pin(call, "egress")',
    'this.stages.pin(call, "root")',
    "NIC_TX",
  ),
  model("hostRules", "function-host-label", "of.managesSwitch ? ", "true ? ", "host queues of VFs are those of the PF"),
  model(
    "stages",
    "function-unlinked",
    "setVport(vport, this.received);",
    "setVport(0, this.received);",
    "VFs get nothing",
  ),
  model(
    "stages",
    "eswitch-unknown",
    "device.core.exports.setFdb(this.switched);",
    "{}",
    "what functions send passes the eSwitch by",
  ),
  model("traffic", "eswitch-passed-by", "pf.switched || ", "", "the wire comes to the PF"),
  model(
    "traffic",
    "sent-by-pf",
    ": from.stages.sent)",
    ": this.#device.function(0).stages.sent)",
    "the send path of VFs",
  ),
  model(
    "traffic",
    "sent-without-number",
    "{ vport: from.vport, qp_num, metadata }",
    "{ vport: from.vport, qp_num: 0, metadata }",
    "who sent a frame",
  ),
  model(
    "traffic",
    "looped-from-wire",
    "vport: VPORT_MANAGER, qp_num: sender.qp_num",
    "vport: VPORT_UPLINK, qp_num: sender.qp_num",
    "who sent what is looped back",
  ),
  model(
    "traffic",
    "departure-late",
    "after?.(first);",
    "if (next === frames.length) after?.(first);",
    "frames leave behind the next batch",
  ),
  model(
    "send",
    "loopback-switched",
    "if (switched || !(own",
    "if (!(own",
    "loopback of what a rule has sent to a port",
  ),
  model("send", "loopback-best", 'if (sent.verdict !== "transmit") return sent;', "", "what the eSwitch has delivered"),
  model(
    "send",
    "loopback-first",
    'return stayed.find(({ verdict }) => verdict === "deliver") ?? (leaves',
    "return (leaves",
    "a frame that was delivered beside one that left",
  ),
  model(
    "outcomeReader",
    "changed-unseen",
    "(flags & DEST_CHANGED) === 0 ? input",
    "true ? input",
    "outcomes have what came in",
  ),
  model(
    "outcomeReader",
    "changed-view",
    "this.batch.frameAt(at).slice()",
    "this.batch.frameAt(at)",
    "the next batch writes over outcomes",
  ),
  model("outcomeReader", "register-names", '["C0", "C1",', '["C1", "C0",', "names of registers"),
  model(
    "input",
    "onward-length",
    "wireLengthOf(was, own) - was.length + now.length",
    "now.length",
    "the length on the wire of what is forwarded",
  ),
  model("cable", "circle-deep", "before.deep === MOST_DEEP || ", "", "long circles of cables"),
  model(
    "cable",
    "circle-listener",
    "crossed = { deep: 0, all: 0 };\n    try",
    "try",
    "what a listener sends is part of a circle",
  ),
  model("cable", "circle-once", "if (before.deep === 0) before.all = 0;", "", "circles use up cables"),
];
