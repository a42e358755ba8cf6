/** What actions of a filter do, each with what comes next, and what their readers share. */
import type { Endpoint } from "../../../reading/draft.js";
import type { Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import type { NetDevice, Tunnel } from "../devices.js";
import type { FieldChange } from "../pedit.js";

/** What comes after an action: the next action (pipe), or an end. */
export type Verdict =
  | { readonly kind: "pipe" | "drop" | "pass" | "continue" | "reclassify" | "trap" }
  | { readonly kind: "goto"; readonly chain: number }
  | { readonly kind: "redirect"; readonly to: Output };

/** A port, or a tunnel with the headers that it puts in front. */
export type Output = { readonly endpoint: Endpoint } | { readonly tunnel: Tunnel; readonly key: TunnelKey };

export interface TunnelKey {
  readonly src: string;
  readonly dst: string;
  readonly id: number | undefined;
  readonly port: number | undefined;
  readonly tos: number | undefined;
  readonly ttl: number | undefined;
  /** Of a VXLAN header, with its flags. */
  readonly group: number | undefined;
  readonly word: Word;
}

export interface Meter {
  readonly meter_mode: "l2_len" | "pkt";
  readonly cir: number;
  readonly cbs: number;
}

export type Step =
  | { readonly kind: "change"; readonly changes: readonly FieldChange[] }
  | { readonly kind: "pop" }
  | { readonly kind: "push"; readonly vid: number; readonly pcp: number; readonly tpid: "0x8100" | "0x88a8" }
  | { readonly kind: "mirror"; readonly to: Output }
  | { readonly kind: "sample"; readonly ratio: number }
  | { readonly kind: "police"; readonly meter: Meter; readonly exceed: Verdict; readonly conform: Verdict }
  | { readonly kind: "end"; readonly verdict: Verdict };

/** What actions are read with. */
export interface ActionContext {
  readonly l3: "ip" | "ip6" | undefined;
  readonly l4: "tcp" | "udp" | undefined;
  readonly tagged: boolean;
  /** Whether the device can have connections of the frames of the filter. */
  readonly isTracked: boolean;
  readonly device: (word: Word) => NetDevice;
  readonly assume: (word: Word, reason: string) => void;
  /** An action that is left out: the rule lacks it. */
  readonly refuse: (word: Word, text: string, reason: string) => void;
}

/** What an action leaves to the actions after it. */
export interface State {
  key: TunnelKey | undefined;
  changed: boolean;
  /** The zones that the filter tracks. */
  readonly zones: Zone[];
}

/** A zone of `ct`. */
export interface Zone {
  readonly number: number;
  readonly word: Word;
}

export type Read = (words: Cursor, context: ActionContext, state: State, word: Word) => Step[];
