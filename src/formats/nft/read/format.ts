/** Rule sets of nftables, as a format: the ingress chains that the kernel hands to a NIC. */
import type { Format } from "../../reading/format.js";
import { OBJECTS, OFFLOAD, STATEMENTS } from "./elements.js";
import { HEADERS } from "../fields.js";
import { NftImport } from "./import.js";
import { isListing } from "./listed.js";
import { isRuleset } from "./ruleset.js";

export const NFT: Format = {
  title: "rule sets of nftables (nft list ruleset, as text or as JSON)",
  recognizes: (source) => isListing(source) || isRuleset(source),
  importer: (draft, findings) => new NftImport(draft, findings),
  elements: {
    Objects: OBJECTS,
    Matches: Object.fromEntries(Object.entries(HEADERS).map(([name, { element }]) => [name, element])),
    "Other matches": {
      "sets, ranges, !=, <, >": { refused: "the kernel offloads comparisons for equality only" },
      "all other fields: ttl, dscp, tcp flags, icmp type, ct, mark": { refused: OFFLOAD },
    },
    Statements: STATEMENTS,
  },
};
