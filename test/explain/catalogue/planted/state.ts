/** Meters, connections, flags, ESP. */
import {
  ip,
  jump,
  payload,
  queue,
  replace,
  request,
  rule,
  scenario,
  tcp,
  to,
  tunnel,
  udp,
  type FrameText,
  type Parts,
  type Planted,
} from "./shapes.js";

/** A meter, and rules for its colours. */
function metered(meter: object, coloured: Required<Parts>["tables"], frames: readonly FrameText[]): object {
  return scenario({
    actions: [{ name: "contract", flow_meter: { next_table: "coloured", reg_c_index: 1, ...meter } }],
    tables: { root: [["in", {}, jump("police")]], police: [["police", {}, [{ action: "contract" }]]], ...coloured },
    frames,
  });
}
const RED = ["red", { "misc2.metadata_reg_c_1": "0/0xff" }, ["drop"]] as const;
const GREEN = ["green", { "misc2.metadata_reg_c_1": "2/0xff" }, to("customer")] as const;
const ALL = ["web", { "outer.tcp_dport": 80 }, to("customer"), 1] as const;

const track = (direction: string) => ({
  aso: { object: "connections", flags: `ct_direction_${direction}`, return_reg_c: 1 },
});
/** A connection of 10.0.0.1 with a server, and a table for what the tracker says. */
function tracked(judged: Required<Parts>["tables"], frames: readonly FrameText[]): object {
  return scenario({
    asoObjects: [{ name: "connections", conn_track: {} }],
    tables: {
      root: [
        ["from inside", { "outer.ipv4_src": "10.0.0.0/8" }, [track("initiator"), { table: "judged" }]],
        ["from outside", { "outer.ipv4_dst": "10.0.0.0/8" }, [track("responder"), { table: "judged" }]],
      ],
      ...judged,
    },
    frames,
  });
}
const INVALID = ["invalid", { "misc2.metadata_reg_c_1": "0x40/0x40" }, ["drop"]] as const;
const VALID = ["valid", {}, to("in"), 1] as const;
const [CLIENT, SERVER] = [ip("10.0.0.1", "192.0.2.80"), ip("192.0.2.80", "10.0.0.1")];
const SYN = [CLIENT, tcp(80, { sequence: 100, window: 1000 })];
const SYN_ACK = [
  SERVER,
  tcp(40000, { source_port: 80, flags: "syn ack", sequence: 500, acknowledgement: 101, window: 1000 }),
];
const ACK = [CLIENT, tcp(80, { flags: "ack", sequence: 101, acknowledgement: 501, window: 1000 })];

const KEY = { key: "000102030405060708090a0b0c0d0e0f", salt: "cafebabe" };
/** A flow that opens the packets of a tunnel. */
const opened = (
  esp: object,
  frame: readonly object[],
  specs: readonly object[] = [{ ipv4: {} }, { esp: { spi: "0x1001" } }],
): object =>
  scenario({
    flowActions: [
      { name: "open", esp: { direction: "decrypt", spi: "0x1001", seq: 1, ...KEY, encap: [{ ipv4: {} }], ...esp } },
    ],
    flows: [{ name: "tunnel", queue: "office", specs: [...specs, { action: "open" }] }],
    frames: [frame],
  });
const [A, B] = ["192.0.2.1", "192.0.2.2"];
const esp = (sequence: number, bytes = 60): object[] => [tunnel("esp", { spi: "0x1001", sequence }), payload(bytes)];

const flags = (first_hit: readonly number[], match: object, offset: number): object =>
  scenario({
    asoObjects: [{ name: "seen", first_hit }],
    tables: {
      root: [
        ["ask", {}, [{ aso: { object: "seen", offset, flags: "first_hit_set", return_reg_c: 1 } }, { table: "next" }]],
      ],
      next: [["known", match, to("known")]],
    },
    frames: [request()],
  });

export const STATE: readonly Planted[] = [
  {
    name: "the second packet of a burst of one",
    scenario: metered({ meter_mode: "pkt", cir: 1000, cbs: 1 }, { coloured: [RED, ALL] }, [
      { headers: request(), time: 0 },
      { headers: request(), time: 1000 },
    ]),
    target: { kind: "end" },
    first: ['rule "red" drops the frame', "coloured the frame red"],
    never: ["use priority", "leave out"],
    repair: null,
    correction: [replace("/actions/0/flow_meter/cbs", 2)],
  },
  {
    name: "a packet meter before a rule for green frames",
    scenario: metered({ meter_mode: "pkt", cir: 1000, cbs: 1 }, { coloured: [GREEN] }, [
      { headers: request(), time: 0 },
      { headers: request(), time: 1000 },
    ]),
    target: rule("green"),
    first: ['rule "green" does not match', "coloured the frame red"],
    never: ["no rule wrote"],
    repair: null,
    correction: [replace("/actions/0/flow_meter/cbs", 2)],
  },
  {
    name: "yellow frames, and a rule for green ones",
    scenario: metered({ meter_mode: "pkt", cir: 1000, cbs: 1, eir: 1000, ebs: 5 }, { coloured: [GREEN] }, [
      { headers: request(), time: 0 },
      { headers: request(), time: 1000 },
    ]),
    target: queue("customer"),
    first: ['rule "green"', "coloured the frame yellow"],
    never: ["coloured the frame red"],
    repair: null,
    correction: [replace("/rules/2/match", { "misc2.metadata_reg_c_1": "1/0xff" })],
  },
  {
    name: "a meter whose best colour is red",
    scenario: metered({ meter_mode: "pkt", cir: 1000, cbs: 10, start_color: "red" }, { coloured: [RED, ALL] }, [
      request(),
    ]),
    target: rule("web"),
    first: ['rule "red" took the frame first', "coloured the frame red"],
    never: ["use priority"],
    repair: null,
    correction: [replace("/actions/0/flow_meter/start_color", "green")],
  },
  {
    name: "a rate in bits for one in bytes: the bucket refills eight times too slowly",
    scenario: metered({ meter_mode: "l2_len", cir: 1000, cbs: 60 }, { coloured: [RED, ALL] }, [
      { headers: request(), time: 0 },
      { headers: request(), time: 10_000_000 },
    ]),
    target: rule("web"),
    first: ['rule "red" took the frame first', "coloured the frame red", "54 bytes"],
    never: ["use priority"],
    repair: null,
    correction: [replace("/actions/0/flow_meter/cir", 8000)],
  },
  {
    name: "a segment far out of the window, dropped as invalid",
    scenario: tracked({ judged: [INVALID, VALID] }, [
      SYN,
      SYN_ACK,
      ACK,
      [
        SERVER,
        tcp(40000, { source_port: 80, flags: "ack", sequence: 90501, acknowledgement: 101, window: 1000 }),
        payload(10),
      ],
    ]),
    target: rule("valid"),
    first: ['rule "invalid" took the frame first', "sequence number 90501, beyond 1501"],
    never: ["use priority"],
    repair: null,
    correction: [replace("/frames/3/headers/2/sequence", 501)],
  },
  {
    name: "UDP in a rule that tracks TCP connections",
    scenario: tracked({ judged: [["valid", { "misc2.metadata_reg_c_1": "0/0xfd" }, to("in")]] }, [[CLIENT, udp(53)]]),
    target: queue("in"),
    first: ['rule "valid"', "has no whole TCP header"],
    never: ["no rule wrote"],
    repair: null,
    correction: [replace("/frames/0/headers/2", tcp(53, { sequence: 100, window: 1000 }))],
  },
  {
    name: "an acknowledgement of bytes that were never sent",
    scenario: tracked({ judged: [INVALID, VALID] }, [
      SYN,
      SYN_ACK,
      ACK,
      [CLIENT, tcp(80, { flags: "ack", sequence: 101, acknowledgement: 7501, window: 1000 })],
    ]),
    target: { kind: "end" },
    first: ['rule "invalid" drops the frame', "acknowledges 7501, beyond 501"],
    never: ["use priority"],
    repair: null,
    correction: [replace("/frames/3/headers/2/acknowledgement", 501)],
  },
  {
    name: "a fragment in a tracked connection",
    scenario: tracked({ judged: [["valid", { "misc2.metadata_reg_c_1": "0/0xfd" }, to("in")]] }, [
      [ip("10.0.0.1", "192.0.2.80", { flags: "mf" }), tcp(80, { sequence: 100, window: 1000 })],
    ]),
    target: rule("valid"),
    first: ['connection "connections', "is a fragment"],
    never: ["no rule wrote"],
    repair: null,
    correction: [replace("/frames/0/headers/1/flags", 0)],
  },
  {
    name: "the flag of another number",
    scenario: flags([0], { "misc2.metadata_reg_c_1": "1/0xff" }, 1),
    target: rule("known"),
    first: ['first-hit flag "seen[1]" was not set'],
    never: ["no rule wrote"],
    repair: null,
    correction: [replace("/rules/0/actions/0/aso/offset", 0)],
  },
  {
    name: "a flag that was set from the start",
    scenario: flags([3], { "misc2.metadata_reg_c_1": "0/0xff" }, 3),
    target: queue("known"),
    first: ['first-hit flag "seen[3]" was set already'],
    never: ["no rule wrote"],
    repair: null,
    correction: [replace("/asoObjects/0/first_hit", [])],
  },
  {
    name: "a tunnel over IPv6, and an action for IPv4",
    scenario: opened({}, [ip("2001:db8::1", "2001:db8::2"), ...esp(1)], [{ ipv6: {} }, { esp: { spi: "0x1001" } }]),
    target: queue("office"),
    first: ['flow "tunnel"', "is IPv6, and the tunnel of the action is IPv4"],
    never: ["ICV"],
    repair: null,
    correction: [
      replace("/frames/0", {
        name: "sealed",
        hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
      }),
      replace("/flows/0/specs/0", { ipv4: {} }),
    ],
  },
  {
    name: "an ESP packet without the end of its ICV",
    scenario: opened({}, [ip(A, B), ...esp(1, 20)]),
    target: queue("office"),
    first: ['flow "tunnel"', "fewer than"],
    never: ["the key differs"],
    repair: null,
    correction: [
      replace("/frames/0", {
        name: "sealed",
        hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
      }),
    ],
  },
  {
    name: "ESP in UDP, and an action without it",
    scenario: opened(
      {},
      [ip(A, B), udp(4500, 4500), ...esp(1)],
      [{ ipv4: {} }, { udp: { dst_port: 4500 } }, { esp: { spi: "0x1001" } }],
    ),
    target: { kind: "end" },
    first: ['flow "tunnel"', "has a UDP header before ESP, and the action expects none"],
    never: ["ICV"],
    repair: null,
    correction: [
      replace("/frames/0", {
        name: "sealed",
        hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
      }),
      replace("/flows/0/specs", [{ ipv4: {} }, { esp: { spi: "0x1001" } }, { action: "open" }]),
    ],
  },
];
