/** What is known of a pattern up to an item. */
import type { Word } from "../../../text/refusal.js";
import { MatchDraft } from "../../../rules/matchDraft.js";

export type Level = "outer" | "inner";

/** What a rule is in besides its pattern. */
export interface PatternPlace {
  readonly domain: "nic_rx" | "nic_tx" | "fdb";
  /** The match value of a port: the wire, or a function. @throws NotImported */
  readonly sourceOf: (port: bigint | undefined, word: Word) => bigint;
  /** Declares the Geneve option that rules match. @throws NotImported */
  readonly option: (optionClass: bigint, type: bigint, word: Word) => void;
  readonly assume: (word: Word, reason: string) => void;
  /** Told of another UDP port than that of the standard at which a pattern wants VXLAN. */
  readonly atVxlanPort?: (port: number, word: Word) => void;
  /** Fields that items without values ask for in place of their headers: `udp` an IP protocol. */
  readonly bareItems?: Readonly<Record<string, readonly [field: string, value: bigint]>> | undefined;
  /** Whether the driver refuses layers that are not in their order. */
  readonly checksLayers?: boolean | undefined;
  /** Told of the standard UDP port of a header, which the driver asks for where the pattern asks for none. */
  readonly asksUdpPort?: ((word: Word, field: string, port: number) => void) | undefined;
}

/** The state of a walk over the items of a pattern. */
export class PatternWalk {
  readonly match = new MatchDraft();
  level: Level = "outer";
  /** VLAN items of the level so far. */
  vlans = 0;
  /** The header of the level that is under way. */
  ipVersion: 4 | 6 | undefined;
  upper: string | undefined;
  mpls: string | undefined;
  /** The UDP port that the level asks for, where it is one. */
  udpPort: bigint | undefined;
  hasPort = false;
  tunnel = false;

  constructor(readonly place: PatternPlace) {}

  /** TCP or UDP, where a level asks for it: by a field of the header, or by the IP protocol. */
  upperOf(level: Level | undefined): "tcp" | "udp" | undefined {
    const { fields } = this.match;
    const protocol = this.match.bits(`${level}.ip_protocol`);
    const value = protocol?.mask === 0xffn ? protocol.value : undefined;
    const isAsked = (one: "tcp" | "udp"): boolean =>
      fields.includes(`${level}.${one}_sport`) || fields.includes(`${level}.${one}_dport`);
    if (isAsked("tcp") || value === 6n) return "tcp";
    return isAsked("udp") || value === 17n ? "udp" : undefined;
  }

  /** The match field that a name of the table stands for. */
  nameOf(template: string): string {
    const second = this.vlans > 1 && template.startsWith("{}.first_");
    if (second) return `misc.${this.level}_second_${template.slice("{}.first_".length)}`;
    return template.replace("{}", this.level).replace("MPLS", this.mpls ?? "");
  }
}
