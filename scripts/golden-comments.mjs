// What tshark reads in captures that `flowsteer run --annotate` writes: test/golden/comments.json. Run from the project root,
// with tshark 4.0.17 and the built command (npm run build):
//
//     node --import tsx scripts/golden-comments.mjs > test/golden/comments.json
//
// Of each case: the hash of the annotated capture, and for each frame the comments that tshark shows. All else that tshark
// shows of a frame must be the same before and after; the script fails where it is not.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMENT_CASES } from "../test/packet/support/commentCases.ts";
import { oddCapture } from "../test/packet/support/oddCaptures.ts";

const FIELDS = ["number", "time_epoch", "len", "cap_len", "encap_type", "interface_id", "interface_name", "protocols"];
/** tshark shows comments of one frame joined by this. */
const BETWEEN = "\u001f";

const folder = mkdtempSync(join(tmpdir(), "golden-comments-"));
try {
  const odd = join(folder, "odd.pcapng");
  writeFileSync(odd, oddCapture());
  const path = (name) => (name === "odd.pcapng" ? odd : name);
  const cases = COMMENT_CASES.map((operands) => judged(operands, operands.map(path)));
  // A capture in each line.
  console.log(`[\n${cases.map((one) => JSON.stringify(one)).join(",\n")}\n]`);
  const captures = readdirSync("test/captures").filter((name) => /\.pcap(ng)?$/.test(name));
  for (const name of captures) judged([name], ["examples/everyday.json", join("test/captures", name)]);
  console.error(`${captures.length} more captures are as before but for comments`);
} finally {
  rmSync(folder, { recursive: true });
}

function judged(operands, paths) {
  const file = join(folder, "annotated.pcapng");
  execFileSync(process.execPath, ["dist/cli.js", "run", ...paths, "--quiet", "--annotate", file]);
  const bytes = readFileSync(file);
  const captures = paths.slice(1);
  if (captures.length === 1) compare(operands, read(captures[0]), read(file));
  // tshark numbers some blocks that are no packets; they have no comment.
  const comments = shown(file, ["frame.comment"])
    .filter((line) => line !== "")
    .map((line) => line.split(BETWEEN));
  return { operands, sha256: createHash("sha256").update(bytes).digest("hex"), comments };
}

/** Fields of every frame, and the hash of all bytes. */
function read(file) {
  const rows = shown(
    file,
    FIELDS.map((name) => `frame.${name}`),
  ).map((line) => line.split("\t"));
  const hex = createHash("sha256")
    .update(tshark(file, ["-x"]))
    .digest("hex");
  return { rows, hex };
}

function compare(operands, before, after) {
  // A pcap file has no interfaces, a simple packet block no time.
  const known = after.rows.map((row, i) => row.map((value, n) => (before.rows[i]?.[n] === "" ? "" : value)));
  if (before.hex !== after.hex) throw new Error(`${operands.join(" ")}: other bytes`);
  const at = known.findIndex((row, i) => row.join() !== before.rows[i]?.join());
  if (at >= 0) throw new Error(`${operands.join(" ")}: ${known[at]} was ${before.rows[at]}`);
  if (known.length !== before.rows.length) throw new Error(`${operands.join(" ")}: frames are missing`);
}

function shown(file, fields) {
  const options = ["-T", "fields", "-E", "occurrence=a", "-E", `aggregator=${BETWEEN}`];
  const text = tshark(file, [...options, ...fields.flatMap((one) => ["-e", one])]);
  return text.split("\n").slice(0, -1);
}

function tshark(file, options) {
  const reading = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 };
  return execFileSync("tshark", ["-n", "-r", file, ...options], reading);
}
