/** ESP. */
import type { Entry } from "./support/entry.js";

export const ESP: readonly Entry[] = [
  {
    file: "esp/wrong-key",
    target: { kind: "queue", name: "office" },
    mistake: "esp-other-key",
    says: ["ICV", "key"],
    correction: [{ op: "replace", path: "/flowActions/0/esp/key", value: "000102030405060708090a0b0c0d0e0f" }],
  },
  {
    file: "esp/wrong-salt",
    target: { kind: "queue", name: "office" },
    mistake: "esp-other-key",
    says: ["ICV", "salt"],
    correction: [{ op: "replace", path: "/flowActions/0/esp/salt", value: "cafebabe" }],
  },
  {
    file: "esp/replayed",
    target: { kind: "queue", name: "office" },
    mistake: "esp-replay",
    says: ["received before", "replay window"],
    correction: [
      {
        op: "replace",
        path: "/frames/1/hex",
        value:
          "020000000002020000000001080045000058000200004032f66ec0000201c000020200001001000000020000000000000101faa1b0020707e2f3b4e4433f46bbb118619f1d5760c3d1183ef230e84c64aeea0e82de1ad04f3a2bfc1d74795f3ded61bac2371b",
      },
    ],
  },
  {
    file: "esp/other-spi",
    target: { kind: "flow", name: "tunnel" },
    mistake: null,
    says: ["misc.outer_esp_spi", "2002"],
    correction: [
      {
        op: "replace",
        path: "/frames/0/hex",
        value:
          "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
      },
    ],
  },
  {
    file: "esp/spi-of-the-action",
    target: { kind: "queue", name: "office" },
    mistake: "esp-other-spi",
    says: ["SPI"],
    correction: [{ op: "replace", path: "/flowActions/0/esp/spi", value: "0x1001" }],
  },
  {
    file: "esp/not-esp",
    target: { kind: "queue", name: "office" },
    mistake: "esp-without-header",
    says: ["ESP"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "sealed",
          hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
        },
      },
    ],
  },
  {
    file: "esp/without-udp",
    target: { kind: "queue", name: "office" },
    mistake: null,
    says: ["UDP"],
    correction: [{ op: "replace", path: "/flowActions/0/esp/encap", value: [{ ipv4: {} }] }],
  },
  {
    file: "esp/hard-limit",
    target: { kind: "queue", name: "office" },
    mistake: "esp-limit-reached",
    says: ["limit"],
    correction: [{ op: "replace", path: "/flowActions/0/esp/hardLimit", value: 2 }],
  },
  {
    file: "esp/fragment",
    target: { kind: "queue", name: "office" },
    mistake: "esp-of-fragment",
    says: ["fragment"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "whole",
          hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
        },
      },
    ],
  },
  {
    file: "esp/sequence-jump",
    target: { kind: "queue", name: "office" },
    mistake: "esp-sequence-jump",
    says: ["2^31"],
    correction: [
      {
        op: "replace",
        path: "/frames/0",
        value: {
          name: "first",
          hex: "020000000002020000000001080045000058000100004032f66fc0000201c0000202000010010000000100000000000001009cf3b7116f762781bbb52d5b6b166d3d93d7d8ab4ab97d1490e207a4e0037ef946557edfbaf24fc57b05a0960b6e3c191ad98e31",
        },
      },
      { op: "remove", path: "/flowActions/0/esp/esn" },
    ],
  },
];
