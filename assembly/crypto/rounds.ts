/**
 * AES rounds over states in planes. The first two rounds are separate functions, because counter
 * blocks share them (counters.ts).
 */
import { CIPHER_ROUND_KEYS, CIPHER_ROUNDS } from "./cipherLayout";
import { GROUP_SIZE, ZEROS } from "./planes";
import { LAST, round } from "./round";

/** The first round of a state. */
export function firstRound(cipher: usize, state: usize): void {
  round(state, cipher + CIPHER_ROUND_KEYS + GROUP_SIZE, 1);
}

export function secondRound(cipher: usize, state: usize): void {
  round(state, cipher + CIPHER_ROUND_KEYS + 2 * GROUP_SIZE, 2);
}

/**
 * The other rounds of the states from `states` to `end`. All states run each round together, so
 * that no round of a state waits for its previous round.
 */
export function otherRounds(cipher: usize, states: usize, end: usize): void {
  const last = cipher + CIPHER_ROUND_KEYS + <usize>load<u32>(cipher, CIPHER_ROUNDS) * GROUP_SIZE;
  let roundKey = cipher + CIPHER_ROUND_KEYS + 3 * GROUP_SIZE;
  while (true) {
    for (let state = states; state < end; state += GROUP_SIZE) round(state, roundKey, 3);
    roundKey += GROUP_SIZE;
    if (roundKey == last) break;
    for (let state = states; state < end; state += GROUP_SIZE) round(state, roundKey, 0);
    for (let state = states; state < end; state += GROUP_SIZE) round(state, roundKey + GROUP_SIZE, 1);
    roundKey += 2 * GROUP_SIZE;
    if (roundKey == last) break;
    for (let state = states; state < end; state += GROUP_SIZE) round(state, roundKey, 2);
    roundKey += GROUP_SIZE;
  }
  for (let state = states; state < end; state += GROUP_SIZE) round(state, last, LAST);
}

/** The S-box alone, without its constant 0x63. */
export function substitute(state: usize): void {
  round(state, ZEROS, LAST);
}
