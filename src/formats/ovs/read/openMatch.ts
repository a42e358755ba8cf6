/** A match that is read, in whichever language the flow is written. */
import { sample, type Ask } from "../fields.js";
import type { FlowMatch, TunnelMatch } from "./steps.js";

export const UNTAGGED: readonly Ask[] = [
  { field: "outer.cvlan_tag", value: 0n, mask: 1n },
  { field: "outer.svlan_tag", value: 0n, mask: 1n },
];

export const fragment = (value: bigint): Ask => ({ field: "outer.frag", value, mask: 1n });

/** First or later fragments, as alternatives that exclude each other: by the highest bit of the offset that is set. */
export function fragments(which: "first" | "later", isIpv6: boolean): Ask[][] {
  const offset = isIpv6 ? sample("ipv6_fragment", 0) : sample("ipv4", 4);
  const bits = isIpv6 ? 0xfff8n : 0x1fffn;
  if (which === "first") return [[fragment(1n), { field: offset, value: 0n, mask: bits }]];
  return Array.from({ length: 13 }, (_, bit) => {
    const one = 1n << BigInt(isIpv6 ? bit + 3 : bit);
    return [fragment(1n), { field: offset, value: one, mask: one | (bits & ~((one << 1n) - 1n)) }];
  });
}

const NONE: FlowMatch["either"] = [];
const NO_TUNNEL: FlowMatch["tunnel"] = {};

export class OpenMatch {
  protected readonly asks: Ask[] = [];
  protected readonly either: (readonly (readonly Ask[])[])[] = [];
  protected readonly tunnel: TunnelMatch = {};
  protected inPort: string | undefined;
  protected conjunction: number | undefined;

  /** Lists without the room that they had to grow. */
  match(): FlowMatch {
    const { inPort, asks, either, tunnel, conjunction } = this;
    return {
      inPort,
      asks: asks.slice(),
      either: either.length === 0 ? NONE : either,
      tunnel: Object.keys(tunnel).length === 0 ? NO_TUNNEL : tunnel,
      conjunction,
    };
  }

  protected ask(field: string, value: bigint, mask: bigint): void {
    this.asks.push({ field, value, mask });
  }

  /** @returns whether it is a word for fragments */
  protected fragment(word: string, isIpv6: boolean): boolean {
    if (word === "no") this.asks.push(fragment(0n));
    else if (word === "first") this.asks.push(...fragments("first", isIpv6).flat());
    else if (word === "later") this.either.push(fragments("later", isIpv6));
    else return false;
    return true;
  }
}
