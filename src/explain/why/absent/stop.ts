/** Says where parsing stopped and why (docs/parsing.md, "Rules for every header"). */
import { titleOf } from "../../../headers/headers.js";
import type { ParseStop } from "../../../packet/parsedFrame.js";

/** One sentence without a full stop: "IPv4 header cut: 12 of 20 bytes (captured: 26 bytes)". */
export function stopText({ header, offset, wanted, had, reason }: ParseStop): string {
  const title = titleOf(header);
  switch (reason) {
    case "beyond_packet":
      return `${title} cut: ${had} of ${wanted} bytes, because its packet ends there`;
    case "bad_version":
      return header === "ipv6" ? "the version of the IPv6 header is not 6" : `the version of the ${title} is not 4`;
    case "bad_header_length":
      return header === "ipv4"
        ? "the IPv4 header gives a length below 20 bytes (ipv4_ihl below 5)"
        : `the ${title} gives the length 0`;
    default:
      return `${title} cut: ${had} of ${wanted} bytes (captured: ${offset + had} bytes)`;
  }
}
