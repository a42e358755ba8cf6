/**
 * QUERY_HCA_CAP and vport contexts (docs/devx.md): the capabilities that a program queries before
 * it uses a feature. They report what the device of the profile can do; the rest is 0. MODEL:
 * maximum and current capabilities are equal.
 */
import { HOP_LIMIT, MAX_MEMBERS } from "../../abi/engine.js";
import { MAX_REFORMAT } from "../../abi/reformat.js";
import { deviceAttributes } from "../base/attributes.js";
import { MAX_PORTS_OF_C } from "../base/port/ports.js";
import { MAX_MODIFY } from "../action/modifyHeader.js";
import type { Command } from "./command.js";
import { LOG_MAX_COUNTER_BULK } from "./counterCommands.js";
import { LOG_MAX_TABLE_SIZE } from "./flowTable.js";
import { OUTPUT, QUERY_HCA_CAP, QUERY_VPORT_CONTEXT, writeField, type Field } from "./layouts.js";
import { CONN_TRACK_ASO_TYPE, FIRST_HIT_ASO_TYPE, FLOW_METER_ASO_TYPE, FLOW_METER_TYPE } from "./opcodes.js";

const CAPABILITIES_SIZE = 4096;
const VPORT_CONTEXT_SIZE = 256;
const HCA_VPORT_CONTEXT_SIZE = 512;

/** A field of a capability group, and its value. */
type Said = readonly [field: Field, value: number];

/** Registers C that meters can write. */
const METER_REGISTERS = 0xff;
/** MODEL: numbers have 24 bits; memory runs out first. */
const LOG_MAX_OBJECTS = 24;
/** Registers C that frames keep from the eSwitch to a function: C0 and C1. */
const PASSING_REGISTERS = 0x3;
const ETHERNET = 1;
const VPORT_UP = 1;
const LINK_UP = 5;
const ACTIVE = 4;

/** Capability groups: op_mod without its last bit. A group without fields is all 0. */
const GROUPS: ReadonlyMap<number, (command: Command) => readonly Said[]> = new Map([
  [0x00, general],
  [0x01, () => []],
  [0x02, () => []],
  [0x03, () => []],
  [0x04, () => []],
  [0x07, nicFlowTable],
  [0x08, eswitchFlowTable],
  [0x09, () => []],
  [0x0c, qos],
  [0x0f, () => []],
  [0x20, general2],
  [0x28, advancedRdma],
]);

export function queryHcaCap(command: Command): void {
  const { op_mod, other_function, function_id } = command.read(QUERY_HCA_CAP);
  const group = GROUPS.get(op_mod >>> 1);
  if (group === undefined) return command.fail("bad_value", "op_mod", op_mod, "no such group of capabilities");
  if (other_function !== 0) command.fail("unsupported", "function_id", function_id, "a function asks about itself");
  const said = group(command);
  const room = command.out.byteLength - OUTPUT.size;
  command.succeed();
  // A caller may read only the first bytes of a group.
  const bytes = new Uint8Array(CAPABILITIES_SIZE);
  const view = new DataView(bytes.buffer);
  for (const [field, value] of said) writeField(view, field, value);
  for (let at = 0; at < Math.min(room, CAPABILITIES_SIZE); at++) command.out.setUint8(OUTPUT.size + at, bytes[at] ?? 0);
}

function general({ context: { device, function: owner } }: Command): readonly Said[] {
  const { limits } = device.hardware.inventory;
  const types = objectTypes(device.profile.rules.definers);
  return [
    [[4, 1], 1], // hca_cap_2
    [[6, 16], owner.vport], // vhca_id
    [[17, 8], Math.log2(limits.max_qp_wr) | 0], // log_max_qp_sz
    [[19, 5, 3], Math.log2(limits.max_qp) | 0], // log_max_qp
    [[27, 5, 3], Math.log2(limits.max_cq) | 0], // log_max_cq
    [[52, 1], Number(owner.managesSwitch)], // vport_group_manager
    [[52, 1, 6], 1], // nic_flow_table
    [[52, 1, 7], Number(owner.managesSwitch)], // eswitch_manager
    [[54, 2, 6], ETHERNET], // port_type
    [[55, 8], Math.min(device.ports, MAX_PORTS_OF_C)], // num_ports
    [[67, 1, 3], 1], // qos
    [[71, 1, 5], 1], // ud
    [[105, 8], 0xff], // flow_counter_bulk_alloc: each of the eight sizes
    [[128, 32], Number(types >> 32n)], // general_obj_types
    [[132, 32], Number(types & 0xffffffffn)],
    [[136, 4, 4], device.profile.steeringFormat], // steering_format_version
    [[174, 1, 1], 1], // adv_rdma
  ];
}

/** One bit for each type of general object. */
function objectTypes(hasAso: boolean): bigint {
  const types = hasAso ? [FLOW_METER_ASO_TYPE, FIRST_HIT_ASO_TYPE, CONN_TRACK_ASO_TYPE] : [];
  return [FLOW_METER_TYPE, ...types].reduce((bits, type) => bits | (1n << BigInt(type)), 0n);
}

/** The capabilities of one kind of table, from a byte of a group on. */
function tableProperties({ context: { device } }: Command, at: number, tags: boolean): Said[] {
  const bit = (byte: number, which: number): Said => [[at + byte, 1, which], 1];
  const fields = (from: number): Said[] => fieldSupport(from, device.parser.declaresGeneveOption);
  return [
    bit(0, 0), // ft_support
    [[at, 1, 1], Number(tags)], // flow_tag
    bit(0, 2), // flow_counter
    bit(0, 3), // flow_modify_en
    bit(0, 5), // identified_miss_table
    bit(0, 7), // reformat
    bit(1, 0), // decap
    bit(1, 2), // pop_vlan
    bit(1, 3), // push_vlan
    bit(1, 5), // pop_vlan_2
    bit(1, 6), // push_vlan_2
    bit(1, 7), // reformat_and_vlan_action
    bit(2, 0), // modify_and_vlan_action
    bit(2, 2), // reformat_l3_tunnel_to_l2
    bit(2, 3), // reformat_l2_to_l3_tunnel
    bit(2, 4), // reformat_and_modify_action
    [[at + 4, 6, 2], LOG_MAX_TABLE_SIZE], // log_max_ft_size
    [[at + 5, 8], LOG_MAX_OBJECTS], // log_max_modify_header_context
    [[at + 6, 8], Math.min(MAX_MODIFY, 0xff)], // max_modify_header_actions
    [[at + 7, 8], 0xff], // max_ft_level
    [[at + 10, 8], 32], // metadata_reg_b_width
    [[at + 11, 8], 32], // metadata_reg_a_width
    [[at + 15, 8], LOG_MAX_OBJECTS], // log_max_ft_num
    [[at + 18, 8], Math.log2(MAX_MEMBERS)], // log_max_flow_counter
    [[at + 19, 8], Math.log2(MAX_MEMBERS)], // log_max_destination
    [[at + 23, 8], LOG_MAX_TABLE_SIZE], // log_max_flow
    ...fields(at + 32), // ft_field_support
    ...fields(at + 48), // ft_field_bitmask_support
  ];
}

/**
 * One bit for each field of the match parameters that a key has, including Geneve and its declared
 * option.
 */
function fieldSupport(at: number, geneveOption: boolean): Said[] {
  return [
    [[at, 32], 0xfffffffd], // all of the outer packet; not source_vhca_port
    [[at + 4, 32], 0xfffffe03], // of the inner one; metadata_reg_b, metadata_reg_a
    [[at + 8, 32], geneveOption ? 0xc7fffbff : 0x07fffbff], // MPLS, SPI, hop limits, QP, svlan; not outer_emd_tag
    [[at + 15, 8], 0xff], // metadata_reg_c_7 to _0
  ];
}

/** Fields of the match parameters that the first set of bits has no place for. */
const FIELDS_2 = 0x3ac00; // bth_opcode, tunnel_header_3 to _0, macsec_tag, ipv4_ihl
/** l3_ok, l4_ok, ipv4_checksum_ok, l4_checksum_ok of both packets. */
const OK_FIELDS = 0x001ef;

/** Supported fields, at each of these bytes of a group. */
function fieldSupport2({ context: { device } }: Command, ...at: readonly number[]): Said[] {
  const fields = device.profile.rules.definers ? FIELDS_2 | OK_FIELDS : FIELDS_2;
  return at.map((byte) => [[byte, 32], fields]);
}

function nicFlowTable(command: Command): readonly Said[] {
  return [
    [[0, 1], 1], // nic_rx_multi_path_tirs
    [[0, 1, 1], 1], // nic_rx_multi_path_tirs_fts
    [[0, 1, 4], 1], // nic_rx_flow_tag_multipath_en
    [[0, 1, 6], 1], // nic_rx_rdma_fwd_tir
    [[3, 8], HOP_LIMIT], // nic_receive_max_steering_depth
    [[4, 1], 1], // encap_general_header
    [[5, 5, 3], LOG_MAX_OBJECTS], // log_max_packet_reformat_context
    [[6, 10, 6], Math.min(MAX_REFORMAT, 0x3ff)], // max_encap_header_size
    ...tableProperties(command, 64, true), // received frames
    ...tableProperties(command, 128, true), // of these, RDMA
    ...tableProperties(command, 256, false), // sent frames
    ...tableProperties(command, 320, false), // of these, RDMA
    // In the same order, support and bit masks.
    ...fieldSupport2(command, 640, 656, 672, 688, 736, 752, 768, 784),
  ];
}

/** RDMA transport tables. */
function advancedRdma(command: Command): readonly Said[] {
  return [
    ...tableProperties(command, 64, true), // received frames
    ...tableProperties(command, 128, false), // sent frames
    ...fieldSupport2(command, 192, 208, 224, 240),
  ];
}

function eswitchFlowTable(command: Command): readonly Said[] {
  if (!command.context.function.managesSwitch) return [];
  return [
    [[0, 8], PASSING_REGISTERS], // fdb_to_vport_reg_c_id
    [[3, 1, 2], 1], // multi_fdb_encap
    [[3, 1, 4], 1], // fdb_multi_path_to_table
    ...tableProperties(command, 64, false),
  ];
}

function qos(command: Command): readonly Said[] {
  const aso = command.context.device.profile.rules.definers;
  return [
    [[0, 1, 7], 1], // flow_meter_srtcm
    [[2, 8], LOG_MAX_OBJECTS], // log_max_flow_meter
    [[3, 8], METER_REGISTERS], // flow_meter_reg_id
    [[5, 1], 1], // flow_meter
    [[37, 5, 3], aso ? LOG_MAX_OBJECTS : 0], // log_meter_aso_max_alloc
    [[38, 5, 3], aso ? LOG_MAX_OBJECTS : 0], // log_max_num_meter_aso
  ];
}

function general2(): readonly Said[] {
  return [[[74, 5, 3], LOG_MAX_COUNTER_BULK]]; // flow_counter_bulk_log_max_alloc
}

/** The vport that a command queries: its own, or any vport for the manager. */
function askedVport(command: Command): number {
  const { other_vport, vport_number } = command.read(QUERY_VPORT_CONTEXT);
  const { device, function: owner } = command.context;
  if (other_vport === 0) return owner.vport;
  if (!owner.managesSwitch) command.fail("not_manager", "vport_number", vport_number);
  if (vport_number > device.vports) command.fail("bad_value", "vport_number", vport_number, `0 to ${device.vports}`);
  return vport_number;
}

/** The eSwitch's settings of a vport. */
export function queryEswVportContext(command: Command): void {
  if (!command.context.function.managesSwitch) command.fail("not_manager", "vport_number");
  askedVport(command);
  command.expect(QUERY_VPORT_CONTEXT.size, OUTPUT.size + VPORT_CONTEXT_SIZE);
  command.succeed();
  writeField(command.out, [0, 1], 1, OUTPUT.size); // fdb_to_vport_reg_c
  writeField(command.out, [1, 8], PASSING_REGISTERS, OUTPUT.size); // fdb_to_vport_reg_c_id
}

/** State and GUIDs of a vport. MODEL: it is always up; all vports have the GUID of the node. */
export function queryHcaVportContext(command: Command): void {
  askedVport(command);
  command.expect(QUERY_VPORT_CONTEXT.size, OUTPUT.size + HCA_VPORT_CONTEXT_SIZE);
  command.succeed();
  const say = (field: Field, value: number): void => writeField(command.out, field, value, OUTPUT.size);
  say([32, 1, 2], 1); // has_raw
  say([34, 4], LINK_UP); // port_physical_state
  say([35, 4], ACTIVE); // port_state
  say([35, 4, 4], VPORT_UP); // vport_state
  const { node_guid, sys_image_guid } = deviceAttributes(command.context.device);
  for (const [at, guid] of [
    [40, sys_image_guid],
    [48, node_guid],
    [56, node_guid],
  ] as const) {
    command.out.setBigUint64(OUTPUT.size + at, guid);
  }
}
