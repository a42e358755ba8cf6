/**
 * Cases for the other parts of a flow besides the fields of filters and its actions: the list,
 * `ibv_flow_attr`, the queue pair.
 */
import * as v from "../../../../src/verbs/index.js";
import { ipv4Frame } from "../../../mlx5dv/support/directRules.js";
import {
  ALL,
  attr,
  count,
  DONT_TRAP,
  dport,
  DROP,
  EGRESS,
  IPV4,
  LOOP,
  MC,
  SNIFFER,
  tag,
  TCP,
  UDP,
} from "../../support/flows.js";
import { FRAME, MULTICAST, OTHER, sampleOf, UDP_FRAME } from "./frames.js";
import { casesOf, inner, MISS, type Case, type Run } from "./record.js";

/** Both flags are for NORMAL; the stack of the ConnectX profiles also accepts them for sniffers. */
const flagOfSniffer =
  (flags: object): Run =>
  (probe) => {
    const over = { ...SNIFFER, ...flags };
    if (!probe.connectx) {
      probe.refuses("EINVAL", [], over);
      return;
    }
    probe.flow("a", [tag(5)], over);
    probe.gets(FRAME, `(a5) ${MISS}`);
  };

const flagOfDefaults =
  (flags: object): Run =>
  (probe) => {
    for (const type of [ALL, MC]) probe.refuses("EINVAL", [], { ...type, ...flags });
  };

const ATTR: Readonly<Record<string, Run>> = {
  "type NORMAL": (probe) => {
    probe.flow("a", [TCP, tag(5)]);
    probe.gets(FRAME, "a5 deliver");
    probe.gets(UDP_FRAME, MISS);
  },
  "type ALL_DEFAULT": (probe) => {
    probe.flow("a", [UDP, tag(5)], ALL);
    for (const frame of [FRAME, MULTICAST, UDP_FRAME]) probe.gets(frame, "a5 deliver");
    probe.flow("b", [TCP]);
    probe.gets(FRAME, "b deliver");
    probe.gets(UDP_FRAME, "a5 deliver");
  },
  "type MC_DEFAULT": (probe) => {
    probe.flow("a", [UDP, tag(5)], MC);
    probe.gets(MULTICAST, "a5 deliver");
    probe.gets(FRAME, MISS);
    probe.flow("b", [TCP]);
    probe.gets(MULTICAST, "b deliver");
  },
  "type SNIFFER": (probe) => {
    probe.flow("a", [UDP, tag(5)], SNIFFER);
    probe.gets(FRAME, `(a5) ${MISS}`);
    probe.sends(FRAME, "(a5) transmit");
    probe.flow("b", [TCP]);
    probe.gets(FRAME, "(a5) b deliver");
  },
  "type that does not exist": (probe) => probe.refuses(probe.connectx ? "EOPNOTSUPP" : "EINVAL", [], { type: 4 }),
  "flags ALLOW_LOOP_BACK": (probe) => {
    if (probe.connectx) {
      probe.refuses("EINVAL", [TCP], LOOP);
      return;
    }
    probe.flow("a", [TCP, tag(5)], LOOP);
    probe.flow("b", [UDP, tag(6)]);
    probe.loops(FRAME, "a", "a5 deliver");
    probe.loops(UDP_FRAME, "b", "miss");
    probe.loops(UDP_FRAME, "a", "b6 deliver");
  },
  "flags DONT_TRAP": (probe) => {
    probe.flow("b", [IPV4, tag(6)]);
    probe.flow("a", [TCP, tag(5)], DONT_TRAP);
    probe.gets(FRAME, "(a5) b6 deliver");
    probe.gets(UDP_FRAME, "b6 deliver");
  },
  "flags DONT_TRAP of ALL_DEFAULT, MC_DEFAULT": flagOfDefaults(DONT_TRAP),
  "flags DONT_TRAP of SNIFFER": flagOfSniffer(DONT_TRAP),
  "flags EGRESS": (probe) => {
    const counters = probe.bench.counters();
    probe.flow("a", [dport(80), tag(5), count(counters)], EGRESS);
    probe.flow("a", [dport(81), DROP], EGRESS);
    probe.sends(FRAME, "transmit", 5);
    probe.sends(OTHER, "drop drop_action");
    probe.gets(FRAME, MISS);
    probe.counts(counters, 1, 64);
  },
  "flags EGRESS of ALL_DEFAULT, MC_DEFAULT": flagOfDefaults(EGRESS),
  "flags EGRESS of SNIFFER": flagOfSniffer(EGRESS),
  "flags that do not exist": (probe) => {
    for (let bit = 3; bit < 32; bit++) probe.refuses("EINVAL", [], { flags: 2 ** bit });
  },
  "priority, lower first": (probe) => {
    probe.flow("b", [TCP, tag(6)], { priority: 15 });
    probe.gets(FRAME, "b6 deliver");
    probe.flow("a", [IPV4, tag(5)], { priority: 14 });
    probe.gets(FRAME, "a5 deliver");
  },
  "priority above 15": (probe) => {
    if (probe.connectx) {
      for (const priority of [16, 0xffff]) probe.refuses("ENOMEM", [TCP], { priority });
      return;
    }
    probe.flow("b", [TCP], { priority: 0xffff });
    probe.gets(FRAME, "b deliver");
    probe.flow("a", [IPV4], { priority: 0xfffe });
    probe.gets(FRAME, "a deliver");
  },
  "priority of flows for multicast alone": (probe) => {
    const group = { type: v.IBV_FLOW_SPEC_ETH, val: { dst_mac: 1n << 40n }, mask: { dst_mac: 1n << 40n } };
    probe.flow("a", [group], { priority: 0 });
    const b = probe.flow("b", [TCP], { priority: 9 });
    probe.gets(MULTICAST, probe.connectx ? "b deliver" : "a deliver");
    probe.gets(FRAME, "b deliver");
    const mask = { dst_ip: 0xffffffff };
    const ofGroup = ipv4Frame({ dst: [224, 0, 0, 1] });
    probe.flow("c", [{ type: v.IBV_FLOW_SPEC_IPV4, val: { dst_ip: 0xe0000001 }, mask }]);
    probe.gets(ofGroup, probe.connectx ? "b deliver" : "c deliver");
    v.ibv_destroy_flow(b);
    probe.gets(MULTICAST, "a deliver");
    probe.gets(ofGroup, "c deliver");
  },
  "num_of_specs 0": (probe) => {
    probe.flow("a", [], { num_of_specs: 0 });
    for (const frame of [FRAME, MULTICAST, UDP_FRAME]) probe.gets(frame, "a deliver");
  },
  "num_of_specs that is not their number": (probe) => {
    for (const num_of_specs of [0, 2]) probe.refuses("EINVAL", [TCP], { num_of_specs });
  },
  "num_of_specs 10": (probe) => {
    probe.flow("a", Array<object>(10).fill(TCP));
    probe.gets(FRAME, "a deliver");
  },
  "num_of_specs above 10": (probe) => {
    const specs = Array<object>(11).fill(TCP);
    if (probe.connectx) {
      probe.refuses("EINVAL", specs);
      return;
    }
    probe.flow("a", specs);
    probe.gets(FRAME, "a deliver");
  },
  port: (probe) => {
    probe.flow("a", [TCP, tag(5)], { port: 1 });
    probe.gets(FRAME, "a5 deliver", 1);
    probe.gets(FRAME, MISS, 2);
    probe.flow("b", [TCP, tag(6)], { port: 2 });
    probe.gets(FRAME, "a5 deliver", 1);
    probe.gets(FRAME, "b6 deliver", 2);
  },
  "port that does not exist": (probe) => {
    for (const port of [0, 3, 255]) probe.refuses("EINVAL", [TCP], { port });
  },
  "comp_mask and size, which are not looked at": (probe) => {
    probe.flow("a", [TCP, tag(5)], { comp_mask: 0xffffffff, size: 1 });
    probe.gets(FRAME, "a5 deliver");
    probe.gets(UDP_FRAME, MISS);
  },
};

/** The queue pair has no buffers; the frames that match its flow are counted. */
const takes =
  (type: number): Run =>
  (probe) => {
    const counters = probe.bench.counters();
    const qp = probe.bench.realQp(type);
    v.ibv_create_flow(qp, attr([TCP, count(counters)]));
    for (const frame of [FRAME, OTHER, UDP_FRAME]) probe.bench.device.receive(1, frame);
    probe.counts(counters, 2, 128);
  };

const QP: Readonly<Record<string, Run>> = {
  "type raw packet": takes(v.IBV_QPT_RAW_PACKET),
  "type UD": takes(v.IBV_QPT_UD),
  "type RC": (probe) => probe.refusesQp("EINVAL", probe.bench.realQp(v.IBV_QPT_RC), [TCP]),
  "type RC, EGRESS": (probe) => {
    const qp = probe.bench.realQp(v.IBV_QPT_RC);
    if (probe.connectx) {
      probe.refusesQp("EINVAL", qp, [TCP], EGRESS);
      return;
    }
    v.ibv_create_flow(qp, attr([TCP, tag(5)], EGRESS));
    probe.sends(FRAME, "transmit", 5);
  },
  "without CAP_NET_RAW": async (probe) => {
    (await probe.another({}, { cap_net_raw: false })).refuses("EPERM", [TCP]);
  },
  "of a device without flow steering": async (probe) => {
    (await probe.another({ managedFlowSteering: false })).refuses(probe.connectx ? "EOPNOTSUPP" : "ENOSYS", [TCP]);
  },
  "of a device that is full": async (probe) => {
    const full = await probe.another({ limits: { flows: 1 } });
    full.flow("a", [TCP, tag(5)]);
    full.refuses("ENOMEM", [UDP]);
    full.gets(FRAME, "a5 deliver");
  },
};

const filter = (type: number, val: object, mask: object) => ({ type, val, mask });
const ETH = v.IBV_FLOW_SPEC_ETH;
const EXT = v.IBV_FLOW_SPEC_IPV4_EXT;
const V6 = v.IBV_FLOW_SPEC_IPV6;

const SPECS: Readonly<Record<string, Run>> = {
  "of a type that does not exist": (probe) => {
    for (const type of [0, 0x33, 0x77, 0x100, 0x1004]) probe.refuses("EINVAL", [{ type }]);
  },
  "value bits outside the mask": (probe) => {
    const spec = filter(v.IBV_FLOW_SPEC_TCP, { dst_port: 80, src_port: 9 }, { dst_port: 0xffff });
    if (probe.connectx) {
      probe.refuses("EINVAL", [spec]);
      return;
    }
    probe.flow("a", [spec, tag(5)]);
    probe.gets(FRAME, "a5 deliver");
    probe.gets(OTHER, MISS);
  },
  "IPV4_EXT flags beyond 0x6": (probe) => {
    for (const bit of [0, 3, 4, 5, 6, 7]) {
      probe.refuses(probe.connectx ? "EOPNOTSUPP" : "EINVAL", [filter(EXT, {}, { flags: 1 << bit })]);
    }
  },
  "IPV6 flow_label beyond 20 bits": (probe) => {
    for (let bit = 20; bit < 32; bit++) {
      probe.refuses("EINVAL", [filter(V6, {}, { flow_label: 2 ** bit })]);
      probe.refuses("EINVAL", [filter(V6, { flow_label: 2 ** bit }, {})]);
    }
  },
  "VXLAN_TUNNEL tunnel_id beyond 24 bits": (probe) => {
    for (let bit = 24; bit < 32; bit++) {
      probe.refuses("EINVAL", [filter(v.IBV_FLOW_SPEC_VXLAN_TUNNEL, {}, { tunnel_id: 2 ** bit })]);
      probe.refuses("EINVAL", [filter(v.IBV_FLOW_SPEC_VXLAN_TUNNEL, { tunnel_id: 2 ** bit }, {})]);
    }
  },
  "part of an ether_type beside IPV4": (probe) => {
    const specs = [filter(ETH, { ether_type: 0x0800 }, { ether_type: 0xff00 }), IPV4];
    if (probe.connectx) {
      probe.refuses("EINVAL", specs);
      return;
    }
    probe.flow("a", [...specs, tag(5)]);
    probe.gets(FRAME, "a5 deliver");
  },
  "ether_type of IPv6 beside IPV4": (probe) =>
    probe.refuses("EINVAL", [filter(ETH, { ether_type: 0x86dd }, { ether_type: 0xffff }), IPV4]),
  "ether_type of IPv4 beside IPV4": (probe) => {
    probe.flow("a", [filter(ETH, { ether_type: 0x0800 }, { ether_type: 0xffff }), IPV4, tag(5)]);
    probe.gets(FRAME, "a5 deliver");
  },
  "TCP and UDP": (probe) => probe.refuses("EINVAL", [TCP, UDP]),
  "IPV4 and IPV6": (probe) => probe.refuses("EINVAL", [IPV4, { type: V6 }]),
  "proto 17 and TCP": (probe) => probe.refuses("EINVAL", [filter(EXT, { proto: 17 }, { proto: 0xff }), TCP]),
  "outer UDP and INNER TCP": (probe) => {
    probe.flow("a", [UDP, inner(TCP), tag(5)]);
    probe.flow("b", [], { priority: 1 });
    probe.gets(FRAME, "b deliver");
    probe.gets(UDP_FRAME, "b deliver");
  },
  "INNER MPLS behind outer UDP, which is the own stack": (probe) => {
    const label = { label: 0xabcdeb3c };
    probe.flow("a", [UDP, inner(filter(v.IBV_FLOW_SPEC_MPLS, label, { label: 0xffffffff })), tag(5)]);
    const [own] = sampleOf(v.IBV_FLOW_SPEC_MPLS, "inner").frames;
    const [overUdp] = sampleOf("UDP", "inner").frames;
    probe.gets(own!.bytes, "a5 deliver");
    probe.gets(overUdp!.bytes, MISS);
  },
  "MPLS behind UDP and an action, which is the own stack": (probe) => {
    const label = { label: 0xabcdeb3c };
    const asked = filter(v.IBV_FLOW_SPEC_MPLS, label, { label: 0xffffffff });
    const [overUdp] = sampleOf("UDP", "outer").frames;
    const flow = probe.flow("a", [UDP, tag(5), asked]);
    probe.gets(overUdp!.bytes, MISS);
    v.ibv_destroy_flow(flow);
    probe.flow("a", [tag(6), UDP, asked]);
    probe.gets(overUdp!.bytes, "a6 deliver");
  },
  "two of a type, of which the later counts": (probe) => {
    probe.flow("a", [dport(81), dport(80), tag(5)]);
    probe.gets(FRAME, "a5 deliver");
    probe.gets(OTHER, MISS);
  },
  "the same in two flows": (probe) => {
    for (const name of ["a", "b", "a"]) probe.flow(name, [TCP, tag(5)]);
    probe.gets(FRAME, "a5 b5 deliver");
  },
};

export const FLOW_CASES: readonly Case[] = [
  ...casesOf("specs", null, SPECS),
  ...casesOf("ibv_flow_attr", null, ATTR),
  ...casesOf("qp", null, QP),
];
