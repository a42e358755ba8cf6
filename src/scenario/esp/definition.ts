/** ESP actions (ibv_flow_action_esp(3)): key `esp` of flow actions. */
import { SPEC_TYPES, type ScenarioFlowFilter } from "../flow/specTypes.js";
import {
  either,
  flag,
  integer,
  keyed,
  list,
  object,
  oneKeyOf,
  shared,
  text,
  word,
  type Schema,
  type Static,
} from "../schema/define.js";
import { MAX_U32 } from "../schema/parts.js";

/** Specs whose filters can be headers in front of ESP. */
export const ENCAP_TYPES = ["eth", "ipv4", "ipv4_ext", "ipv6", "udp"] as const;
export type ScenarioEncapType = (typeof ENCAP_TYPES)[number];

const hex = (description: string, example: string): Schema<string> =>
  text(`${description} as hexadecimal digits.`, { minLength: 1, examples: [example] });

const number32 = (description: string, example: string): Schema<string | number> =>
  either(
    description,
    text("In hexadecimal, after 0x.", { minLength: 1, examples: [example] }),
    integer("A number.", 0, MAX_U32),
  );

const VALUE = shared(
  "espValue",
  either(null, text("A value.", { minLength: 1, examples: ["192.0.2.1"] }), integer("A value.", 0, MAX_U32)),
);

const HEADERS = keyed(ENCAP_TYPES, (type): Schema<ScenarioFlowFilter> => {
  const fields = SPEC_TYPES[type].fields.map(({ name }) => name);
  const properties = keyed(fields, (name) => ({ ...VALUE, description: `The value of ${name} in the header.` }));
  const description = `A header of type ${type}. Omitted fields follow from the inner packet or have defaults (docs/esp.md).`;
  return { description, type: "object", properties, additionalProperties: false };
});

const HEADER = object("One header, by the filter of its spec: exactly one key.", [], HEADERS, oneKeyOf(...ENCAP_TYPES));
export type ScenarioEncap = Static<typeof HEADER>;

export const ESP = object(
  "ESP as ibv_create_flow_action_esp takes it: flows that name it share its sequence numbers and its replay window.",
  ["direction", "key", "salt"],
  {
    direction: word("decrypt is for received frames, encrypt for sent ones.", ["decrypt", "encrypt"]),
    offload: word(
      "full: the action adds and removes ESP besides the cipher; inline: frames bring ESP, and keep it.",
      ["full", "inline"],
      { default: "full" },
    ),
    mode: word("What is carried: IP packets, or the payload of IP packets.", ["tunnel", "transport"], {
      default: "tunnel",
    }),
    key: hex("The AES key, 16, 24 or 32 bytes,", "7edd43670ab3058166c640423cf59a6a"),
    salt: hex("The salt, 4 bytes,", "85c03fdb"),
    iv: hex("The first IV, 8 bytes, of full offload,", "0000000000000001"),
    icv: integer("Bytes of the ICV: 8, 12 or 16.", 0, MAX_U32, { default: 16 }),
    spi: number32("Security Parameters Index.", "0xb3756e57"),
    seq: number32("The first sequence number, its lower 32 bits.", "0x1"),
    esn: number32("The upper 32 bits; left out, there are no extended sequence numbers.", "0x0"),
    newWindow: flag("ESN_NEW_WINDOW, inline: numbers below 2^31 belong to the next esn.", { default: false }),
    replay: integer("Sequence numbers in the replay window; left out, they are not checked.", 0, MAX_U32),
    tfcPad: integer("Bytes of TFC padding.", 0, MAX_U32, { default: 0 }),
    hardLimit: integer("Packets; later ones are dropped; 0: no limit.", 0, Number.MAX_SAFE_INTEGER, { default: 0 }),
    encap: list(
      "Headers in front of ESP, outermost first: [eth] ipv4 | ipv4_ext | ipv6 [udp]; transport mode: udp.",
      HEADER,
    ),
    metadata: flag("Frames carry the metadata element (mlx5dv_create_flow_action_esp), inline.", { default: false }),
  },
);
export type ScenarioEsp = Static<typeof ESP>;
