/** What a document holds of what spreads frames over queues, as types. `schema.ts` describes each key. */

export const RX_HASH_FUNCTIONS = ["none", "inverted_xor8", "toeplitz"] as const;

/** Bits of IBV_RX_HASH_, which is left out. */
export const RX_HASH_FIELDS = {
  src_ipv4: 0x1,
  dst_ipv4: 0x2,
  src_ipv6: 0x4,
  dst_ipv6: 0x8,
  src_port_tcp: 0x10,
  dst_port_tcp: 0x20,
  src_port_udp: 0x40,
  dst_port_udp: 0x80,
  ipsec_spi: 0x100,
  inner: 0x8000_0000,
} as const;

/** Bits of MLX5_RX_HASH_FIELD_SELECT_, which is left out. */
export const SELECTED_FIELDS = { src_ip: 1, dst_ip: 2, l4_sport: 4, l4_dport: 8, ipsec_spi: 16 } as const;

/** ibv_create_rwq_ind_table: names of work queues, a power of two of them. */
export interface ScenarioIndirectionTable {
  name: string;
  description?: string;
  ind_tbl: string[];
}

/** `struct ibv_rx_hash_conf` */
export interface ScenarioHash {
  rx_hash_function?: "toeplitz";
  /** 40 bytes as hexadecimal digits. */
  rx_hash_key: string;
  rx_hash_fields_mask: (keyof typeof RX_HASH_FIELDS)[];
}

/** CREATE_RQT: names of queues, a power of two of them. */
export interface ScenarioRqt {
  name: string;
  description?: string;
  queues: string[];
}

/** `rx_hash_field_select` of a TIR context. */
export interface ScenarioFieldSelector {
  l3_prot_type?: "ipv4" | "ipv6";
  l4_prot_type?: "tcp" | "udp";
  selected_fields: (keyof typeof SELECTED_FIELDS)[];
}

/** CREATE_TIR: to a queue, or over an RQT. */
export interface ScenarioTir {
  name: string;
  description?: string;
  queue?: string;
  rqt?: string;
  rx_hash_fn?: (typeof RX_HASH_FUNCTIONS)[number];
  rx_hash_symmetric?: boolean;
  /** 40 bytes as hexadecimal digits. */
  rx_hash_toeplitz_key?: string;
  rx_hash_field_selector_outer?: ScenarioFieldSelector;
  rx_hash_field_selector_inner?: ScenarioFieldSelector;
}
