/**
 * Full offload, DECRYPT (docs/esp.md): replaces an ESP packet by the packet or payload that it
 * carries (RFC 4303, 3.4).
 *
 *     tunnel      link | outer headers | ESP, IV | IP | ... | TFC | trailer | ICV   ->  link | IP | ...
 *     transport   link | IP | [UDP] | ESP, IV | payload | TFC | trailer | ICV       ->  link | IP | payload
 */
import { JOB_GOOD, JOB_NUMBER } from "../../src/abi/cipher";
import { FRAME_ADDRESS, FRAME_LENGTH } from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import {
  ESP_BYTES,
  ESP_ESN,
  ESP_FLAGS,
  ESP_HARD_LIMIT,
  ESP_ICV,
  ESP_NUMBER,
  ESP_PACKETS,
  ESP_SPI,
  ESP_TRANSPORT,
  ESP_UDP,
  ESP_VERSION,
} from "../../src/abi/esp";
import { PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_NONE } from "../../src/abi/protocols";
import { Check } from "../../src/abi/trace";
import { copyOnWrite } from "../branch/bytes";
import { noteCheck } from "../branch/events";
import { open } from "../crypto/gcm";
import { SINGLE_JOB } from "../memory";
import { drop } from "../branch/outcome";
import { BRANCH_FRAME } from "../branch/branch";
import { be32 } from "../wire/cursor";
import { Found, findEsp } from "./find";
import { Prepared } from "./end";
import { ESP_HEADER, fillJob, TRAILER } from "./job";
import { setTraffic, traffic } from "./outer";
import { announce, ownLength, Packet, reshape, setLength } from "./packet";
import { isTrailer } from "./trailer";
import { infer, isBelowZero, windowCheck, windowNote } from "./replayWindow";

const ECN: u32 = 3;
const CE: u32 = 3;

namespace Opening {
  /** The sequence number of the last packet that was checked. */
  export let number: u64 = 0;
}

/**
 * Decrypts the packet of the branch; returns whether the branch continues, with the inner packet.
 */
export function decrypt(branch: usize, association: usize): bool {
  if (!isPacket(branch, association)) return false;
  const why = unwelcome(branch, association);
  if (why != Reason.none) return drop(branch, why);
  if (!layOut(branch, association, SINGLE_JOB)) return false;
  return open(SINGLE_JOB) ? take(branch, association) : forged(branch);
}

/** First of two steps, for packets that are opened together: lays out the job. */
export function prepareDecrypt(branch: usize, association: usize, job: usize): Prepared {
  if (!isPacket(branch, association)) return Prepared.ended;
  // Earlier packets of the batch are not counted yet, so the verdict waits until they are.
  if (unwelcome(branch, association) != Reason.none) return Prepared.alone;
  // Unreached: copies have rules of their own, so a rule in a batch changes bytes that nothing shares.
  return layOut(branch, association, job) ? Prepared.ready : Prepared.ended;
}

/**
 * Second step: the job is done, and earlier packets of the batch are counted. Returns whether the
 * branch continues.
 */
export function finishDecrypt(branch: usize, association: usize, job: usize): bool {
  findEsp(branch, hasUdp(association));
  const why = unwelcome(branch, association);
  if (why != Reason.none) return drop(branch, why);
  // Earlier packets changed the inferred number. The packet was opened with another number, was
  // refused, and is unchanged.
  if (Opening.number != load<u64>(job, JOB_NUMBER)) return decrypt(branch, association);
  return load<u8>(job, JOB_GOOD) ? take(branch, association) : forged(branch);
}

function forged(branch: usize): bool {
  if (TRACED) noteCheck(Check.esp_icv, Opening.number);
  return drop(branch, Reason.esp_authentication);
}

/** Whether there is an ESP packet for the association; if not, the branch has ended. */
function isPacket(branch: usize, association: usize): bool {
  const transport = isTransport(association);
  if (!findEsp(branch, hasUdp(association))) return drop(branch, Reason.esp_not_esp);
  if (Packet.fragment) return drop(branch, Reason.esp_fragment);
  if (!encapsulated(association, transport)) return drop(branch, Reason.esp_encapsulation);
  const shortest = ESP_HEADER + TRAILER + <u32>load<u8>(association, ESP_ICV);
  if (Packet.end == 0 || Packet.end - Found.esp < shortest) {
    if (TRACED) noteShort(branch, shortest);
    return drop(branch, Reason.esp_truncated);
  }
  if (be32(headerOf(branch)) == load<u32>(association, ESP_SPI)) return true;
  if (TRACED) noteCheck(Check.esp_spi, be32(headerOf(branch)), load<u32>(association, ESP_SPI));
  return drop(branch, Reason.esp_spi);
}

// @ts-ignore: decorator
@inline
function isTransport(association: usize): bool {
  return (load<u32>(association, ESP_FLAGS) & ESP_TRANSPORT) != 0;
}

function hasUdp(association: usize): bool {
  if (isTransport(association)) return load<u32>(association, ESP_BYTES) != 0;
  return load<u16>(association, ESP_UDP) != 0;
}

/** Whether the headers before ESP are those of the action. */
function encapsulated(association: usize, transport: bool): bool {
  if (Found.udp != hasUdp(association)) {
    if (TRACED) noteCheck(Check.esp_udp, Found.udp ? 1 : 0);
    return false;
  }
  if (transport || Packet.version == <u32>load<u8>(association, ESP_VERSION)) return true;
  if (TRACED) noteCheck(Check.esp_version, Packet.version, load<u8>(association, ESP_VERSION));
  return false;
}

/** Notes that the packet is shorter than `shortest`, or is cut. For the traced core only. */
export function noteShort(branch: usize, shortest: u32): void {
  if (Packet.end == 0) noteCheck(Check.esp_cut, load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_LENGTH));
  else noteCheck(Check.esp_short, Packet.end - Found.esp, shortest);
}

// @ts-ignore: decorator
@inline
function headerOf(branch: usize): usize {
  return <usize>load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS) + <usize>Found.esp;
}

/** Checks the hard limit and the sequence number: Reason.none, or the reason to drop the packet. */
function unwelcome(branch: usize, association: usize): u32 {
  const limit = load<u64>(association, ESP_HARD_LIMIT);
  if (limit != 0 && load<u64>(association, ESP_PACKETS) >= limit) {
    if (TRACED) noteCheck(Check.esp_limit, load<u64>(association, ESP_PACKETS), limit);
    return Reason.esp_hard_limit;
  }
  const low = be32(headerOf(branch) + 4);
  const extended = (load<u32>(association, ESP_FLAGS) & ESP_ESN) != 0;
  if (extended && isBelowZero(association, low)) {
    if (TRACED) noteCheck(Check.esp_below_zero, low, load<u64>(association, ESP_NUMBER));
    return Reason.esp_replay;
  }
  Opening.number = extended ? infer(association, low) : <u64>low;
  return windowCheck(association, Opening.number);
}

/** Copies the bytes on write, and lays out the job that opens them. */
function layOut(branch: usize, association: usize, job: usize): bool {
  if (!copyOnWrite(branch, 0)) return false;
  fillJob(job, association, headerOf(branch), sealedLength(association), Opening.number);
  return true;
}

// @ts-ignore: decorator
@inline
function sealedLength(association: usize): u32 {
  return Packet.end - Found.esp - ESP_HEADER - <u32>load<u8>(association, ESP_ICV);
}

/** Counts an authentic packet and delivers its content; returns whether the branch continues. */
function take(branch: usize, association: usize): bool {
  windowNote(association, Opening.number);
  store<u64>(association, load<u64>(association, ESP_PACKETS) + 1, ESP_PACKETS);
  const payload = headerOf(branch) + ESP_HEADER;
  const length = sealedLength(association);
  if (!isTrailer(payload, length)) return drop(branch, Reason.esp_trailer);
  const end = payload + length;
  const next: u32 = load<u8>(end - 1);
  if (next == PROTOCOL_NONE) return drop(branch, Reason.esp_dummy);
  const clear = length - TRAILER - <u32>load<u8>(end - TRAILER);
  return isTransport(association)
    ? bringPayload(branch, payload, clear, next)
    : bringPacket(branch, payload, clear, next);
}

/** Puts the inner packet after the link header of the frame. */
function bringPacket(branch: usize, packet: usize, available: u32, next: u32): bool {
  const inner = next == PROTOCOL_IPV4 || next == PROTOCOL_IPV6;
  const length = inner ? ownLength(packet, available, next) : 0;
  if (length == 0) {
    if (TRACED) noteCheck(inner ? Check.esp_inner_length : Check.esp_next_header, next, available);
    return drop(branch, Reason.esp_trailer);
  }
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const old: usize = load<u32>(frame, FRAME_ADDRESS);
  const version: u32 = next == PROTOCOL_IPV4 ? 4 : 6;
  const marked = (traffic(old + Packet.ip, Packet.version) & ECN) == CE;
  const link = Packet.ip;
  let start = packet - link;
  memory.copy(start, old, link);
  if (version != Packet.version) start = announce(frame, start, link, version);
  if (marked) mark(packet, version, length);
  reshape(branch, start, <u32>(packet + length - start));
  return true;
}

/** Marks an ECN-capable packet that met congestion (RFC 4301, 5.1.2.1). */
function mark(ip: usize, version: u32, length: u32): void {
  const value = traffic(ip, version);
  if ((value & ECN) == 0) return;
  setTraffic(ip, version, value | CE);
  setLength(ip, version, length);
}

/** Puts the payload after the IP header of the frame. */
function bringPayload(branch: usize, payload: usize, available: u32, next: u32): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const length = ownLength(payload, available, next);
  const carried = length == 0 ? available : length;
  const front = Packet.next;
  const start = payload - front;
  memory.copy(start, load<u32>(frame, FRAME_ADDRESS), front);
  store<u8>(start + Packet.protocolAt, <u8>next);
  setLength(start + Packet.ip, Packet.version, front - Packet.ip + carried);
  reshape(branch, start, front + carried);
  return true;
}
