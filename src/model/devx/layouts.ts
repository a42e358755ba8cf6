/**
 * Where the fields of device commands lie (docs/devx.md; the Adapters PRM has the layouts). Big-endian; a field is [byte, bits], or
 * [byte, bits, bit] where it does not begin with its byte. Bits count from the most significant one.
 */
export type Field = readonly [byte: number, bits: number, bit?: number];

/** `size` bytes, and more where a list follows. */
export interface Layout<F extends string = string> {
  readonly size: number;
  readonly fields: Readonly<Record<F, Field>>;
}

export function layout<const F extends string>(size: number, fields: Readonly<Record<F, Field>>): Layout<F> {
  return { size, fields };
}

const HEADER = { opcode: [0, 16], uid: [2, 16], op_mod: [6, 16] } as const satisfies Record<string, Field>;

/** | opcode 2 | uid 2 | 0 2 | op_mod 2 | */
export const COMMAND = layout(8, HEADER);
/** | status 1 | 0 3 | syndrome 4 | number 4 | 0 4 | */
export const OUTPUT = layout(16, { status: [0, 8], syndrome: [4, 32], id: [8, 32] });
/** | status 1 | 0 3 | syndrome 4 | 0 1 | number 3 | 0 4 |: MODEL: no steering address. */
export const OUTPUT_24 = layout(16, { status: [0, 8], syndrome: [4, 32], id: [9, 24] });

/** | header 8 | number 4 | 0 4 |: DEALLOC commands. */
export const DEALLOC = layout(16, { ...HEADER, id: [8, 32] });
/** | header 8 | 0 1 | number 3 | 0 4 |: DESTROY_TIR, DESTROY_RQT. */
export const DESTROY_24 = layout(16, { ...HEADER, id: [9, 24] });

/** | header 8 | counter id 4 | 0 2 | 0 3 bits, log size 5 bits | bulk 1 | */
export const ALLOC_FLOW_COUNTER = layout(16, {
  ...HEADER,
  flow_counter_id: [8, 32],
  flow_counter_bulk_log_size: [14, 5, 3],
  flow_counter_bulk: [15, 8],
});
/** | header 8 | 0 4 | mkey 4 | address 8 | clear 1 bit, to memory 1 bit, counters 30 bits | counter id 4 | */
export const QUERY_FLOW_COUNTER = layout(32, {
  ...HEADER,
  clear: [24, 1, 0],
  dump_to_memory: [24, 1, 1],
  num_of_counters: [24, 30, 2],
  flow_counter_id: [28, 32],
});

/** | opcode 2 | uid 2 | 0 2 | type 2 | id 4 | 0 3 bits, log range 5 bits, 0 3 | */
export const GENERAL_OBJECT = layout(16, { ...HEADER, obj_type: [6, 16], obj_id: [8, 32], log_obj_range: [12, 5, 3] });
/** | select 8 | 0 9 | access PD 3 | 0 44 | data 64 | */
export const ASO_BODY = layout(128, { access_pd: [17, 24] });
export const ASO_DATA_AT = 64;
/** | select 8 | active 1 bit, 0 3 bits, register 4 bits | table type 1 | 0 3 | table 3 | 0 16 | parameters 32 | 0 48 | addresses 16 | */
export const FLOW_METER_BODY = layout(128, {
  active: [8, 1, 0],
  return_reg_id: [8, 4, 4],
  table_type: [9, 8],
  destination_table_id: [13, 24],
});
export const FLOW_METER_PARAMETERS = 32;
/**
 * | valid 1 bit, overflow 1 bit, start colour 2 bits, both on green 1 bit, 0 1 bit, mode 2 bits | 0 7
 * | 0 3 bits, CBS exponent 5 bits | mantissa 1 | 0 3 bits, CIR exponent 5 bits | mantissa 1 | tokens 4
 * | 0 3 bits, EBS exponent 5 bits | mantissa 1 | 0 3 bits, EIR exponent 5 bits | mantissa 1 | tokens 4 | time 8 |:
 * one meter, of FLOW_METER_BODY from byte 32, of ASO data twice. The state is that of ASO objects.
 */
export const METER_BLOCK = layout(32, {
  valid: [0, 1, 0],
  bucket_overflow: [0, 1, 1],
  start_color: [0, 2, 2],
  both_buckets_on_green: [0, 1, 4],
  meter_mode: [0, 2, 6],
  cbs_exponent: [8, 5, 3],
  cbs_mantissa: [9, 8],
  cir_exponent: [10, 5, 3],
  cir_mantissa: [11, 8],
  c_tokens: [12, 32],
  ebs_exponent: [16, 5, 3],
  ebs_mantissa: [17, 8],
  eir_exponent: [18, 5, 3],
  eir_mantissa: [19, 8],
  e_tokens: [20, 32],
});
/** 64 bits. */
export const METER_TIME_AT = 24;

const TABLE = { ...HEADER, other_vport: [8, 1, 0], vport_number: [10, 16], table_type: [16, 8] } as const;
const TABLE_ID = { ...TABLE, table_id: [21, 24] } as const;

/** | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 7 | context 40 | */
export const CREATE_FLOW_TABLE = layout(64, TABLE);
/** | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 4 | table 3 | 0 40 | */
export const QUERY_FLOW_TABLE = layout(64, TABLE_ID);
export const DESTROY_FLOW_TABLE = QUERY_FLOW_TABLE;
/** | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 4 | table 3 | group 4 | 0 36 | */
export const DESTROY_FLOW_GROUP = layout(64, { ...TABLE_ID, group_id: [24, 32] });
/** | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 4 | table 3 | 0 8 | index 4 | 0 28 | */
export const DELETE_FLOW_TABLE_ENTRY = layout(64, { ...TABLE_ID, flow_index: [32, 32] });
/** Of an input and of the output of QUERY_FLOW_TABLE. */
export const FLOW_TABLE_CONTEXT_AT = 24;
/**
 * | reformat 1 bit, decap 1 bit, software owner 1 bit, termination 1 bit, miss action 4 bits | level 1 | 0 1 | log size 1 | 0 1
 * | miss table 3 | 0 1 | LAG table 3 | 0 12 | roots 16 |
 */
export const FLOW_TABLE_CONTEXT = layout(40, {
  reformat_en: [0, 1, 0],
  decap_en: [0, 1, 1],
  sw_owner: [0, 1, 2],
  termination_table: [0, 1, 3],
  table_miss_action: [0, 4, 4],
  level: [1, 8],
  log_size: [3, 8],
  table_miss_id: [5, 24],
  lag_master_next_table_id: [9, 24],
});

/**
 * | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 4 | table 3 | 0 4 | first index 4 | 0 4
 * | last index 4 | 0 23 | criteria 1 | mask 512 | 0 448 |
 */
export const CREATE_FLOW_GROUP = layout(1024, {
  ...TABLE_ID,
  start_flow_index: [28, 32],
  end_flow_index: [36, 32],
  match_criteria_enable: [63, 8],
});
export const MATCH_CRITERIA_AT = 64;
export const MATCH_SIZE = 512;

/**
 * | header 8 | other vport 1 bit, 0 15 bits | vport 2 | 0 4 | table type 1 | 0 4 | table 3 | ignore level 1 bit, 0 23 bits
 * | what is set 1 | 0 4 | index 4 | 0 28 | context 768 |, then destinations and counters.
 */
export const SET_FLOW_TABLE_ENTRY = layout(832, {
  ...TABLE_ID,
  ignore_flow_level: [24, 1, 0],
  modify_enable_mask: [27, 8],
  flow_index: [32, 32],
});
export const FLOW_CONTEXT_AT = 64;
/**
 * | VLAN 4 | group 4 | 0 1 | tag 3 | 0 2 | action 2 | extended 1 bit, 0 1 bit, source 2 bits, 0 4 bits | destinations 3 | 0 1
 * | counters 3 | reformat 4 | header change 4 | second VLAN 4 | crypto 4 | 0 24 | value 512 | ASO 32 | 0 160 |
 */
export const FLOW_CONTEXT = layout(768, {
  push_vlan: [0, 32],
  group_id: [4, 32],
  flow_tag: [9, 24],
  action: [14, 16],
  extended_destination: [16, 1, 0],
  flow_source: [16, 2, 2],
  destination_list_size: [17, 24],
  flow_counter_list_size: [21, 24],
  packet_reformat_id: [24, 32],
  modify_header_id: [28, 32],
  push_vlan_2: [32, 32],
});
export const MATCH_VALUE_AT = 64;
/** | type 1 | number 3 | 0 1 bit, reformat 1 bit, 0 30 bits | */
export const DESTINATION = layout(8, { type: [0, 8], id: [1, 24], packet_reformat: [4, 1, 1] });
/** | type 1 | number 3 | 0 1 bit, reformat 1 bit, 0 30 bits | reformat 4 | 0 4 | */
export const EXTENDED_DESTINATION = layout(16, { ...DESTINATION.fields, packet_reformat_id: [8, 32] });
/** | number 4 | 0 4 |, and 8 bytes more among extended destinations. */
export const COUNTER_ENTRY = layout(8, { flow_counter_id: [0, 32] });

/** | header 8 | 0 20 | type 1 | 0 1 | 0 6 bits, size 10 bits | 0 2 | data ... | */
export const ALLOC_PACKET_REFORMAT = layout(36, { ...HEADER, reformat_type: [28, 8], reformat_data_size: [30, 10, 6] });
export const REFORMAT_DATA_AT = 34;
/** | header 8 | 0 4 | table type 1 | 0 2 | actions 1 | actions 8 ... | */
export const ALLOC_MODIFY_HEADER = layout(16, { ...HEADER, table_type: [12, 8], num_of_actions: [15, 8] });

/** | header 8 | 0 24 | context 240 | */
export const CREATE_TIR = layout(272, HEADER);
export const TIR_CONTEXT_AT = 32;
/**
 * | 0 4 | type 4 bits, 0 28 bits | 0 20 | 0 5 bits, queue type 3 bits | queue 3 | symmetric 1 bit, 0 1 bit, tunneled 1 bit, 0 5 bits
 * | table 3 | function 4 bits, 0 2 bits, loopback 2 bits | domain 3 | key 40 | outer L3 1 bit, L4 1 bit, fields 30 bits
 * | inner L3 1 bit, L4 1 bit, fields 30 bits | 0 152 |
 */
export const TIR_CONTEXT = layout(240, {
  disp_type: [4, 4],
  inline_q_type: [28, 3, 5],
  inline_rqn: [29, 24],
  rx_hash_symmetric: [32, 1],
  tunneled_offload_en: [32, 1, 2],
  indirect_table: [33, 24],
  rx_hash_fn: [36, 4],
  self_lb_en: [36, 2, 6],
  transport_domain: [37, 24],
  outer_l3: [80, 1],
  outer_l4: [80, 1, 1],
  outer_fields: [80, 30, 2],
  inner_l3: [84, 1],
  inner_l4: [84, 1, 1],
  inner_fields: [84, 30, 2],
});
export const TIR_KEY_AT = 40;
/** | header 8 | 0 24 | 0 20 | 0 5 bits, type 3 bits | 0 1 | most 2 | 0 2 | size 2 | 0 212 |, then the queues. */
export const CREATE_RQT = layout(272, {
  ...HEADER,
  list_q_type: [52, 3, 5],
  rqt_max_size: [54, 16],
  rqt_actual_size: [58, 16],
});
export const RQ_NUMBERS_AT = 272;
/** | 0 1 | number 3 | */
export const RQ_NUMBER = layout(4, { rq_num: [1, 24] });

/** | header 8 | 0 24 | */
export const SYNC_STEERING = layout(32, HEADER);
/** | header 8 | other 1 bit, 0 15 bits | number 2 | 0 4 | */
export const QUERY_HCA_CAP = layout(16, { ...HEADER, other_function: [8, 1, 0], function_id: [10, 16] });
/** | header 8 | other 1 bit, 0 15 bits | vport 2 | 0 4 | */
export const QUERY_VPORT_CONTEXT = layout(16, { ...HEADER, other_vport: [8, 1, 0], vport_number: [10, 16] });

/** All fields of a layout that begins at a byte. */
export function readFields<F extends string>(view: DataView, { fields }: Layout<F>, at = 0): Record<F, number> {
  const values = {} as Record<F, number>;
  for (const name of Object.keys(fields) as F[]) values[name] = readField(view, fields[name], at);
  return values;
}

export function readField(view: DataView, [byte, bits, bit = 0]: Field, at = 0): number {
  let value = 0;
  for (let n = bit; n < bit + bits;) {
    const taken = Math.min(8 - (n & 7), bit + bits - n);
    const whole = view.getUint8(at + byte + (n >> 3));
    value = value * 2 ** taken + ((whole >> (8 - (n & 7) - taken)) & (2 ** taken - 1));
    n += taken;
  }
  return value;
}

/** Sets fields of a layout that begins at a byte; those left out stay. */
export function writeFields<F extends string>(
  view: DataView,
  { fields }: Layout<F>,
  values: { readonly [K in F]?: number | boolean | undefined },
  at = 0,
): void {
  for (const name of Object.keys(values) as F[]) writeField(view, fields[name], Number(values[name] ?? 0), at);
}

export function writeField(view: DataView, [byte, bits, bit = 0]: Field, value: number, at = 0): void {
  let rest = value;
  for (let n = bit + bits; n > bit;) {
    const taken = Math.min(((n - 1) & 7) + 1, n - bit);
    const place = at + byte + ((n - 1) >> 3);
    const shift = 7 - ((n - 1) & 7);
    const mask = (2 ** taken - 1) << shift;
    view.setUint8(place, (view.getUint8(place) & ~mask) | ((rest % 2 ** taken) << shift));
    rest = Math.floor(rest / 2 ** taken);
    n -= taken;
  }
}
