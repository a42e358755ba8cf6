/** What flows of Open vSwitch ask and do, whichever of its languages they are written in. */
import type { SourceElement } from "../../reading/finding.js";
import type { NotImported, Place, Word } from "../../text/refusal.js";
import type { Ask } from "../fields.js";

/** Bits that are asked for. */
export interface Masked {
  readonly value: bigint;
  readonly mask: bigint;
}

/** What is known of a tunnel that a frame came by, or is to leave by. */
export const TUNNEL_KEYS = [
  ...(["id", "src", "dst", "ipv6_src", "ipv6_dst", "tos", "ttl", "tp_src", "tp_dst"] as const),
  // Options of Geneve.
  ...([
    "metadata0",
    "metadata1",
    "metadata2",
    "metadata3",
    "metadata4",
    "metadata5",
    "metadata6",
    "metadata7",
  ] as const),
] as const;
/** An option of Geneve that has no name: its class, type and length. */
export type OptionKey = `option ${number} ${number} ${number}`;
type TunnelName = (typeof TUNNEL_KEYS)[number];
export type TunnelKey = TunnelName | OptionKey;
type OfTunnel<Value> = Partial<Record<TunnelName, Value>> & Record<OptionKey, Value>;
/** The tunnel fields that a flow matches. */
export type TunnelMatch = OfTunnel<Masked>;
export type TunnelValues = Readonly<OfTunnel<bigint>>;

export interface FlowMatch {
  /** A port by name or number, or undefined for any. */
  readonly inPort: string | undefined;
  readonly asks: readonly Ask[];
  /** Of each list the frame has one; they exclude each other. */
  readonly either: readonly (readonly (readonly Ask[])[])[];
  readonly tunnel: Readonly<TunnelMatch>;
  /** The conjunction that the frame has matched. */
  readonly conjunction: number | undefined;
}

/** A change of a field. */
export type Change =
  | { readonly kind: "set"; readonly field: string; readonly value: bigint; readonly mask: bigint }
  | { readonly kind: "add"; readonly field: string; readonly by: number }
  | {
      readonly kind: "copy";
      readonly from: string;
      readonly fromBit: number;
      readonly field: string;
      readonly intoBit: number;
      readonly bits: number;
    };

export type Act = { readonly key: string } &
  /** `hairpin`: also where the frame came from that port. `bare`: a name alone, which could be one of an action. */
  (
    | {
        readonly kind: "output";
        readonly port: string;
        readonly place: Place;
        readonly hairpin?: true;
        readonly bare?: true;
      }
    | { readonly kind: "in_port"; readonly place: Place }
    | { readonly kind: "change"; readonly changes: readonly Change[] }
    | { readonly kind: "push_vlan"; readonly tpid: number; readonly vid: number; readonly pcp: number }
    | { readonly kind: "pop_vlan" }
    /** Changes the tag, or pushes one onto a frame that has none. */
    | { readonly kind: "set_vlan"; readonly vid: number | undefined; readonly pcp: number | undefined }
    /** `type`: the EtherType of all its frames, where that is known. */
    | { readonly kind: "dec_ttl"; readonly type: number | undefined }
    | { readonly kind: "lookup"; readonly table: string; readonly inPort: string | undefined }
    | { readonly kind: "write"; readonly acts: readonly Act[] }
    | { readonly kind: "clear" }
    | { readonly kind: "clones"; readonly lists: readonly (readonly Act[])[]; readonly tracks?: true }
    | { readonly kind: "group"; readonly id: string; readonly place: Place }
    /** Frames that exceed the rate end. */
    | { readonly kind: "meter"; readonly id: string; readonly place: Place }
    | { readonly kind: "exit" }
    | { readonly kind: "tunnel"; readonly values: TunnelValues }
    | { readonly kind: "set_in_port"; readonly port: string }
    /** The frame reaches another bridge by its port. */
    | { readonly kind: "enter"; readonly table: string; readonly port: string }
    | { readonly kind: "encap"; readonly data: string; readonly port: string; readonly place: Place }
    | { readonly kind: "decap" }
    /** The frame reaches the first table by a tunnel port, whose headers it has in front. */
    | { readonly kind: "tunnel_pop"; readonly port: string; readonly place: Place }
    | { readonly kind: "end" }
    /** The flow is one of those of a clause. */
    | { readonly kind: "conjunction"; readonly id: number; readonly clause: number; readonly of: number }
    | { readonly kind: "refused"; readonly text: string; readonly reason: string; readonly place: Place }
  );

/** An act without its key. */
export type Plain = Act extends infer One ? (One extends Act ? Omit<One, "key"> : never) : never;

export function act(plain: Plain): Act {
  const key = JSON.stringify(plain, (name, value: unknown) => {
    // Acts within it are there by what they do: their keys, text in text, would double with each level.
    if (name === "place" || name === "key") return undefined;
    return typeof value === "bigint" ? `${value}n` : value;
  });
  return { key, ...plain };
}

/** The act that stands for one that is not imported. */
export const refusedAct =
  ({ text }: Word) =>
  ({ reason, word }: NotImported): Act[] => [act({ kind: "refused", text, reason, place: word.place })];

export interface Flow {
  readonly name: string;
  readonly place: Place;
  readonly text: string;
  readonly table: string;
  /** As Open vSwitch counts: the highest is first. */
  readonly priority: number;
  readonly match: FlowMatch;
  readonly acts: readonly Act[];
  /** Its words as they stand in the source. */
  readonly origin: SourceElement;
  /** Same for flows that replace each other. */
  readonly identity: string;
}
