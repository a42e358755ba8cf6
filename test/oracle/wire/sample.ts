// The second opinion on programmable samples (docs/parsing.md): four bytes at an offset from a header, or from where a
// level's headers end.

import { type Packet, type SampleOptions, big } from "./packet.js";

/** The list of headers holds so many; what lies behind is parsed, but no sample finds it. */
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
