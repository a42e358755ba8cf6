/** Header changes, registers and tunnels before the tables that match them. */
import {
  ETHERNET,
  ip,
  of,
  queue,
  remove,
  replace,
  request,
  rule,
  scenario,
  tcp,
  to,
  vlan,
  vxlan,
  type Planted,
} from "./shapes.js";

const set = (field: string, value: unknown): object => ({ modify: [{ set: field, to: value }] });
/** One rule in front of another one. */
function twoTables(actions: readonly object[], match: object, frame: readonly object[], more: object = {}): object {
  return scenario({
    tables: {
      root: [["change", {}, [...actions, { table: "next" }]]],
      next: [["wanted", match, to("wanted")]],
    },
    frames: [frame],
    ...more,
  });
}

export const REWRITTEN: readonly Planted[] = [
  {
    name: "decapsulation before the inner match",
    scenario: twoTables([{ reformat: { type: "l2_tunnel_to_l2" } }], { "inner.ipv4_dst": "10.0.0.7" }, vxlan()),
    target: rule("wanted"),
    mistake: "rewritten-before-match",
    first: ["inner.ipv4_dst", 'rule "change" removed the tunnel', "outer.ipv4_dst 10.0.0.7"],
    never: ["add inner"],
    repair: of("rule", "corrects", "outer.ipv4_dst 10.0.0.7 instead of inner.ipv4_dst"),
    correction: [replace("/rules/1/match", { "outer.ipv4_dst": "10.0.0.7" })],
  },
  {
    name: "decapsulation before the match of the VNI",
    scenario: twoTables([{ reformat: { type: "l2_tunnel_to_l2" } }], { "misc.vxlan_vni": 5001 }, vxlan()),
    target: queue("wanted"),
    first: ["misc.vxlan_vni", 'rule "change" removed the tunnel'],
    never: ["add misc"],
    repair: null,
    correction: [replace("/rules/0/match", { "misc.vxlan_vni": 5001 }), replace("/rules/1/match", {})],
  },
  {
    name: "encapsulation before the match of the packet's own address",
    scenario: twoTables(
      [{ reformat: { type: "l2_to_l2_tunnel", headers: vxlan().slice(0, 3).toSpliced(0, 0, ETHERNET) } }],
      { "outer.ipv4_dst": "192.0.2.80" },
      request(),
    ),
    target: rule("wanted"),
    first: ["outer.ipv4_dst is 192.0.2.2, not 192.0.2.80", 'rule "change"'],
    never: ["addresses are swapped"],
    repair: of("rule", "safe", "match"),
    correction: [replace("/rules/1/match", { "inner.ipv4_dst": "192.0.2.80" })],
  },
  {
    name: "DSCP bleached before the match",
    scenario: twoTables([set("outer.ip_dscp", 0)], { "outer.ip_dscp": 46 }, [
      ip("198.51.100.9", "192.0.2.80", { dscp: 46 }),
      tcp(80),
    ]),
    target: rule("wanted"),
    first: ["outer.ip_dscp is 0, not 46", 'rule "change" changed outer.ip_dscp from 46 to 0'],
    never: ["Send the frame with"],
    repair: of("rule", "safe", "match outer.ip_dscp 0 instead of 46"),
    correction: [remove("/rules/0/actions/0")],
  },
  {
    name: "a router's new MAC address before the match of the old one",
    scenario: twoTables([set("outer.dmac", "02:00:00:00:00:77")], { "outer.dmac": "02:00:00:00:00:02" }, [
      { header: "ethernet", destination: "02:00:00:00:00:02" },
      ...request(),
    ]),
    target: queue("wanted"),
    first: ["outer.dmac is 02:00:00:00:00:77", 'rule "change" changed outer.dmac from 02:00:00:00:00:02'],
    never: ["group bit"],
    repair: of("rule", "safe", "match outer.dmac 02:00:00:00:00:77"),
    correction: [replace("/rules/1/match/outer.dmac", "02:00:00:00:00:77")],
  },
  {
    name: "a tag pushed before the match of untagged frames",
    scenario: twoTables([{ push_vlan: { vid: 100 } }], { "outer.cvlan_tag": 0, "outer.tcp_dport": 80 }, request()),
    target: rule("wanted"),
    first: ["outer.cvlan_tag is 1, not 0", 'rule "change"'],
    never: ["a VLAN tag precedes the packet (outer.first_vid absent)"],
    repair: of("rule", "safe", "outer.cvlan_tag"),
    correction: [replace("/rules/1/match/outer.cvlan_tag", 1)],
  },
  {
    name: "the outer tag popped before the match of the second one",
    scenario: twoTables(["pop_vlan" as unknown as object], { "misc.outer_second_vid": 20 }, [
      vlan(10, { type: "0x8100" }),
      vlan(20),
      ...request(),
    ]),
    target: rule("wanted"),
    mistake: "rewritten-before-match",
    first: ["misc.outer_second_vid", 'rule "change"', "removed"],
    never: ["opposite order"],
    repair: of("rule", "corrects", "match outer.first_vid 20 instead of misc.outer_second_vid"),
    correction: [replace("/rules/1/match", { "outer.first_vid": 20 })],
  },
  {
    name: "TTL decremented by an add before the match",
    scenario: twoTables(
      [{ modify: [{ add: "outer.ip_ttl_hoplimit", by: -1 }] }],
      { "outer.ip_ttl_hoplimit": 64 },
      request(),
    ),
    target: rule("wanted"),
    first: ["outer.ip_ttl_hoplimit is 63, not 64", 'rule "change"'],
    never: [],
    repair: of("rule", "corrects", "match outer.ip_ttl_hoplimit 63 instead of 64"),
    correction: [replace("/rules/1/match/outer.ip_ttl_hoplimit", 63)],
  },
  {
    name: "a port copied over the one that is matched",
    scenario: twoTables(
      [{ modify: [{ copy: "outer.tcp_sport", into: "outer.tcp_dport" }] }],
      { "outer.tcp_dport": 80 },
      request(),
    ),
    target: queue("wanted"),
    first: ["outer.tcp_dport is 40000, not 80", 'rule "change" changed outer.tcp_dport from 80 to 40000'],
    never: ["ports are swapped"],
    repair: of("rule", "corrects", "match outer.tcp_dport 40000 instead of 80"),
    correction: [remove("/rules/0/actions/0")],
  },
  {
    name: "a translated address, and an earlier rule for the new one",
    scenario: scenario({
      tables: {
        root: [["nat", { "outer.ipv4_dst": "192.0.2.80" }, [set("outer.ipv4_dst", "10.9.9.9"), { table: "next" }]]],
        next: [
          ["private", { "outer.ipv4_dst": "10.0.0.0/8" }, ["drop"]],
          ["web", { "outer.tcp_dport": 80 }, to("web"), 1],
        ],
      },
      frames: [request()],
    }),
    target: rule("web"),
    first: ['rule "private" took the frame first', 'rule "nat" changed outer.ipv4_dst from 192.0.2.80 to 10.9.9.9'],
    never: [],
    repair: of("rule", "safe", "use priority"),
    correction: [replace("/rules/0/actions/0", set("outer.ipv4_dst", "11.9.9.9"))],
  },
  {
    name: "a register that a second rule overwrites",
    scenario: scenario({
      tables: {
        root: [["zone", {}, [set("misc2.metadata_reg_c_1", 7), { table: "meter" }]]],
        meter: [["class", {}, [set("misc2.metadata_reg_c_1", 3), { table: "next" }]]],
        next: [["wanted", { "misc2.metadata_reg_c_1": 7 }, to("wanted")]],
      },
      frames: [request()],
    }),
    target: rule("wanted"),
    first: ["misc2.metadata_reg_c_1 is 3, not 7", 'rule "class" wrote it'],
    never: ['rule "zone" wrote it', "no rule wrote"],
    repair: of("rule", "safe", "match misc2.metadata_reg_c_1"),
    correction: [remove("/rules/1/actions/0")],
  },
  {
    name: "a meter's colour over a mark in the same register",
    scenario: scenario({
      asoObjects: [{ name: "contract", flow_meter: { meter_mode: "l2_len", cir: 1000000, cbs: 2048 } }],
      tables: {
        root: [["mark", {}, [set("misc2.metadata_reg_c_3", 9), { table: "police" }]]],
        police: [
          [
            "police",
            {},
            [{ aso: { object: "contract", flags: "flow_meter_green", return_reg_c: 3 } }, { table: "next" }],
          ],
        ],
        next: [["wanted", { "misc2.metadata_reg_c_3": 9 }, to("wanted")]],
      },
      frames: [request()],
    }),
    target: rule("wanted"),
    first: ["misc2.metadata_reg_c_3", 'meter "contract', "green"],
    never: ['rule "mark" wrote it', "no rule wrote"],
    repair: null,
    correction: [replace("/rules/1/actions/0/aso/return_reg_c", 5)],
  },
  {
    name: "a register of which a rule writes the low byte only",
    scenario: twoTables(
      [{ modify: [{ set: "misc2.metadata_reg_c_1", to: "5/255" }] }],
      { "misc2.metadata_reg_c_1": "0x105" },
      request(),
    ),
    target: rule("wanted"),
    first: ["misc2.metadata_reg_c_1 is 5, not 261", 'rule "change" wrote it'],
    never: ["no rule wrote"],
    repair: of("rule", "safe", "match misc2.metadata_reg_c_1"),
    correction: [replace("/rules/1/match/misc2.metadata_reg_c_1", 5)],
  },
  {
    name: "the metadata of a sender, and the frame was received",
    scenario: scenario({
      tables: { root: [["wanted", { "misc2.metadata_reg_a": 5, "outer.tcp_dport": 80 }, to("wanted")]] },
      frames: [request()],
    }),
    target: rule("wanted"),
    first: ["misc2.metadata_reg_a is 0, not 5", "0 for received frames"],
    never: ["Send the frame"],
    repair: of("rule", "safe", "misc2.metadata_reg_a"),
    correction: [remove("/rules/0/match/misc2.metadata_reg_a")],
  },
];
