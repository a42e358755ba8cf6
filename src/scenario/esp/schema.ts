/** The part of the schema that says what ESP actions hold (ibv_flow_action_esp(3)). */
import {
  ENCAP_TYPES,
  ESP_DIRECTIONS,
  ESP_MODES,
  ESP_OFFLOADS,
  type EncapType,
  type ScenarioEncap,
  type ScenarioEsp,
} from "./types.js";
import { SPEC_TYPES } from "../flow/specs.js";
import { objectOf, type JsonSchema } from "../schema/validator.js";
import { integer, list, MAX_U32, text } from "../schema/parts.js";

const hex = (description: string, example: string): JsonSchema =>
  text(`${description} as hexadecimal digits.`, { minLength: 1, examples: [example] });

const number32 = (description: string, example: string): JsonSchema => ({
  description,
  anyOf: [text("In hexadecimal, behind 0x.", { minLength: 1, examples: [example] }), integer("A number.", 0, MAX_U32)],
});

const VALUE: JsonSchema[] = [
  text("A value.", { minLength: 1, examples: ["192.0.2.1"] }),
  integer("A value.", 0, MAX_U32),
];

const headers = Object.fromEntries(
  ENCAP_TYPES.map((type): [string, JsonSchema] => {
    const fields = SPEC_TYPES[type].fields.map(({ name }): [string, JsonSchema] => [
      name,
      { description: `What the header has as ${name}.`, anyOf: VALUE },
    ]);
    const description = `A header of type ${type}. What is left out follows from the packet inside, or is the default (docs/esp.md).`;
    return [type, { description, type: "object", properties: Object.fromEntries(fields), additionalProperties: false }];
  }),
) as Record<EncapType, JsonSchema>;

const HEADER = objectOf<ScenarioEncap>("One header, by the filter of its spec: exactly one key.", {}, headers, {
  oneOf: ENCAP_TYPES.map((key) => ({ required: [key] })),
});

export const ESP = objectOf<ScenarioEsp>(
  "ESP as ibv_create_flow_action_esp takes it: flows that name it share its numbers and its window.",
  { direction: true, key: true, salt: true },
  {
    direction: text("decrypt is for what is received, encrypt for what is sent.", { enum: ESP_DIRECTIONS }),
    offload: text("full: ESP comes and goes with the cipher; inline: frames bring it, and keep it.", {
      enum: ESP_OFFLOADS,
      default: "full",
    }),
    mode: text("What is carried: IP packets, or what they carry.", { enum: ESP_MODES, default: "tunnel" }),
    key: hex("The AES key, 16, 24 or 32 bytes,", "7edd43670ab3058166c640423cf59a6a"),
    salt: hex("The salt, 4 bytes,", "85c03fdb"),
    iv: hex("The first IV, 8 bytes, of full offload,", "0000000000000001"),
    icv: integer("Bytes of the ICV: 8, 12 or 16.", 0, MAX_U32, { default: 16 }),
    spi: number32("Security Parameters Index.", "0xb3756e57"),
    seq: number32("The first sequence number, its lower 32 bits.", "0x1"),
    esn: number32("The upper 32 bits; left out, there are no extended sequence numbers.", "0x0"),
    newWindow: {
      description: "ESN_NEW_WINDOW, inline: numbers below 2^31 belong to the next esn.",
      type: "boolean",
      default: false,
    },
    replay: integer("Sequence numbers in the replay window; left out, they are not checked.", 0, MAX_U32),
    tfcPad: integer("Bytes of TFC padding.", 0, MAX_U32, { default: 0 }),
    hardLimit: integer("Packets, then all are dropped; 0: no limit.", 0, Number.MAX_SAFE_INTEGER, { default: 0 }),
    encap: list(
      "Headers in front of ESP, outermost first: [eth] ipv4 | ipv4_ext | ipv6 [udp]; transport mode: udp.",
      HEADER,
    ),
    metadata: {
      description: "Frames carry the metadata element (mlx5dv_create_flow_action_esp), inline.",
      type: "boolean",
      default: false,
    },
  },
);
