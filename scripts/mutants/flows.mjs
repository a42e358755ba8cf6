/** Planted faults of flows: their bytes, their match, their refusals. No core is built for them. */

const MATCH = ["test/model/flow/specMatch.test.ts", "test/model/flow/specs.test.ts"];
const CHECKS = ["test/model/flow/checks.test.ts", "test/model/flow/specs.test.ts"];
const FORMS = ["test/verbs/flow/attr.test.ts", "test/verbs/flow/bytes.test.ts"];

const fault = (folder, sees) => (name, id, search, replace, breaks) => {
  return { id, file: `src/${folder}/${name}.ts`, search, replace, breaks, sees };
};
const match = fault("model", MATCH);
const check = fault("model", CHECKS);
const layout = fault("model", FORMS);
const form = fault("verbs", FORMS);

export const FLOWS = [
  match("flowMatch", "flow-cvlan", 'copy.name === "vlan_tag"', "false", "a VLAN tag asked without a C-VLAN"),
  match("flowMatch", "flow-presence", "if (asked && copy.here !== null)", "if (false)", "absent headers match zeros"),
  match("flowMatch", "flow-absent", "if (asked && copy.here", "if (copy.here", "a mask of zero asks presence"),
  match(
    "flowMatch",
    "flow-implied",
    "if (here !== null) require",
    "if (false) require",
    "what is implied without presence",
  ),
  match(
    "flowMatch",
    "flow-outside",
    "copy.turn(val[copy.from + i]!) & wanted",
    "copy.turn(val[copy.from + i]!)",
    "value bits outside the mask",
  ),
  match("flowMatch", "flow-flags", "((bits & 4) >> 2)", "(bits & 4)", "more fragments on the wrong bit"),
  match(
    "flowMatch",
    "flow-mpls-level",
    "|| before.inner !== spec.inner",
    "",
    "an MPLS spec over UDP of the other level",
  ),
  match("flowMatch", "flow-mpls-gre", "=== IBV_FLOW_SPEC_GRE ? gre", "=== IBV_FLOW_SPEC_GRE ? udp", "MPLS over GRE"),
  match("flowMatch", "flow-one-ipv4", "? IBV_FLOW_SPEC_IPV4 : type;", "? type : type;", "IPV4 beside IPV4_EXT"),
  match("flowMatch", "flow-contradiction", "if (differing !== 0)", "if (false)", "specs that contradict each other"),
  match("flowMatch", "flow-arp", " && etherType !== ETHERTYPE_ARP", "", "IP beside the EtherType of ARP"),
  match(
    "flowMatch",
    "flow-ether-level",
    "other.level === level ? carrierOf",
    "true ? carrierOf",
    "the EtherType of the other level",
  ),
  match("flowMatch", "flow-group", "= set ? group : 0;", "= group;", "unicast for nobody"),

  check(
    "flowSpecChecks",
    "flow-width",
    '["mask", "val"] as const',
    '["mask"] as const',
    "a flow label beyond its width",
  ),
  check("flowSpecChecks", "flow-tag", "spec.tag_id < 2 ** 24", "spec.tag_id <= 2 ** 24", "a tag of 25 bits"),
  check("flowSpecChecks", "flow-inner", "|| !spec.inner ||", "||", "INNER on what is of the outer packet"),
  check(
    "flowDriverChecks",
    "flow-driver-protocol",
    "before.mask !== protocol.mask || ",
    "",
    "a protocol asked in part",
  ),
  check("flowDriverChecks", "flow-driver-ether", "if (mask !== 0xffffn)", "if (false)", "an EtherType asked in part"),
  check(
    "flowDriverChecks",
    "flow-multicast",
    "(val[0]! & mask[0]! & 0x01)",
    "(val[0]! & 0x01)",
    "multicast without its bit asked",
  ),
  check(
    "flowChecks",
    "flow-normal-only",
    "type === IBV_FLOW_ATTR_NORMAL ? find",
    "true ? find",
    "specs that the driver does not read",
  ),
  check(
    "flowChecks",
    "flow-egress-queue",
    "egressTakesAny && has",
    "has",
    "EGRESS and queues of any type, for drivers",
  ),
  check("flowChecks", "flow-port", "port >= 1 && ", "", "port 0"),

  layout("flowSpec", "flow-mask-moves", "val + ((size - val) >> 1)", "mask", "the masks of larger filters"),
  layout("flowSpec", "flow-mask-fits", "at + known <= size", "at <= size", "a spec too small for its mask"),
  form("flowBytes", "flow-least-size", "if (size < least)", "if (false)", "a spec smaller than its header"),
  form("flowBytes", "flow-later", ".some((byte) => byte !== 0)", ".some(() => false)", "mask bits of a later library"),
  form(
    "flowBytes",
    "flow-odd-size",
    "grows ? 2 * maskAt - val : ",
    "grows ? spec.length : ",
    "an odd byte behind two filters",
  ),
  form("flowBytes", "flow-short", "if (at + size <= bytes.length) return;", "return;", "bytes that end too early"),
  form(
    "flowBytes",
    "flow-offset",
    "view.byteOffset, view.byteLength",
    "0, view.byteLength",
    "bytes inside a larger buffer",
  ),
  form("flowAttr", "flow-misspelt", "if (known.includes(name)) continue;", "continue;", "misspelt fields"),
  form(
    "flowAttr",
    "flow-long-bytes",
    "if (value.length !== size)",
    "if (value.length > size)",
    "too few bytes for a field",
  ),
  form("flowAttr", "flow-too-large", "number >> BigInt(8 * size) !== 0n", "number < 0n", "numbers beyond their field"),
];
