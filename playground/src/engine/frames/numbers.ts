/** Names of numbers, as lists of frames have them. */
type Names = Readonly<Record<number, string>>;

/** TCP flags, from the lowest bit. */
export const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"] as const;

export const ARP: Names = { 1: "request", 2: "reply" };

export const ICMP: Names = {
  0: "echo reply",
  3: "unreachable",
  5: "redirect",
  8: "echo request",
  11: "time exceeded",
};

export const ICMPV6: Names = {
  1: "unreachable",
  2: "packet too big",
  3: "time exceeded",
  128: "echo request",
  129: "echo reply",
  133: "router solicitation",
  134: "router advertisement",
  135: "neighbour solicitation",
  136: "neighbour advertisement",
};
