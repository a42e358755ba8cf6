// Frames that the builder makes, and what tshark says of them: test/golden/build.json. Run from the project root, with
// tshark 4.0.17:
//
//     node --import tsx scripts/golden-build.mjs > test/golden/build.json
//
// `complaints` are tshark's warnings and errors, malformed headers and bad checksums, all of them verified.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildFrame } from "../src/packet/index.ts";
import { PcapWriter } from "../src/index.ts";
import { EVERY_HEADER, WRONG } from "../test/packet/support/everyHeader.ts";

const CHECKED = ["ip", "tcp", "udp"].flatMap((name) => ["-o", `${name}.check_checksum:TRUE`]);
const SCTP = ["-o", "sctp.checksum:CRC-32c"];
const STATUS = ["ip", "tcp", "udp", "icmp", "icmpv6", "sctp", "gre"].map((name) => `${name}.checksum.status`);
const FIELDS = ["frame.protocols", "_ws.expert.severity", "_ws.expert.message", ...STATUS];

/** Wireshark's severities; checksum status 0 is bad. */
const WARNING = 0x600000;

const folder = mkdtempSync(join(tmpdir(), "golden-build-"));
try {
  console.log(JSON.stringify([...EVERY_HEADER, ...WRONG].map(judged), null, 2));
} finally {
  rmSync(folder, { recursive: true });
}

function judged({ name, linkType, layers }) {
  const bytes = buildFrame(layers);
  const writer = new PcapWriter({ linkType });
  const file = join(folder, "frame.pcap");
  writeFileSync(file, Buffer.concat([writer.header(), writer.frame({ time: 0n, bytes, wireLength: bytes.length })]));
  const row = execFileSync(
    "tshark",
    [
      "-n",
      "-r",
      file,
      ...CHECKED,
      ...SCTP,
      "-T",
      "fields",
      "-E",
      "aggregator=|",
      ...FIELDS.flatMap((one) => ["-e", one]),
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  const [protocols, severities, messages, ...statuses] = row.replace(/\n$/, "").split("\t");
  const texts = messages.split("|");
  const complaints = severities
    .split("|")
    .map((severity, i) => (Number(severity) >= WARNING ? texts[i] : ""))
    .filter((text) => text !== "");
  const good = [];
  for (const [i, status] of statuses.entries()) {
    for (const one of status.split("|").filter((text) => text !== "")) {
      if (one === "0") complaints.push(`${STATUS[i]} bad`);
      if (one === "1") good.push(STATUS[i].replace(".checksum.status", ""));
    }
  }
  return { name, linkType, bytes: Buffer.from(bytes).toString("hex"), protocols, good, complaints };
}
