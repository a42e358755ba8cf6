/** What ESP actions of a scenario document hold. `schema.ts` describes each key; the compiler holds the two equal. */
import type { FlowFilterFields } from "../document.js";

export const ESP_DIRECTIONS = ["decrypt", "encrypt"] as const;
export const ESP_OFFLOADS = ["full", "inline"] as const;
export const ESP_MODES = ["tunnel", "transport"] as const;
/** Specs whose filters can be headers in front of ESP. */
export const ENCAP_TYPES = ["eth", "ipv4", "ipv4_ext", "ipv6", "udp"] as const;
export type EncapType = (typeof ENCAP_TYPES)[number];

/** Exactly one of these keys. */
export type ScenarioEncap = { [K in EncapType]?: FlowFilterFields };

/** `struct ibv_flow_action_esp` and what it leads to; key, salt and IV as hexadecimal digits. */
export interface ScenarioEsp {
  direction: (typeof ESP_DIRECTIONS)[number];
  offload?: (typeof ESP_OFFLOADS)[number];
  mode?: (typeof ESP_MODES)[number];
  key: string;
  salt: string;
  iv?: string;
  /** Bytes of the ICV. */
  icv?: number;
  spi?: string | number;
  seq?: string | number;
  /** Left out: no extended sequence numbers. */
  esn?: string | number;
  newWindow?: boolean;
  /** Sequence numbers in the replay window. */
  replay?: number;
  tfcPad?: number;
  hardLimit?: number;
  encap?: ScenarioEncap[];
  metadata?: boolean;
}
