// ESP as DPDK's librte_ipsec does it: test/golden/esp/librte.json. Run from the project root, with a C compiler and DPDK (Debian:
// dpdk-dev, whose crypto driver aesni_gcm it uses); no root, no huge pages:
//
//     node scripts/golden-esp.mjs
//
// A case has an association as docs/esp.md speaks of it, and frames in their order: what came, and what came out of it, or that it was
// lost. What librte_ipsec leaves to hardware, the checksum of the outer IPv4 header, is filled in here.
//
// Not asked, because the page says otherwise: the number 2^32 - 1 without ESN (librte_ipsec stops before it), numbers that lie exactly
// one window back (its windows have one number more), jumps of more than 2^31 (it has no such limit), windows without ESN, and
// frames that it takes twice.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ETHERNET = 14;
const MACS = "0200000000010200000000aa";
const OUTER = { 4: ["c0000201", "c0000202"], 6: ["20010db8".padEnd(31, "0") + "1", "20010db8".padEnd(31, "0") + "2"] };
const INNER = { 4: ["0a000001", "0a000002"], 6: ["fd00".padEnd(31, "0") + "1", "fd00".padEnd(31, "0") + "2"] };

let state = 20261121;
const below = (limit) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
};
const bytes = (length) => Buffer.from(Array.from({ length }, () => below(256)));

const directory = mkdtempSync(join(tmpdir(), "golden-esp-"));
try {
  const program = build();
  const cases = [...outgoing(program), ...incoming(program)];
  const dpdk = execFileSync("pkg-config", ["--modversion", "libdpdk"]).toString().trim();
  const made = { command: "node scripts/golden-esp.mjs", librte_ipsec: dpdk };
  const folder = new URL("../test/golden/esp/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const rows = cases.map((one) => JSON.stringify(one)).join(",\n");
  writeFileSync(new URL("librte.json", folder), `{"made":${JSON.stringify(made)},"cases":[\n${rows}\n]}\n`);
  console.log(`${cases.length} associations`);
} finally {
  rmSync(directory, { recursive: true });
}

function build() {
  const flags = (kind) => execFileSync("pkg-config", [kind, "libdpdk"]).toString().trim().split(/\s+/);
  const program = join(directory, "librte");
  const source = new URL("golden-esp/librte.c", import.meta.url).pathname;
  const quiet = ["-Wno-deprecated-declarations", "-DALLOW_EXPERIMENTAL_API"];
  execFileSync("gcc", ["-O1", ...quiet, ...flags("--cflags"), "-o", program, source, ...flags("--libs")]);
  return program;
}

/** Every mode, version and size, with frames of many lengths; numbers around 2^32. */
function* outgoing(program) {
  let turn = 0;
  for (const [mode, outer, inner, udp] of modes()) {
    for (const keyBytes of [16, 24, 32]) {
      const esn = turn % 2 === 1;
      const settings = association({ mode, outer, udp, keyBytes, icv: [8, 12, 16][turn++ % 3], esn, before: 3 });
      const frames = [];
      const count = esn ? 6 : 2;
      for (let i = 0; i < count; i++) frames.push(clear(inner, below(5) === 0 ? below(1400) : below(60)));
      const answers = ask(program, settings, { outer, inner, frames, l3: inner === 4 ? 20 : 40 });
      const list = frames.map((from, i) => ({ from: from.toString("hex"), to: completed(answers[i]) }));
      yield { name: nameOf("seals", settings, outer, inner), settings, frames: list };
    }
  }
}

/** What the same library has sealed comes again in another order, twice, or with a bit flipped. */
function* incoming(program) {
  for (const [mode, outer, inner, udp] of modes()) {
    for (const window of [0, 64, 1024]) {
      const esn = window !== 0;
      const [keyBytes, icv] = [16 + 8 * below(3), 8 + 4 * below(3)];
      const settings = association({ mode, outer, udp, keyBytes, icv, esn, before: esn ? 40 : 400 });
      const sent = Array.from({ length: 120 }, () => clear(inner, below(40)));
      const wire = ask(program, settings, { outer, inner, frames: sent, l3: inner === 4 ? 20 : 40 }).map(completed);
      const opens = { ...settings, encrypt: false, replay: window === 0 ? null : window };
      let frames = arrivals(wire, window).map((text) => Buffer.from(text, "hex"));
      const asked = () => ask(program, opens, { outer, inner, frames, l3: (outer === 4 ? 20 : 40) + (udp ? 8 : 0) });
      let answers = asked();
      // A frame that was opened before: left out, where there is a window.
      const again = answers.map((one, i) => window !== 0 && one !== "lost" && answers.indexOf(one) < i);
      if (again.includes(true)) {
        frames = frames.filter((_, i) => !again[i]);
        answers = asked();
      }
      const list = frames.map((from, i) => {
        const to = answers[i] === "lost" ? null : opened(mode, inner, answers[i]);
        return { from: from.toString("hex"), ...(to === null ? { lost: true } : { to }) };
      });
      yield { name: nameOf("opens", opens, outer, inner), settings: opens, frames: list };
    }
  }
}

function modes() {
  const tunnels = [4, 6].flatMap((outer) =>
    [4, 6].flatMap((inner) => [false, true].map((udp) => ["tunnel", outer, inner, udp])),
  );
  return [...tunnels, ["transport", 4, 4, false], ["transport", 6, 6, false]];
}

/** Numbers of which none is exactly a window behind the highest before it; the first one comes first. */
function arrivals(wire, window) {
  const list = [];
  let highest = 0;
  for (let next = 0; next < wire.length; next += 1 + below(6)) {
    const at = below(3) === 0 ? Math.max(0, next - below(window + 60)) : next;
    if (highest - at === window) continue;
    list.push(below(12) === 0 ? flipped(wire[at]) : wire[at]);
    if (list.at(-1) === wire[at]) highest = Math.max(highest, at);
  }
  return list;
}

/** One bit behind the IV: ciphertext or ICV. */
function flipped(text) {
  const frame = Buffer.from(text, "hex");
  const at = frame.length - 1 - below(20);
  frame[at] ^= 1 << below(8);
  return frame.toString("hex");
}

/** `before`: how many numbers are left up to 2^32. */
function association({ mode, outer, udp, keyBytes, icv, esn, before }) {
  const [src_ip, dst_ip] = OUTER[outer];
  // DPDK copies the DSCP of the packet inside.
  const ip =
    outer === 4 ? { type: "ipv4_ext", src_ip, dst_ip, ttl: 50 } : { type: "ipv6", src_ip, dst_ip, hop_limit: 50 };
  const seq = 2 ** 32 - before;
  const settings = { offload: "full", encrypt: true, transport: mode === "transport", spi: 256 + below(2 ** 31) };
  const number = BigInt(seq) + (esn ? 5n << 32n : 0n);
  const keymat = {
    key: bytes(keyBytes).toString("hex"),
    salt: bytes(4).toString("hex"),
    iv: `${number}`,
    icvLength: icv,
  };
  const encap = [...(mode === "tunnel" ? [ip] : []), ...(udp ? [{ type: "udp" }] : [])];
  return { ...settings, seq, esn: esn ? 5 : null, keymat, replay: null, encap };
}

function nameOf(what, { transport, keymat, esn, replay, encap }, outer, inner) {
  const mode = transport ? `transport ${inner}` : `tunnel ${inner} in ${outer}`;
  const udp = encap.some(({ type }) => type === "udp") ? " in UDP" : "";
  const window = what === "opens" ? `, window ${replay ?? "none"}` : "";
  return `${what} ${mode}${udp}, key ${keymat.key.length / 2}, ICV ${keymat.icvLength}${esn === null ? "" : ", ESN"}${window}`;
}

function clear(version, length) {
  const udp = Buffer.alloc(8);
  udp.writeUInt16BE(1000 + below(60000), 0);
  udp.writeUInt16BE(53, 2);
  udp.writeUInt16BE(8 + length, 4);
  const payload = Buffer.concat([udp, bytes(length)]);
  const header = Buffer.alloc(version === 4 ? 20 : 40);
  const traffic = below(256);
  if (version === 4) {
    header.set([0x45, traffic, 0, 0, below(256), below(256), 0, 0, 64, 17]);
    header.writeUInt16BE(20 + payload.length, 2);
    header.set(Buffer.from(INNER[4].join(""), "hex"), 12);
    header.writeUInt16BE(checksum(header), 10);
  } else {
    header.writeUInt32BE(0x60000000 + traffic * 2 ** 20 + below(2 ** 20));
    header.writeUInt16BE(payload.length, 4);
    header.set([17, 64], 6);
    header.set(Buffer.from(INNER[6].join(""), "hex"), 8);
  }
  return Buffer.concat([link(version), header, payload]);
}

function link(version) {
  return Buffer.from(MACS + (version === 4 ? "0800" : "86dd"), "hex");
}

function checksum(header) {
  let sum = 0;
  for (let at = 0; at < header.length; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

/** The outer headers as DPDK wants them: Ethernet, IP with what does not change. */
function template({ encap }, outer) {
  const [ip, udp] = encap;
  if (outer === 4) {
    const header = Buffer.alloc(20);
    header.set([0x45, 0, 0, 0, 0, 0, 0, 0, ip.ttl, udp ? 17 : 50]);
    header.set(Buffer.from(ip.src_ip + ip.dst_ip, "hex"), 12);
    return Buffer.concat([link(4), header]);
  }
  const header = Buffer.alloc(40);
  header.set([0x60, 0, 0, 0, 0, 0, udp ? 17 : 50, ip.hop_limit]);
  header.set(Buffer.from(ip.src_ip + ip.dst_ip, "hex"), 8);
  return Buffer.concat([link(6), header]);
}

function ask(program, settings, { outer, inner, frames, l3 }) {
  const { encrypt, transport, spi, seq, esn, keymat, replay, encap } = settings;
  const first = BigInt(seq) + (BigInt(esn ?? 0) << 32n);
  // Coming in, librte_ipsec takes UDP as one of the headers in front that its caller has found.
  const udp = encrypt && encap.some(({ type }) => type === "udp") ? "udp" : "plain";
  const headers = encrypt && !transport ? template(settings, outer).toString("hex") : "-";
  const line = ["sa", encrypt ? "out" : "in", transport ? "transport" : "tunnel", outer, inner, udp];
  line.push(
    spi.toString(16),
    keymat.key,
    keymat.salt,
    keymat.icvLength,
    esn === null ? 0 : 1,
    first,
    replay ?? 0,
    headers,
  );
  const input = [line.join(" "), ...frames.map((frame) => `pkt ${frame.toString("hex")} ${l3}`), ""].join("\n");
  const { status, stdout, stderr } = spawnSync(program, { input, maxBuffer: 2 ** 28 });
  const answers = stdout.toString().trim().split("\n");
  if (status !== 0 || answers.length !== frames.length) throw new Error(`librte: ${stderr}`);
  return answers;
}

/** A sealed frame with the checksum of its outer IPv4 header. */
function completed(answer) {
  if (answer === "lost") return null;
  const frame = Buffer.from(answer, "hex");
  if (frame[ETHERNET] >> 4 === 4) {
    frame.writeUInt16BE(0, ETHERNET + 10);
    frame.writeUInt16BE(checksum(frame.subarray(ETHERNET, ETHERNET + 20)), ETHERNET + 10);
  }
  return frame.toString("hex");
}

/** Tunnel mode: what comes out is the packet inside, without a link header. */
function opened(mode, inner, answer) {
  return mode === "tunnel" ? link(inner).toString("hex") + answer : completed(answer);
}
