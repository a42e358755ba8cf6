/**
 * Full offload, ENCRYPT (docs/esp.md): makes an IP packet, or its payload, the payload of an ESP
 * packet (RFC 4303, 3.1).
 *
 *     tunnel      link | IP | ...            ->  [link] outer headers | ESP, IV | IP | ... | TFC | trailer | ICV
 *     transport   link | IP | payload        ->  link | IP | [UDP] | ESP, IV | payload | TFC | trailer | ICV
 */
import { FRAME_ADDRESS, FRAME_LINK } from "../../src/abi/engine";
import { Reason } from "../../src/abi/outcome";
import { Link } from "../../src/abi/headers";
import {
  ESP_BYTES,
  ESP_ESN,
  ESP_ETH,
  ESP_FLAGS,
  ESP_HARD_LIMIT,
  ESP_HEADERS,
  ESP_ICV,
  ESP_IP,
  ESP_IV,
  ESP_NUMBER,
  ESP_PACKETS,
  ESP_SPI,
  ESP_TFC,
  ESP_TRANSPORT,
  ESP_UP,
  ESP_UP_IVS,
  ESP_UP_NUMBERS,
  ESP_VERSION,
} from "../../src/abi/esp";
import { PROTOCOL_ESP, PROTOCOL_IPV4, PROTOCOL_IPV6, PROTOCOL_UDP } from "../../src/abi/protocols";
import { copyBytes } from "../branch/bytes";
import { drop } from "../branch/outcome";
import { BRANCH_FRAME } from "../branch/branch";
import { ESP_HEADER, fillJob, TRAILER } from "./job";
import { fillOuter, fillUdp } from "./outer";
import { announce, findPacket, lengthFits, Packet, reshape, setLength } from "./packet";

/**
 * Prepares the packet of a branch for sealing and lays out its job; false if the branch has ended.
 */
export function encrypt(branch: usize, association: usize, job: usize): bool {
  const transport = (load<u32>(association, ESP_FLAGS) & ESP_TRANSPORT) != 0;
  if (!findPacket(branch, true)) return drop(branch, Reason.esp_not_ip);
  if (Packet.end == 0) return drop(branch, Reason.esp_truncated);
  if (transport && Packet.fragment) return drop(branch, Reason.esp_fragment);
  return transport ? encryptPayload(branch, association, job) : encryptPacket(branch, association, job);
}

/** Encrypted bytes for a payload: with padding and trailer, a multiple of 4 (RFC 4303, 2.4). */
// @ts-ignore: decorator
@inline
export function padded(payload: u32): u32 {
  return (payload + TRAILER + 3) & ~3;
}

/** Writes padding and trailer after a payload, up to `end`. */
export function writeTrailer(end: usize, padding: u32, next: u32): void {
  const pad = end - TRAILER - <usize>padding;
  for (let n: u32 = 0; n < padding; n++) store<u8>(pad + n, <u8>(n + 1));
  store<u8>(end - 2, <u8>padding);
  store<u8>(end - 1, <u8>next);
}

function encryptPacket(branch: usize, association: usize, job: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const ip = Packet.ip;
  const length = Packet.end - ip;
  const headers = load<u32>(association, ESP_BYTES);
  const outer: u32 = load<u16>(association, ESP_IP);
  const version: u32 = load<u8>(association, ESP_VERSION);
  const tfc = load<u32>(association, ESP_TFC);
  const sealed = padded(length + tfc);
  const behind = sealed + <u32>load<u8>(association, ESP_ICV);
  const total = headers - outer + ESP_HEADER + behind;
  if (!lengthFits(version, total)) return drop(branch, Reason.frame_too_long);
  if (usedUp(branch, association)) return false;
  const link: u32 = load<u8>(association, ESP_ETH) ? 0 : ip;
  const head = link + headers + ESP_HEADER;
  if (!copyBytes(branch, head, Packet.end, behind - length)) return false;

  const packet = <usize>load<u32>(frame, FRAME_ADDRESS) + ip;
  const header = packet - ESP_HEADER;
  let start = packet - head;
  memory.copy(start, packet - ip, link);
  if (link == 0) store<u8>(frame, Link.ethernet, FRAME_LINK);
  const at = header - headers;
  fillOuter(association, at, packet, Packet.version, total);
  if (link != 0 && version != Packet.version) start = announce(frame, start, link, version);
  finish(job, association, header, length, tfc, Packet.version == 6 ? PROTOCOL_IPV6 : PROTOCOL_IPV4);
  reshape(branch, start, <u32>(packet + behind - start));
  return true;
}

function encryptPayload(branch: usize, association: usize, job: usize): bool {
  const frame: usize = load<u32>(branch, BRANCH_FRAME);
  const next = Packet.next;
  const length = Packet.end - next;
  const udp = load<u32>(association, ESP_BYTES);
  const protocol = Packet.protocol;
  const tfc = saysLength(protocol) ? load<u32>(association, ESP_TFC) : 0;
  const sealed = padded(length + tfc);
  const behind = sealed + <u32>load<u8>(association, ESP_ICV);
  const total = next - Packet.ip + udp + ESP_HEADER + behind;
  if (!lengthFits(Packet.version, total)) return drop(branch, Reason.frame_too_long);
  if (usedUp(branch, association)) return false;
  if (!copyBytes(branch, udp + ESP_HEADER, Packet.end, behind - length)) return false;

  const payload = <usize>load<u32>(frame, FRAME_ADDRESS) + next;
  const header = payload - ESP_HEADER;
  const start = header - udp - next;
  memory.copy(start, payload - next, next);
  store<u8>(start + Packet.protocolAt, <u8>(udp == 0 ? PROTOCOL_ESP : PROTOCOL_UDP));
  setLength(start + Packet.ip, Packet.version, total);
  if (udp != 0) {
    memory.copy(header - udp, association + ESP_HEADERS, udp);
    fillUdp(header - udp, udp + ESP_HEADER + behind);
  }
  finish(job, association, header, length, tfc, protocol);
  reshape(branch, start, <u32>(payload + behind - start));
  return true;
}

/** Whether the receiver can separate the payload from the TFC padding after it (RFC 4303, 2.7). */
function saysLength(protocol: u32): bool {
  return protocol == PROTOCOL_UDP || protocol == PROTOCOL_IPV4 || protocol == PROTOCOL_IPV6;
}

/** Whether the action can send no more packets; then the branch is dropped. */
function usedUp(branch: usize, association: usize): bool {
  const limit = load<u64>(association, ESP_HARD_LIMIT);
  if (limit != 0 && load<u64>(association, ESP_PACKETS) >= limit) return !drop(branch, Reason.esp_hard_limit);
  const up: u32 = load<u8>(association, ESP_UP);
  if (up & ESP_UP_NUMBERS) return !drop(branch, Reason.esp_sequence_exhausted);
  return up & ESP_UP_IVS ? !drop(branch, Reason.esp_iv_exhausted) : false;
}

/**
 * Writes ESP header, IV, padding and trailer around a payload of `length` bytes, with the next
 * number and IV.
 */
function finish(job: usize, association: usize, header: usize, length: u32, tfc: u32, next: u32): void {
  const number = load<u64>(association, ESP_NUMBER);
  const iv = load<u64>(association, ESP_IV);
  store<u32>(header, bswap(load<u32>(association, ESP_SPI)));
  store<u32>(header, bswap(<u32>number), 4);
  store<u64>(header, bswap(iv), 8);
  const data = header + ESP_HEADER;
  const sealed = padded(length + tfc);
  memory.fill(data + length, 0, tfc);
  writeTrailer(data + sealed, sealed - TRAILER - length - tfc, next);
  fillJob(job, association, header, sealed, number);
  store<u64>(association, load<u64>(association, ESP_PACKETS) + 1, ESP_PACKETS);
  const last: u64 = load<u32>(association, ESP_FLAGS) & ESP_ESN ? u64.MAX_VALUE : u32.MAX_VALUE;
  let up: u32 = load<u8>(association, ESP_UP);
  if (number == last) up |= ESP_UP_NUMBERS;
  else store<u64>(association, number + 1, ESP_NUMBER);
  if (iv == u64.MAX_VALUE) up |= ESP_UP_IVS;
  else store<u64>(association, iv + 1, ESP_IV);
  store<u8>(association, <u8>up, ESP_UP);
}
