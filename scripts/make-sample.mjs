#!/usr/bin/env node
// Writes examples/everyday.pcap: frames of test/captures, laid beside each other in time as if they had come in on one
// port. Nothing in a frame is changed; only its time is.
//
//     node --import tsx scripts/make-sample.mjs [FILE]

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readCapture } from "../src/packet/capture/read.ts";
import { PcapWriter } from "../src/packet/capture/writer.ts";

const ETHERNET = 1;
const START = BigInt(Date.UTC(2026, 2, 2, 8, 30)) * 1_000_000n;
const MILLISECOND = 1_000_000n;
/** Between the first frames of two files. */
const STAGGER = 11n * MILLISECOND;
/** The longest silence that a file keeps. */
const MAX_GAP = 25n * MILLISECOND;
/** Ethernet, IPv4, UDP and VXLAN headers before an inner frame. */
const VXLAN_HEADERS = 50;

/** [file, numbers of the frames, first byte taken] */
const PARTS = [
  ["vxlan.pcap", [2, 3], VXLAN_HEADERS],
  ["dns_udp.pcap", [1, 2]],
  ["print-flags.pcap", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ["IcmpPackets.pcap", [9, 10, 6, 5, 2]],
  ["ipv6.pcap", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  ["icmpv6.pcap", [1, 2, 3]],
  ["802.1ad_QinQ.pcap", [1, 2]],
  ["vxlan.pcap", [1, 2, 3, 4, 5, 6]],
  ["http-qinq-0.pcap", [1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 14]],
  ["fragmented-1.pcap", [1, 2, 3]],
  ["frag-eth-vlan-ip-tcp-syn.pcap", [1, 2, 3]],
  ["ipv6_opt_fragments.pcap", [1, 2, 3, 4]],
  ["ipv6_options.pcap", [1, 2, 3, 5, 6]],
  ["vxlan-inner-tcp-bad-checksum.pcap", [1]],
  ["gso-ipv4-vxlan-ipv4.pcap", [1]],
  ["eve-flow-esp-input.pcap", [1, 2, 5, 7]],
  ["ipv4-options.pcap", [2, 3]],
  ["mpls-in-vlan.pcap", [1, 2, 3]],
  ["6in4.pcap", [1]],
  ["geneve.pcap", [1, 2, 3]],
  ["ip4-trunc.pcap", [1]],
  ["EthDot3.pcap", [1]],
];

const captures = new Map();

async function framesOf(file) {
  if (!captures.has(file)) {
    const frames = [];
    const bytes = new Uint8Array(readFileSync(new URL(`../test/captures/${file}`, import.meta.url)));
    for await (const batch of readCapture(bytes)) frames.push(...batch);
    if (frames.some(({ linkType }) => linkType !== ETHERNET)) throw new Error(`${file} is not Ethernet`);
    captures.set(file, frames);
  }
  return captures.get(file);
}

const merged = [];
for (const [i, [file, numbers, first = 0]] of PARTS.entries()) {
  const frames = await framesOf(file);
  let time = START + BigInt(i) * STAGGER;
  let before;
  for (const number of numbers) {
    const frame = frames[number - 1];
    if (frame === undefined) throw new Error(`${file} has no frame ${number}`);
    const gap = before === undefined ? 0n : frame.time - before;
    // Some files give several frames one time, or times that go back.
    time += gap < MILLISECOND / 10n ? MILLISECOND / 10n : gap > MAX_GAP ? MAX_GAP : gap;
    before = frame.time;
    merged.push({ time, bytes: frame.bytes.slice(first), wireLength: frame.wireLength - first });
  }
}
merged.sort((a, b) => Number(a.time - b.time));

const writer = new PcapWriter({ linkType: ETHERNET });
const file = Buffer.concat([writer.header(), ...merged.map((frame) => writer.frame(frame))]);
const target = process.argv[2] ?? fileURLToPath(new URL("../examples/everyday.pcap", import.meta.url));
writeFileSync(target, file);
console.log(`${target}: ${merged.length} frames, ${file.length} bytes`);
