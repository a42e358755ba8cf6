// What tshark says of every capture in a directory, as JSON on standard output: the source of
// test/golden/captures.json. Run from the project root, with tshark 4.0.17:
//
//     node scripts/golden-captures.mjs test/captures > test/golden/captures.json
//
// tshark shows pcapng custom blocks as packets without an encapsulation; they are left out, the others renumbered.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** LINKTYPE_ numbers of tshark's own encapsulation numbers (wiretap/wtap.h). */
const LINK_TYPES = { 1: 1, 7: 101, 15: 0, 25: 113, 129: 228, 130: 229, 210: 276 };

const FIELDS = ["interface_id", "encap_type", "time_epoch", "cap_len", "len"].map((name) => `frame.${name}`);

const directory = process.argv[2];
if (directory === undefined) {
  console.error("usage: node scripts/golden-captures.mjs DIRECTORY");
  process.exit(2);
}

function tshark(...args) {
  return execFileSync("tshark", ["-n", ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** "1340954905.298858000" is nanoseconds but for its dot; a packet without a time has 0. */
function nanoseconds(epoch) {
  return epoch === "" ? "0" : String(BigInt(epoch.replace(".", "")));
}

function framesOf(file) {
  const rows = tshark("-r", file, "-T", "fields", ...FIELDS.flatMap((field) => ["-e", field]))
    .split("\n")
    .filter((line) => line !== "");
  const packets = JSON.parse(tshark("-r", file, "-T", "jsonraw", "-j", "frame"));
  return rows.flatMap((row, i) => {
    const [interfaceId, encapsulation, time, capturedLength, wireLength] = row.split("\t");
    if (encapsulation === "") return [];
    const linkType = LINK_TYPES[encapsulation];
    if (linkType === undefined) throw new Error(`${file}: no link type for encapsulation ${encapsulation}`);
    const raw = packets[i]._source.layers.frame_raw;
    const bytes = Buffer.from(Array.isArray(raw) ? raw[0] : raw, "hex");
    if (bytes.length !== Number(capturedLength)) throw new Error(`${file}: frame ${i + 1} has ${bytes.length} bytes`);
    return {
      time: nanoseconds(time),
      linkType,
      interfaceId: Number(interfaceId || 0),
      capturedLength: Number(capturedLength),
      wireLength: Number(wireLength),
      sha256: createHash("sha256").update(bytes).digest("hex"),
    };
  });
}

const files = readdirSync(directory)
  .filter((name) => /\.(pcap|pcapng|cap)$/.test(name))
  .sort();
console.log(JSON.stringify(Object.fromEntries(files.map((name) => [name, framesOf(join(directory, name))])), null, 2));
