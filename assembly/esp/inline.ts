/**
 * Inline crypto (docs/esp.md): the frame is an ESP packet, before and after.
 *
 *     link | IP | [UDP] | ESP, IV | payload   <->   link | IP | [UDP] | ESP, IV | payload | trailer | ICV
 * The core counts nothing, since several devices can share a flow.
 */
import { FRAME_ADDRESS } from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import {
  ESP_BAD_ICV,
  ESP_BAD_TRAILER,
  ESP_ESN,
  ESP_FLAGS,
  ESP_GOOD,
  ESP_ICV,
  ESP_METADATA,
  ESP_NEW_WINDOW,
  ESP_NUMBER,
  ESP_TRANSPORT,
} from "../../src/abi/esp";
import { PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_NONE, PROTOCOL_TCP, PROTOCOL_UDP } from "../../src/abi/protocols";
import { Check } from "../../src/abi/trace";
import { copyBytes } from "../branch/bytes";
import { noteCheck } from "../branch/events";
import { open } from "../crypto/gcm";
import { SINGLE_JOB } from "../memory";
import { drop } from "../branch/outcome";
import { BRANCH_FLAGS, BRANCH_FRAME, BRANCH_ROOM } from "../branch/branch";
import { be32 } from "../wire/cursor";
import { padded, writeTrailer } from "./encrypt";
import { ENDED } from "./end";
import { findEsp, Found } from "./find";
import { noteShort } from "./decrypt";
import { ESP_HEADER, fillJob, TRAILER } from "./job";
import { fillUdp } from "./outer";
import { lengthFits, ownLength, Packet, reshape, setLength } from "./packet";
import { isTrailer } from "./trailer";

/** Like `encrypt`. `next` is the next header, if the metadata element gives it. */
export function encryptInline(branch: usize, association: usize, next: u32, job: usize): bool {
  if (!findEsp(branch, false)) return drop(branch, Reason.esp_not_esp);
  if (Packet.fragment) return drop(branch, Reason.esp_fragment);
  if (Packet.end < Found.esp + ESP_HEADER) return drop(branch, Reason.esp_truncated);
  const length = Packet.end - Found.esp - ESP_HEADER;
  const sealed = padded(length);
  const behind = sealed + <u32>load<u8>(association, ESP_ICV);
  const total = Packet.end - Packet.ip - length + behind;
  if (!lengthFits(Packet.version, total)) return drop(branch, Reason.frame_too_long);
  if (!copyBytes(branch, 0, Packet.end, behind - length)) return false;

  const start: usize = load<u32>(load<u32>(branch, BRANCH_FRAME), FRAME_ADDRESS);
  const header = start + Found.esp;
  const data = header + ESP_HEADER;
  const flags = load<u32>(association, ESP_FLAGS);
  if (!(flags & ESP_METADATA)) next = nextHeader(data, length, (flags & ESP_TRANSPORT) != 0);
  const high = upperHalf(association, be32(header + 4));
  store<u32>(header, bswap(flags & ESP_ESN ? high : 0), 8);
  store<u32>(header, load<u32>(header, 4), 12);
  writeTrailer(data + sealed, sealed - TRAILER - length, next);
  fillJob(job, association, header, sealed, (<u64>high) << 32);
  resize(branch, start, total);
  return true;
}

/** Fields of the last packet that was opened; 0 if opening failed. */
export namespace Opened {
  export let next: u32 = 0;
  export let spi: u32 = 0;
}

/** Opens the packet of a branch and returns the result; a bad packet stays unchanged. */
export function decryptInline(branch: usize, association: usize): u32 {
  const icv: u32 = load<u8>(association, ESP_ICV);
  Opened.next = 0;
  Opened.spi = 0;
  const found = findEsp(branch, false) && !Packet.fragment;
  if (!found || Packet.end < Found.esp + ESP_HEADER + TRAILER + icv) {
    if (TRACED) {
      if (found) noteShort(branch, ESP_HEADER + TRAILER + icv);
      else noteCheck(Check.esp_not_esp);
    }
    return ESP_BAD_ICV;
  }
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const flags = load<u32>(branch, BRANCH_FLAGS);
  const room = load<u32>(branch, BRANCH_ROOM);
  const before = load<u32>(frame, FRAME_ADDRESS);
  // The trailer is known only after opening, so the original bytes are kept until then.
  if (!copyBytes(branch, 0, Packet.end, 0)) return ENDED;
  const start: usize = load<u32>(frame, FRAME_ADDRESS);
  const header = start + Found.esp;
  const data = header + ESP_HEADER;
  const length = Packet.end - Found.esp - ESP_HEADER - icv;
  Opened.spi = be32(header);
  const high = upperHalf(association, be32(header + 4));
  fillJob(SINGLE_JOB, association, header, length, (<u64>high) << 32);
  const good = open(SINGLE_JOB);
  if (good && isTrailer(data, length)) {
    Opened.next = load<u8>(data + length - 1);
    const payload = length - TRAILER - <u32>load<u8>(data + length - TRAILER);
    resize(branch, start, Found.esp + ESP_HEADER + payload - Packet.ip);
    return ESP_GOOD;
  }
  if (TRACED) {
    if (!good) noteCheck(Check.esp_icv, ((<u64>high) << 32) | (<u64>be32(header + 4)));
  }
  store<u32>(frame, before, FRAME_ADDRESS);
  store<u32>(branch, room, BRANCH_ROOM);
  store<u32>(branch, flags, BRANCH_FLAGS);
  return good ? ESP_BAD_TRAILER : ESP_BAD_ICV;
}

/** The ESN of a packet (ibv_flow_action_esp(3), "Determining the ESN for Ingress Packets"). */
function upperHalf(association: usize, low: u32): u32 {
  const esn = load<u32>(association, ESP_NUMBER + 4);
  return load<u32>(association, ESP_FLAGS) & ESP_NEW_WINDOW && low < 0x80000000 ? esn + 1 : esn;
}

/** Sets the length of the packet, which ends the frame. */
function resize(branch: usize, start: usize, total: u32): void {
  setLength(start + Packet.ip, Packet.version, total);
  if (Found.udp) fillUdp(start + Packet.next, Packet.ip + total - Packet.next);
  reshape(branch, start, Packet.ip + total);
}

/**
 * SPEC: nothing gives the next header of a packet without a trailer, so the first bytes of the
 * payload decide.
 */
function nextHeader(data: usize, length: u32, transport: bool): u32 {
  if (!transport) return length != 0 && load<u8>(data) >> 4 == 6 ? PROTOCOL_IPV6 : PROTOCOL_IPV4;
  if (length >= 8 && ownLength(data, length, PROTOCOL_UDP) == length) return PROTOCOL_UDP;
  if (length < 20) return PROTOCOL_NONE;
  const header = ((<u32>load<u8>(data, 12)) >> 4) << 2;
  return header >= 20 && header <= length ? PROTOCOL_TCP : PROTOCOL_NONE;
}
