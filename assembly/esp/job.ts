/**
 * Lays out the job of a packet for AES-GCM (RFC 4106, sections 3 to 5; layout in
 * src/abi/cipher.ts). In: an association and the address of an ESP header. Out: the job.
 */
import {
  JOB_AAD,
  JOB_AAD_LENGTH,
  JOB_CIPHER,
  JOB_DATA,
  JOB_ICV,
  JOB_ICV_LENGTH,
  JOB_LENGTH,
  JOB_NONCE,
  JOB_NUMBER,
  JOB_SCRATCH,
} from "../../src/abi/cipher";
import { ESP_CIPHER, ESP_ESN, ESP_FLAGS, ESP_ICV, ESP_SALT } from "../../src/abi/esp";

/** ESP header and IV. */
export const ESP_HEADER: u32 = 16;
/** Pad length and next header. */
export const TRAILER: u32 = 2;

/**
 * Lays out the job for `length` bytes after the ESP header at `header`, which has its SPI, number
 * and IV.
 */
export function fillJob(job: usize, association: usize, header: usize, length: u32, number: u64): void {
  const high = <u32>(number >> 32);
  const data = header + ESP_HEADER;
  store<u64>(job, number, JOB_NUMBER);
  store<u32>(job, load<u32>(association, ESP_CIPHER), JOB_CIPHER);
  store<u32>(job, <u32>data, JOB_DATA);
  store<u32>(job, length, JOB_LENGTH);
  store<u32>(job, <u32>(data + length), JOB_ICV);
  store<u8>(job, load<u8>(association, ESP_ICV), JOB_ICV_LENGTH);
  store<u32>(job, load<u32>(association, ESP_SALT), JOB_NONCE);
  store<u64>(job, load<u64>(header, 8), JOB_NONCE + 4);
  if (load<u32>(association, ESP_FLAGS) & ESP_ESN) {
    // | SPI | upper half | lower half |
    store<u32>(job, load<u32>(header), JOB_SCRATCH);
    store<u32>(job, bswap(high), JOB_SCRATCH + 4);
    store<u32>(job, load<u32>(header, 4), JOB_SCRATCH + 8);
    store<u32>(job, <u32>(job + JOB_SCRATCH), JOB_AAD);
    store<u16>(job, 12, JOB_AAD_LENGTH);
  } else {
    store<u32>(job, <u32>header, JOB_AAD);
    store<u16>(job, 8, JOB_AAD_LENGTH);
  }
}
