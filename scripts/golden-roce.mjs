// Packets of connected queue pairs, and what tshark says of them: test/golden/roce.json. Run from the project root, with
// tshark 4.0.17 and the core (npm run build):
//
//     node --import tsx scripts/golden-roce.mjs > test/golden/roce.json
//
// `complaints` are tshark's warnings and errors. It shows the ICRC and does not check it: that is for the test.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PcapWriter } from "../src/index.ts";
import { roceScene } from "../test/verbs/support/roceScene.ts";

const BTH = ["opcode", "destqp", "psn", "a", "se", "padcnt"].map((name) => `infiniband.bth.${name}`);
const REST = ["immdt", "aeth.syndrome", "aeth.msn", "invariant.crc"].map((name) => `infiniband.${name}`);
const MEMORY = [
  ...["reth.va", "reth.r_key", "reth.dmalen", "atomiceth.swapdt", "atomiceth.cmpdt", "atomicacketh.origremdt"],
  ...["deth.q_key", "deth.srcqp"],
].map((name) => `infiniband.${name}`);
const FIELDS = [
  "frame.protocols",
  "ip.checksum.status",
  "_ws.expert.severity",
  "_ws.expert.message",
  ...BTH,
  ...REST,
  "data.data",
  ...MEMORY,
];
const WARNING = 0x600000;

const folder = mkdtempSync(join(tmpdir(), "golden-roce-"));
try {
  console.log(JSON.stringify((await roceScene()).map(judged), null, 2));
} finally {
  rmSync(folder, { recursive: true });
}

function judged({ name, bytes }) {
  const writer = new PcapWriter({ linkType: 1 });
  const file = join(folder, "frame.pcap");
  writeFileSync(file, Buffer.concat([writer.header(), writer.frame({ time: 0n, bytes, wireLength: bytes.length })]));
  const fields = FIELDS.flatMap((one) => ["-e", one]);
  const options = [
    "-n",
    "-r",
    file,
    "-o",
    "ip.check_checksum:TRUE",
    "-o",
    "udp.ignore_ipv6_zero_checksum:TRUE",
    "-T",
    "fields",
    "-E",
    "aggregator=|",
    ...fields,
  ];
  const row = execFileSync("tshark", options, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [protocols, checksum, severities, messages, ...values] = row.replace(/\n$/, "").split("\t");
  const texts = messages.split("|");
  const complaints = severities
    .split("|")
    .map((severity, i) => (Number(severity) >= WARNING ? texts[i] : ""))
    .filter((text) => text !== "");
  if (checksum === "0") complaints.push("ip.checksum.status bad");
  const [opcode, destqp, psn, a, se, padcnt, immediate, syndrome, msn, icrc, payload, ...memory] = values;
  const [va, key, dmalen, swap, compare, original, qkey, srcqp] = memory;
  // "" where the header is not there.
  const joined = (...parts) => (parts.every((part) => part === "") ? "" : parts.join(" "));
  // tshark has it twice.
  const [immdt] = immediate.split("|");
  const aeth = syndrome === "" ? "" : `${syndrome} ${msn}`;
  const reth = joined(va, key, dmalen);
  const atomic = joined(swap, compare);
  const deth = joined(qkey, srcqp);
  const says = { opcode, destqp, psn, a, se, padcnt, immdt, payload, aeth, reth, atomic, original, deth };
  return { name, bytes: Buffer.from(bytes).toString("hex"), protocols, says, icrc, complaints };
}
