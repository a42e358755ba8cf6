/** Scenario documents for tests: one that uses every key, and the smallest pieces that others are built from. */

import { DOMAINS, FLOW_ACTIONS, MORE_FLOWS, MORE_RULES, MORE_TABLES, SHARED_ACTIONS } from "./everyAction.js";
import { DEVICE_FLOWS } from "./everyDeviceFlow.js";
import { CONNECTED, EXPECTED_MESSAGES, MESSAGES } from "./everyMessage.js";
import { ESP_ACTIONS, ESP_FLOWS } from "./everyEsp.js";
import {
  ASO_OBJECTS,
  BULK,
  EXPECTED_STATE,
  MORE_QUEUES,
  SPREADING,
  STATE_ACTIONS,
  STATE_RULES,
  STATE_TABLES,
  STEPS,
} from "./everyState.js";

/** Ethernet, IPv4 10.0.0.1 to 10.0.0.2, TCP from port 40000 to 443, SYN: 54 bytes. */
export const WEB_FRAME =
  "020000000001020000000002080045000028000100004006 66cd0a0000010a000002 9c4001bb00000001000000005002040000000000";

/** The same as headers. */
export const WEB_HEADERS = [
  { header: "ethernet", destination: "02:00:00:00:00:01", source: "02:00:00:00:00:02" },
  { header: "ipv4", identification: 1, source: "10.0.0.1", destination: "10.0.0.2" },
  {
    header: "tcp",
    source_port: 40000,
    destination_port: 443,
    sequence: 1,
    flags: "syn",
    window: 1024,
    checksum: 0,
  },
];

const SENT_HEADERS = [{ header: "ethernet", destination: "02:00:00:00:00:03", type: "0x0806" }];
const TO_FIRST = { "outer.dmac": "02:00:00:00:00:01", "outer.ip_version": null };

/** A document that uses every key. */
export function everyKey(): Record<string, unknown> {
  return structuredClone({
    $schema: "scenario-1.schema.json",
    flowsteer: 1,
    title: "all keys",
    description: "of every object",
    device: {
      name: "dut",
      ports: 2,
      vports: 1,
      profile: "manual",
      seed: 7,
      limits: { memory: 100_000_000, flows: 100 },
      managedFlowSteering: true,
      asyncRules: true,
      cache: { entries: 1024 },
      parser: {
        geneveOption0: { class: 0x0102, type: 0x80 },
        vxlanPorts: [4789, 8472],
        samples: [{ id: 0, header: "udp", level: "outer", offset: 8, port: 9000 }],
      },
    },
    connect: [{ port: 1, to: 2 }],
    queues: [
      {
        name: "web",
        description: "a queue pair",
        port: 1,
        type: "raw_packet",
        state: "rts",
        buffers: 2,
        bufferSize: 64,
      },
      { name: "rest", description: "a sink" },
      { name: "guest", function: 1 },
      ...MORE_QUEUES,
      ...CONNECTED,
    ],
    ...SPREADING,
    asoObjects: ASO_OBJECTS,
    counters: [{ name: "hits", description: "all of web" }, BULK],
    flowCounters: [
      {
        name: "addresses",
        description: "of one flow",
        points: [
          { index: 0, counts: "packets" },
          { index: 2, counts: "bytes" },
        ],
      },
    ],
    flowActions: [...FLOW_ACTIONS, ...ESP_ACTIONS],
    domains: DOMAINS,
    tables: [
      { name: "root", description: "where frames start", domain: "nic_rx", level: 0 },
      { name: "l4", level: 1 },
      ...MORE_TABLES,
      ...STATE_TABLES,
    ],
    matchers: [
      { name: "ports", description: "by port", table: "l4", priority: 3, mask: { "outer.tcp_dport": "full" } },
      { name: "open", table: "l4", priority: 4, layout: { rulesLog2: 4, resizable: true } },
    ],
    actions: [
      { name: "discard", drop: true },
      { name: "leave", default_miss: true },
      { name: "mark", tag: 5 },
      { name: "number", count: "hits" },
      { name: "to-web", queue: "web" },
      { name: "to-l4", table: "l4" },
      ...SHARED_ACTIONS,
      ...STATE_ACTIONS,
    ],
    rules: [
      {
        name: "tcp",
        description: "to ports",
        table: "root",
        priority: 1,
        match: { "outer.ip_protocol": "tcp" },
        actions: [{ table: "l4" }],
      },
      {
        name: "https",
        matcher: "ports",
        match: { "outer.tcp_dport": 443 },
        actions: [{ tag: 5 }, { count: "hits" }, { queue: "web" }],
      },
      { name: "others", matcher: "open", actions: [{ action: "discard" }] },
      { name: "all", table: "root", priority: 2, match: {}, actions: ["default_miss"] },
      ...MORE_RULES,
      ...STATE_RULES,
    ],
    flows: [
      { name: "tap", description: "hears port 1", queue: "rest", type: "sniffer", port: 1, specs: [{ tag: 7 }] },
      {
        name: "addresses",
        queue: "web",
        port: 2,
        priority: 10,
        flags: ["dont_trap"],
        specs: [
          {
            eth: {
              dst_mac: "02:00:00:00:00:09",
              src_mac: "02:00:00:00:00:00/fe:00:00:00:00:00",
              ether_type: "ipv4",
              vlan_tag: "5/0xfff",
            },
          },
          { ipv4: { src_ip: "10.0.0.0/8", dst_ip: "10.0.0.9" } },
          { tcp: { dst_port: 80, src_port: "0x8000/0x8000" } },
          { tag: 3 },
          { count: "addresses" },
        ],
      },
      {
        queue: "rest",
        priority: 11,
        specs: [
          {
            ipv4_ext: { src_ip: "10.0.0.1", dst_ip: "10.0.0.2", proto: "udp", tos: "0xb8/0xfc", ttl: 1, flags: "2/2" },
          },
          { udp: { dst_port: 4789, src_port: 1 } },
          { vxlan_tunnel: { tunnel_id: 100 } },
          { mpls: { label: "0x64000/0xfffff000" }, inner: true },
          { drop: true },
        ],
      },
      {
        name: "encrypted",
        queue: "rest",
        priority: 12,
        specs: [
          {
            ipv6: {
              src_ip: "2001:db8::/32",
              dst_ip: "2001:db8::1",
              flow_label: 5,
              next_hdr: "esp",
              traffic_class: 0,
              hop_limit: 64,
            },
          },
          { esp: { spi: 5, seq: 1 } },
          "drop",
        ],
      },
      {
        name: "tunnelled",
        queue: "rest",
        priority: 13,
        specs: [{ gre: { c_ks_res0_ver: "0x2000/0xb000", protocol: "ipv4", key: 5 } }],
      },
      ...MORE_FLOWS,
      ...ESP_FLOWS,
    ],
    ...DEVICE_FLOWS,
    hostRules: [
      {
        name: "ssh",
        description: "of the host",
        application: "ethtool",
        port: 2,
        priority: 1,
        match: { "outer.tcp_dport": 22 },
        action: { queue: 3 },
      },
      { application: "tc", function: 1, match: { "outer.udp_dport": 53 }, action: "drop" },
    ],
    messages: MESSAGES,
    frames: [
      { name: "first", description: "a SYN", hex: WEB_FRAME, port: 2, linkType: 1, wireLength: 60 },
      { base64: "AgAAAAABAgAAAAACCAY=" },
      { name: "sent", headers: SENT_HEADERS, send: "rest", metadata: 5, sync: true, before: STEPS, time: 5000 },
    ],
    notImported: [{ source: "dump.csv", line: 3, column: 1, text: "3400,0x1", reason: "the headers are not in it" }],
    expect: {
      messages: EXPECTED_MESSAGES,
      frames: [
        {
          frame: "first",
          verdict: "deliver",
          reason: null,
          to: ["qp:web"],
          toTags: [5],
          tag: 5,
          rules: ["tcp", "https"],
          registers: {},
          toFrames: [WEB_HEADERS],
          copyFrames: [],
        },
        { frame: 2, verdict: "miss", reason: "default_miss", to: [], toTags: [], tag: null, copyFrames: [TO_FIRST] },
        {
          frame: "sent",
          verdict: "transmit",
          to: ["port:1"],
          copies: ["qp:rest"],
          copyTags: [7],
          copyFrames: [SENT_HEADERS],
          rules: ["tap", "all"],
          beyond: {
            "port:1": {
              verdict: "miss",
              reason: "default_miss",
              to: [],
              toTags: [],
              tag: null,
              rules: ["all"],
              copies: [],
              copyTags: [],
              registers: {},
              toFrames: [],
              copyFrames: [],
            },
          },
        },
      ],
      counters: { hits: { packets: 1, bytes: 60 }, bulk: [{ packets: 0, bytes: 0 }, null] },
      asoObjects: EXPECTED_STATE,
      flowCounters: { addresses: [0, 0, 0] },
      totals: {
        frames: 3,
        bytes: 88,
        verdicts: { deliver: 1 },
        to: { "qp:web": 1, "qp:rest": 0, "port:1": 1 },
        copies: { "qp:rest": 2 },
        rules: { https: 1 },
      },
    },
  });
}

/** A root table, a sink, and these rules in the table. */
export function withRules(...rules: Record<string, unknown>[]): Record<string, unknown> {
  return {
    flowsteer: 1,
    queues: [{ name: "web" }],
    counters: [{ name: "hits" }],
    tables: [
      { name: "root", level: 0 },
      { name: "l4", level: 1 },
    ],
    rules: rules.map((rule, i) => ({ name: `rule ${i}`, table: "root", ...rule })),
  };
}
