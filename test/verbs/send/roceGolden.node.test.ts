/**
 * Compares packets of connections with the output of tshark: test/golden/roce.json, made by
 * scripts/golden-roce.mjs.
 */
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { roceScene, type Said } from "../support/roceScene.js";

interface Judged {
  name: string;
  /** Hexadecimal. */
  bytes: string;
  protocols: string;
  says: Said;
  /** As tshark prints it: the field as a number. */
  icrc: string;
  complaints: string[];
}

const judged = JSON.parse(readFileSync(new URL("../../golden/roce.json", import.meta.url), "utf8")) as Judged[];
const scene = await roceScene();

/**
 * Annex A17.3.3, with another CRC implementation: fields that can change on the path count as ones.
 */
function icrcOf(frame: Uint8Array): string {
  const ip = Buffer.from(frame.subarray(14, frame.length - 4));
  const ipv4 = ip.readUInt8(0) >> 4 === 4;
  const udp = ipv4 ? 20 : 40;
  // TOS, TTL, checksum; or traffic class, flow label, hop limit. UDP checksum; FECN, BECN and
  // reserved bits.
  const ones = [...(ipv4 ? [1, 8, 10, 11] : [1, 2, 3, 7]), udp + 6, udp + 7, udp + 8 + 4];
  for (const at of ones) ip.writeUInt8(0xff, at);
  if (!ipv4) ip.writeUInt8(0x6f, 0);
  const crc = Buffer.alloc(4);
  crc.writeUInt32LE(crc32(Buffer.concat([Buffer.alloc(8, 0xff), ip])));
  return `0x${crc.toString("hex")}`;
}

test("the packets are those that were judged", () => {
  expect(scene.map(({ name, bytes }) => [name, Buffer.from(bytes).toString("hex")])).toEqual(
    judged.map(({ name, bytes }) => [name, bytes]),
  );
});

test.each(scene.map((packet, i) => [packet.name, packet, judged[i] as Judged] as const))(
  "%s",
  (_, { bytes, says }, golden) => {
    const ip = golden.name.includes("IPv4") ? "ip" : "ipv6";
    expect(golden.complaints).toEqual([]);
    expect(golden.protocols.startsWith(`eth:ethertype:${ip}:udp:infiniband`)).toBe(true);
    expect(golden.says).toEqual(says);
    expect(golden.icrc).toBe(icrcOf(bytes));
  },
);
