/** Round keys of AES (FIPS 197, section 5.2) in constant time, and in planes. */
import { CIPHER_ROUND_KEYS, CIPHER_ROUNDS, CIPHER_WHITENER } from "./cipherLayout";
import { GROUP_SIZE, placeAfter, broadcast, firstWord } from "./planes";
import { substitute } from "./rounds";
import { EXPANDED, STATES } from "./scratch";

/** Consecutive round keys, at EXPANDED. */
export function expandKey(key: usize, length: u32): void {
  memory.copy(EXPANDED, key, length);
  const words = length / 4;
  let constant: u32 = 1;
  for (let i = words; i < 4 * (words + 7); i++) {
    const at = EXPANDED + ((<usize>i) << 2);
    let word = load<u32>(at - 4);
    if (i % words == 0) {
      word = substituteWord(rotr(word, 8)) ^ constant;
      constant = (constant << 1) ^ ((constant >> 7) * 0x11b);
    } else if (words == 8 && i % 8 == 4) {
      word = substituteWord(word);
    }
    store<u32>(at, load<u32>(at - length) ^ word);
  }
}

/** SubWord. */
function substituteWord(word: u32): u32 {
  broadcast(i32x4.splat(word), STATES);
  substitute(STATES);
  return firstWord(STATES) ^ 0x63636363;
}

/** The same round keys in planes, as in a cipher. */
export function setRoundKeys(cipher: usize): void {
  const rounds = load<u32>(cipher, CIPHER_ROUNDS);
  const first = v128.load(EXPANDED);
  v128.store(cipher, i8x16.replace_lane(first, 15, 0), CIPHER_WHITENER);
  broadcast(placeAfter(first, 0), cipher + CIPHER_ROUND_KEYS);
  for (let i: u32 = 1; i <= rounds; i++) {
    const block = v128.xor(v128.load(EXPANDED + ((<usize>i) << 4)), i8x16.splat(0x63));
    broadcast(placeAfter(block, i), cipher + CIPHER_ROUND_KEYS + <usize>i * GROUP_SIZE);
  }
}
