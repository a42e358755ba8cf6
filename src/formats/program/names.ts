/** Identifiers of a program, made from the names of a scenario. */

/** Ends of the C names of domain types, and of packet reformats by their numbers. */
export const DOMAINS = { nic_rx: "NIC_RX", nic_tx: "NIC_TX", fdb: "FDB" } as const;
export const REFORMATS = ["L2_TUNNEL_TO_L2", "L2_TO_L2_TUNNEL", "L3_TUNNEL_TO_L2", "L2_TO_L3_TUNNEL"];

/** Identifiers in capitals, each different: `RULE_HTTP`. */
export function identifiers(kind: string, names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const plain = name
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, "_")
      .replaceAll(/^_|_$/g, "")
      .slice(0, MAX_LENGTH);
    const base = `${kind}_${plain === "" ? "UNNAMED" : plain}`;
    let found = base;
    for (let n = 2; taken.has(found); n++) found = `${base}_${n}`;
    taken.add(found);
    return found;
  });
}

const MAX_LENGTH = 48;

/** Text for a comment: it cannot end the comment, and stays on its line. */
export function commentText(text: string): string {
  return text.replaceAll("*/", "* /").replaceAll(/[\r\n\u2028\u2029]+/g, " ");
}
