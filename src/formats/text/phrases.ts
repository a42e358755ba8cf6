/** Which words before a value name its field, in the languages of rules. */

/** The words of a field and its value in the text of a rule. */
export interface Phrase {
  /** The field as the language names it: "udp dst", "tp_dst", "dst_port". */
  readonly name: string;
  /** Where the words begin, and where that begins which belongs to this value alone. */
  readonly from: number;
  readonly key: number;
}

/** Of `text` up to a value; the first that fits is taken. */
const PHRASES: readonly RegExp[] = [
  // nft -j: { "payload": { "protocol": "udp", "field": "dport" } }, "right":
  /"protocol":\s*"(?<item>\w+)",\s*"field":\s*"(?<key>\w+)"[\s}]*,\s*"right":\s*"?$/d,
  // tc -j: "dst_port":
  /"(?<key>[\w.-]+)":\s*"?$/d,
  // ethtool -n: Dest IP addr: 198.51.100.0 mask:
  /(?<=^|\n)[ \t]*(?<key>[A-Z][A-Za-z ]*):\s+(?:\S+\s+mask:\s+)?$/d,
  // ovs-dpctl: ipv4(src=10.0.0.1,dst=
  /(?<!\w)(?<item>\w+)\((?:[^()]*,\s*)?(?<key>\w+)=$/d,
  // OpenFlow: tp_dst=
  /(?<![\w.])(?<key>[\w.]+)=$/d,
  // testpmd: / udp src is 5 dst is
  /(?:\bpattern|\/)\s+(?<item>\w+)(?=\s)(?:[^/]*\s)?(?<key>\w+)\s+(?:is|spec|last|mask|prefix)\s+$/d,
  // nft: udp dport; `protocol ip prio` is of tc
  /(?<!\bprotocol\s)\b(?<item>ether|vlan|ip6?|tcp|udp|sctp|th|icmp|icmpv6|meta)\s+(?<key>[a-z\d]+)\s+(?:(?:==|eq)\s+)?$/d,
  // ethtool: dst-ip 198.51.100.0 m
  /(?<![\w-])(?<key>[A-Za-z][\w-]*)\s+\S+\s+m(?:ask)?\s+$/d,
  // tc, ethtool: dst_port; the port of `flow create` is where a rule is, which no field says
  /(?<![\w-])(?<!\bflow\s)(?<key>[A-Za-z][\w-]*)\s+$/d,
];

/** The words before a value at `at`; undefined where none names a field. */
export function phraseBefore(text: string, at: number): Phrase | undefined {
  const before = text.slice(0, at);
  for (const pattern of PHRASES) {
    const found = pattern.exec(before);
    const { item, key } = found?.groups ?? {};
    const places = found?.indices?.groups;
    if (key === undefined || places?.["key"] === undefined) continue;
    const start = places["key"][0];
    return {
      name: item === undefined ? key : `${item} ${key}`,
      from: places["item"]?.[0] ?? start,
      key: start,
    };
  }
  return undefined;
}
