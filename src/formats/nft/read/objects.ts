/** What a rule set of nftables has, whether `nft` printed it as JSON or as text. */
import type { Place, Word } from "../../text/refusal.js";
import type { Json } from "./expressions.js";

/** A match or a statement as `nft -j` writes it, what findings call it, and where it stands in the source. */
export interface Expression extends Word {
  readonly json: Json;
}

/** A chain among those of all tables. */
export interface ChainName {
  readonly family: string;
  readonly table: string;
  readonly chain: string;
}

export const POLICY = "a policy is accept or drop";

export interface NftChain extends ChainName {
  readonly kind: "chain";
  /** undefined: a chain that others jump to. */
  readonly hook: string | undefined;
  /** Empty where the source does not say them. */
  readonly devices: readonly string[];
  readonly policy: string;
  /** Why it is not imported: a part of it is not known. */
  readonly refused?: { readonly word: Word; readonly reason: string } | undefined;
  /** Whether it has `flags offload`; undefined where the source does not say. */
  readonly isOffloaded: boolean | undefined;
  readonly place: Place;
}

export interface NftRule extends ChainName {
  readonly kind: "rule";
  /** What findings call it. */
  readonly name: string;
  /** Its words. */
  readonly text: string;
  /** Whether findings name it before the element that they are about. */
  readonly isNamedFirst: boolean;
  /** Where it comes among the rules that its chain has; undefined where that is a place by number. */
  readonly position: "first" | "last" | undefined;
  /** @throws NotImported a part that is not imported */
  readonly read: () => readonly Expression[];
  readonly place: Place;
}

export interface NftFlowtable {
  readonly kind: "flowtable";
  readonly name: string;
  readonly place: Place;
}

export type NftObject = NftChain | NftRule | NftFlowtable;

export function keyOf({ family, table, chain }: ChainName): string {
  return [family, table, chain].join(" ");
}
