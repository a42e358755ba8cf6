/**
 * A capture of any size and a scenario for it: `flowsteer run` is measured on them.
 *
 *     node --import tsx bench/frames/bigCapture.ts FOLDER [BYTES]
 *
 * writes FOLDER/big.pcap (1 GB by default) and FOLDER/rules.json, the same in every run. FILTER passes about a quarter of the frames.
 */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PcapWriter } from "../../src/packet/captureWriter.js";
import { longerFrame, tcpFrame } from "../frames.js";
import { numbers } from "../random.js";

export const GIGABYTE = 1e9;
/** What tcpdump is asked for. */
export const FILTER = "tcp dst port 80 or tcp dst port 443";

const SEED = 9;
const RECORD = 16;
/** Frames that are made; the file has them in no order. */
const KINDS = 8192;
const WRITE = 4 << 20;
/** 2026-01-01, and a microsecond from frame to frame. */
const BEGIN = 1_767_225_600;
const PORTS = [80, 443, 22, 53, 25, 8080, 5432, 6379];
/** Bytes on the wire and how many of twelve frames have them: 400 in the mean. */
const LENGTHS = [64, 64, 64, 64, 64, 64, 100, 100, 200, 576, 1514, 1926];
const HEADERS = 54;
const QUEUES = 16;

/** The frames: TCP over IPv4, from and to addresses that the rules ask about, and some that none does. */
function kinds(): Uint8Array[] {
  const next = numbers(SEED);
  return Array.from({ length: KINDS }, (_, i) => {
    const src = (0x0a000000 | (next() & 0xffffff)) >>> 0;
    const dst = (0xc0a80000 | (next() & 0xffff)) >>> 0;
    const ports = (((1024 + (next() % 60000)) << 16) | PORTS[next() % PORTS.length]!) >>> 0;
    const length = LENGTHS[i % LENGTHS.length]!;
    return length === 64 ? tcpFrame({ src, dst, ports }) : longerFrame({ src, dst, ports }, length - HEADERS);
  });
}

/** Writes about so many bytes of frames as classic pcap; gives how many frames. */
export function writeBigCapture(path: string, bytes = GIGABYTE): number {
  const writer = new PcapWriter({ linkType: 1 });
  const records = kinds().map((frame) => writer.frame({ time: 0n, bytes: frame }));
  const next = numbers(SEED + 1);
  const file = openSync(path, "w");
  const buffer = Buffer.alloc(WRITE);
  let held = 0;
  const write = (part: Uint8Array): void => {
    if (held + part.length > WRITE) {
      writeSync(file, buffer, 0, held);
      held = 0;
    }
    buffer.set(part, held);
    held += part.length;
  };
  write(writer.header());
  let frames = 0;
  for (let written = 0; written < bytes; frames++) {
    const record = records[next() % KINDS]!;
    const view = new DataView(record.buffer);
    view.setUint32(0, BEGIN + Math.floor(frames / 1e6), true);
    view.setUint32(4, frames % 1e6, true);
    write(record);
    written += record.length - RECORD;
  }
  writeSync(file, buffer, 0, held);
  closeSync(file);
  return frames;
}

/** A scenario of so many rules: connections by 5 fields, services of networks, networks; each with a queue, some with a counter or a tag. */
export function bigScenario(rules = 1000): object {
  const next = numbers(SEED + 2);
  const queues = Array.from({ length: QUEUES }, (_, i) => ({ name: `q${i}` }));
  const network = (): string => `192.168.${next() & 0xff}.0/24`;
  const kindsOfMatch = [
    () => ({ "outer.ipv4_dst": network(), "outer.tcp_dport": PORTS[next() % PORTS.length]! }),
    () => ({ "outer.ipv4_src": `10.${next() & 0xff}.0.0/16`, "outer.ipv4_dst": network() }),
    () => ({ "outer.ipv4_src": `10.${next() & 0xff}.0.0/16`, "outer.tcp_dport": PORTS[next() % PORTS.length]! }),
    () => ({
      "outer.ipv4_src": `10.${next() & 0xff}.${next() & 0xff}.${next() & 0xff}`,
      "outer.ipv4_dst": `192.168.${next() & 0xff}.${next() & 0xff}`,
      "outer.tcp_sport": 1024 + (next() % 60000),
      "outer.tcp_dport": PORTS[next() % PORTS.length]!,
    }),
  ];
  return {
    flowsteer: 1,
    title: `${rules} rules`,
    queues,
    counters: [{ name: "counted" }],
    tables: [{ name: "root", level: 0 }],
    rules: Array.from({ length: rules }, (_, i) => {
      const actions: unknown[] = [{ queue: `q${i % QUEUES}` }];
      if (i % 4 === 0) actions.unshift({ count: "counted" });
      if (i % 5 === 0) actions.unshift({ tag: i });
      return {
        name: `rule ${i}`,
        table: "root",
        priority: i % kindsOfMatch.length,
        match: kindsOfMatch[i % kindsOfMatch.length]!(),
        actions: i % 50 === 49 ? ["drop"] : actions,
      };
    }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [folder, bytes] = process.argv.slice(2);
  if (folder === undefined) throw new Error("name a folder");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "rules.json"), JSON.stringify(bigScenario(), null, 1));
  console.log(`${writeBigCapture(join(folder, "big.pcap"), bytes === undefined ? GIGABYTE : Number(bytes))} frames`);
}
