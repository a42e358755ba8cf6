/** ESP actions in full offload: engine and reference, on random actions and frames (test/oracle/esp/esp.ts). */
import { describe, test } from "vitest";
import { Random } from "../../oracle/generate/random.js";
import { EspBench } from "./support/bench.js";
import { openSome, sealSome, Tally } from "./support/turns.js";
import { seedFor } from "../support/core.js";
import { rounds } from "../../support/tier.js";

const bench = await EspBench.open();
const ROUNDS = rounds(60, "FLOWSTEER_ESP");

describe("engine and reference", () => {
  test("encrypt the same way", () => {
    const random = new Random(seedFor("esp encrypt"));
    const tally = new Tally();
    for (let round = 0; round < ROUNDS; round++) sealSome(random, bench, tally);
    tally.report("esp encrypt", [
      "good",
      ...[
        "esp_not_ip",
        "esp_fragment",
        "esp_truncated",
        "esp_hard_limit",
        "esp_sequence_exhausted",
        "esp_iv_exhausted",
      ],
    ]);
  });

  test("decrypt the same way, whatever comes", () => {
    const random = new Random(seedFor("esp decrypt"));
    const tally = new Tally();
    for (let round = 0; round < 2 * ROUNDS; round++) openSome(random, bench, tally);
    tally.report("esp decrypt", [
      ...["good", "esp_not_esp", "esp_fragment", "esp_encapsulation", "esp_truncated", "esp_spi", "esp_hard_limit"],
      ...["esp_replay", "esp_jump", "esp_authentication", "esp_trailer", "esp_dummy"],
    ]);
  });
});
