/** Random numbers for choices that never change what a lookup finds. */

let state: u64 = 0x9e3779b97f4a7c15;

/** The next number; its high bits are the better ones. */
export function draw(): u64 {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state;
}
