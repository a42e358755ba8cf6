/**
 * The eSwitch: moves a branch between NIC_TX, FDB and NIC_RX (docs/rules.md, "The path of a frame").
 * In: a branch at the end of a domain, or a vport that a rule names. Out: the branch is at the root
 * table of another domain, or has a destination.
 *
 *     NIC_TX of a function --egress--> FDB root table --+--toFunction--> NIC_RX of a function
 *                       the wire --------^              +--toPort------> a port
 *
 * A branch enters each domain at most once, so every walk ends.
 */
import { FRAME_PORT, FRAME_VPORT, MAX_FUNCTIONS, TABLE_ROOT, VPORT_MANAGER, VPORT_UPLINK } from "../../src/abi/engine";
import { DEST_PORT, DEST_SWITCHED, Reason, Verdict } from "../../src/abi/outcome";
import { EXT_REGISTER_B, MISC2_REGISTER_A, MISC2_REGISTER_C_7 } from "../../src/abi/key";
import { FUNCTIONS } from "../memory";
import { deliverTo, setVerdict } from "../branch/outcome";
import {
  BRANCH_FLAGS,
  BRANCH_FRAME,
  BRANCH_KEY,
  BRANCH_LOWER,
  BRANCH_MISSES,
  BRANCH_TABLE,
  BRANCH_VPORT,
  BRANCH_WRITTEN,
  HAS_TAG,
} from "../branch/branch";
import { invalidate } from "../epoch";
import { note } from "../branch/events";
import { Move, TraceEvent } from "../../src/abi/trace";

export namespace Eswitch {
  /** The root table of the FDB; 0 for none. */
  export let root: usize = 0;
}

/** The registers that cross domains, a bit each: C0 and C1. */
const PASSING: u32 = 3;

/** Sets the root table of the eSwitch; 0 for none. */
export function setFdb(table: usize): void {
  invalidate();
  Eswitch.root = table;
}

/** Sets the first table of frames for a function. */
export function setVport(vport: u32, table: usize): void {
  assert(vport < <u32>MAX_FUNCTIONS, "vport number out of range");
  invalidate();
  store<u32>(FUNCTIONS + ((<usize>vport) << 2), <u32>table);
}

/**
 * The end of the send path of a function: to the FDB, or by default to a port or the manager.
 * Whether the branch goes on.
 */
export function egress(branch: usize): bool {
  if (Eswitch.root == 0) return byDefault(branch);
  if (TRACED) note(TraceEvent.move, branch, <u32>Eswitch.root, Move.egress);
  return enter(branch, Eswitch.root);
}

/**
 * A branch without an FDB rule: from the root table by default, from other tables to the manager.
 */
export function missFdb(branch: usize, flags: u32): bool {
  if (TRACED) {
    if (!(flags & TABLE_ROOT)) noteDefault(branch);
  }
  return flags & TABLE_ROOT ? byDefault(branch) : toFunction(branch, VPORT_MANAGER);
}

/** The default: frames of the manager leave by their port, all others go to the manager. */
function byDefault(branch: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  if (TRACED) {
    if (load<u32>(frame, FRAME_VPORT) != VPORT_MANAGER) noteDefault(branch);
  }
  if (load<u32>(frame, FRAME_VPORT) != VPORT_MANAGER) return toFunction(branch, VPORT_MANAGER);
  deliverTo(branch, load<u16>(frame, FRAME_PORT), DEST_PORT);
  return false;
}

/** Sends a branch to the vport that a rule names; whether it goes on. */
export function toVport(branch: usize, vport: u32): bool {
  if (TRACED) {
    if (vport != VPORT_UPLINK) note(TraceEvent.move, branch, firstTable(vport), Move.vport, vport);
  }
  if (vport != VPORT_UPLINK) return toFunction(branch, vport);
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  toPort(branch, load<u16>(frame, FRAME_PORT));
  return false;
}

/** Sends a branch out of the port that a rule names. No frame returns to the wire it came from. */
export function toPort(branch: usize, port: u32): void {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const fromWire = load<u32>(frame, FRAME_VPORT) == VPORT_UPLINK;
  if (fromWire && load<u16>(frame, FRAME_PORT) == port) setVerdict(branch, Verdict.drop, Reason.wire_to_wire);
  else deliverTo(branch, port, DEST_PORT | DEST_SWITCHED);
}

/** Notes that the default of the FDB sends a branch to the PF. */
function noteDefault(branch: usize): void {
  note(TraceEvent.move, branch, firstTable(VPORT_MANAGER), Move.fdb_default, VPORT_MANAGER);
}

function firstTable(vport: u32): u32 {
  return load<u32>(FUNCTIONS + ((<usize>vport) << 2));
}

/** Moves a branch to the receive path of a function, which sets tags of its own. */
function toFunction(branch: usize, vport: u32): bool {
  store<u32>(branch, load<u32>(branch, BRANCH_FLAGS) & ~HAS_TAG, BRANCH_FLAGS);
  store<u8>(branch, <u8>vport, BRANCH_VPORT);
  return enter(branch, load<u32>(FUNCTIONS + ((<usize>vport) << 2)));
}

/** Moves a branch to another domain, where it keeps C0 and C1 only. */
function enter(branch: usize, table: usize): bool {
  store<u32>(branch, <u32>table, BRANCH_TABLE);
  store<u64>(branch, 0, BRANCH_LOWER);
  // Misses and the reason of a miss.
  store<u16>(branch, 0, BRANCH_MISSES);
  const written = load<u32>(branch, BRANCH_WRITTEN);
  if (written & ~PASSING) {
    const key: usize = load<u32>(branch, BRANCH_KEY);
    // C7 to C2, which precede C1 and C0.
    memory.fill(key + MISC2_REGISTER_C_7, 0, 24);
    store<u32>(key, 0, EXT_REGISTER_B);
    store<u32>(branch, written & PASSING, BRANCH_WRITTEN);
  }
  // Register A belongs to the send path.
  store<u32>(load<u32>(branch, BRANCH_KEY), 0, MISC2_REGISTER_A);
  return true;
}
