// Reference of programmable samples (docs/parsing.md): four bytes at an offset from a header, or
// from the end of the headers of a level.

import { type Packet, type SampleOptions, big } from "./packet.js";

/** Maximum length of the header list; further headers are parsed, but no sample finds them. */
const LISTED = 28;

export function takeSamples(packet: Packet): void {
  for (const sample of packet.parser.samples ?? []) {
    const at = placeOf(packet, sample);
    const end = packet.payload[sample.level]?.end;
    if (at === undefined || end === undefined || at + 4 > end) continue;
    packet.fields.set(`misc4.prog_sample_field_value_${sample.id}`, big(packet, at, 4));
  }
}

function placeOf(packet: Packet, { header, level, offset, port }: SampleOptions): number | undefined {
  if (port !== undefined && packet.fields.get(`${level}.udp_dport`) !== BigInt(port)) return undefined;
  const start =
    header === "payload"
      ? packet.payload[level]?.offset
      : packet.headers.slice(0, LISTED).find((one) => one.kind === header && one.level === level)?.offset;
  return start === undefined ? undefined : start + offset;
}
