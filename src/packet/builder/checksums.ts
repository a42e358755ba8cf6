/** Computes the checksum of each header that `buildFrame` builds. */
import { crc32c, internetChecksum, pseudoHeader } from "../checksum.js";
import type { LaidOutHeader } from "../layout.js";
import { PROTOCOLS } from "../../headers/announcers.js";
import { decodeOptions, IPV4 } from "../options.js";
import { bytesOf } from "../bytes.js";
import { parseIpv4 } from "../addresses.js";
import { networkBelow } from "./defaults.js";
import type { HeaderDraft } from "./headerDraft.js";

/** The checksum of a header in these bytes, where its checksum field is 0; undefined where it has none. */
type Checksum = (draft: HeaderDraft, header: Uint8Array) => number | undefined;

const behindPseudoHeader: Checksum = (draft, header) => {
  const network = networkBelow(draft);
  if (network === undefined || network.given("bytes")) {
    const hint = `it covers the addresses of an IP header, and none is known: give ${draft.path}.checksum`;
    return draft.cannotDerive("checksum", hint);
  }
  const protocol = PROTOCOLS[draft.header as LaidOutHeader] ?? 0;
  const destination = finalDestination(draft, network);
  const length = header.length + draft.bodyLength;
  const pseudo = pseudoHeader(network.bytes("source"), destination, protocol, length);
  return internetChecksum(pseudo, header, draft.body);
};

export const CHECKSUMS: Readonly<Partial<Record<LaidOutHeader, Checksum>>> = {
  ipv4: (_, header) => internetChecksum(header),
  tcp: behindPseudoHeader,
  // 0 says that there is none (RFC 768): its other form stands for it.
  udp: (draft, header) => behindPseudoHeader(draft, header) || 0xffff,
  icmp: (draft, header) => internetChecksum(header, draft.body),
  icmpv6: behindPseudoHeader,
  sctp: (draft, header) => crc32c(header, draft.body),
  gre: (draft, header) => (draft.number("c") === 1 ? internetChecksum(header, draft.body) : undefined),
};

/** Where a source route ends, if it is under way (RFC 8200 section 8.1; RFC 791 section 3.1); else the destination. */
function finalDestination(draft: HeaderDraft, network: HeaderDraft): Uint8Array {
  if (network.header === "ipv4") {
    for (const { option } of decodeOptions(IPV4, network.bytes("options"))) {
      const { option: name, pointer, addresses } = option as { option: unknown; pointer: number; addresses: string[] };
      const last = String(name).endsWith("source_route") ? addresses.at(-1) : undefined;
      if (last !== undefined && pointer <= 3 + 4 * addresses.length) return bytesOf(parseIpv4(last) ?? 0n, 4);
    }
  }
  for (const routing of draft.all.slice(network.index, draft.index)) {
    if (routing.header !== "ipv6_routing" || routing.number("segments_left") === 0) continue;
    const data = routing.bytes("data");
    // Segments are listed from the last one on (RFC 8754 section 2), others in the order of travel.
    const at = routing.number("type") === 4 ? 4 : data.length - 16;
    if (at >= 4 && at + 16 <= data.length) return data.slice(at, at + 16);
  }
  return network.bytes("destination");
}
