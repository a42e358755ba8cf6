// What tshark reads in annotated captures: test/golden/comments.json. Run from the project root, with tshark 4.0.17 and the
// built command (npm run build):
//
//     node --import tsx scripts/golden-comments.mjs > test/golden/comments.json
//
// Of each case: the hash of the annotated capture, and the comments that tshark shows of each frame. All else that tshark shows
// of a frame must be the same before and after. This holds for what `flowsteer run --annotate` writes too, of every capture in
// test/captures; the script fails where it does not.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { annotated } from "../test/packet/support/annotated.ts";
import { caseOf, COMMENT_CASES } from "../test/packet/support/commentCases.ts";

const FIELDS = ["number", "time_epoch", "len", "cap_len", "encap_type", "interface_id", "interface_name", "protocols"];
/** tshark joins comments of one frame by this. */
const BETWEEN = "\u001f";

const folder = mkdtempSync(join(tmpdir(), "golden-comments-"));
const [before, after] = ["before", "after"].map((name) => join(folder, `${name}.pcapng`));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
try {
  const cases = COMMENT_CASES.map((name) => {
    const bytes = caseOf(name);
    const copy = annotated(bytes);
    writeFileSync(before, bytes);
    writeFileSync(after, copy);
    compare(name, before, after);
    return { name, sha256: sha256(copy), comments: comments(after) };
  });
  // A capture in each line.
  console.log(`[\n${cases.map((one) => JSON.stringify(one)).join(",\n")}\n]`);
  const captures = readdirSync("test/captures").filter((name) => /\.pcap(ng)?$/.test(name));
  for (const name of captures.map((one) => join("test/captures", one))) {
    const args = ["dist/cli.js", "run", "examples/everyday.json", name, "--quiet", "--annotate", after];
    execFileSync(process.execPath, args);
    compare(name, name, after);
    const empty = comments(after).filter(([comment]) => !comment.startsWith("flowsteer: "));
    if (empty.length > 0) throw new Error(`${name}: frames without a comment`);
  }
  console.error(`${captures.length} more captures are as before but for comments`);
} finally {
  rmSync(folder, { recursive: true });
}

/** tshark numbers some blocks that are no packets; they have no comment. */
function comments(file) {
  return shown(file, ["frame.comment"])
    .filter((line) => line !== "")
    .map((line) => line.split(BETWEEN));
}

/** Frames, their fields and bytes are the same. A pcap file has no interfaces, a simple packet block no time. */
function compare(name, before, after) {
  const [old, now] = [before, after].map((file) =>
    shown(
      file,
      FIELDS.map((field) => `frame.${field}`),
    ).map((line) => line.split("\t")),
  );
  const known = now.map((row, i) => row.map((value, n) => (old[i]?.[n] === "" ? "" : value)).join());
  const at = known.findIndex((row, i) => row !== old[i]?.join());
  if (at >= 0) throw new Error(`${name}: ${known[at]} was ${old[at]}`);
  if (known.length !== old.length) throw new Error(`${name}: frames are missing`);
  if (tshark(before, ["-x"]) !== tshark(after, ["-x"])) throw new Error(`${name}: other bytes`);
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
