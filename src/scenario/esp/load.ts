/** Translates the ESP actions of a scenario to arguments of ibv_create_flow_action_esp. */
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD, ESP_NEW_WINDOW, ESP_TRANSPORT } from "../../abi/esp.js";
import {
  IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
  IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP,
  IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ,
  IBV_FLOW_ACTION_ESP_MASK_ESN,
} from "../../abi/verbs.js";
import { refuse } from "../../errors.js";
import {
  KEY_ROOM,
  KEYMAT_STRUCT,
  REPLAY_STRUCT,
  secretCopy,
  type EspEncap,
  type EspKeymat,
  type EspRequest,
} from "../../model/esp/request.js";
import { fullMask, parseBits, type FieldForm, type TermText } from "../../model/match/term.js";
import { ENCAP_TYPES, type ScenarioEncapType, type ScenarioEncap, type ScenarioEsp } from "./definition.js";
import { formOf, write } from "../flow/specs.js";
import { SPEC_TYPES } from "../flow/specTypes.js";
import { hexText, short } from "../action/headerBytes.js";
import { below } from "../schema/path.js";

/** The arguments, with a fresh copy of the key each time: the action keeps the key. */
export function espRequest(path: string, esp: ScenarioEsp): EspRequest {
  const { spi = 0, seq = 0, esn, tfcPad = 0, hardLimit = 0, replay, encap } = esp;
  const number = (name: string, text: TermText): number =>
    Number(valueOf(`${path}.${name}`, { name: `esp.${name}`, width: 32, kind: "number" }, text));
  return {
    attr: {
      spi: number("spi", spi),
      seq: number("seq", seq),
      tfc_pad: tfcPad,
      flags: flagsOf(esp),
      hard_limit_pkts: BigInt(hardLimit),
    },
    keymat: {
      proto: IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM,
      len: KEYMAT_STRUCT,
      more: false,
      value: keymatOf(path, esp),
    },
    replay:
      replay === undefined
        ? null
        : { proto: IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP, len: REPLAY_STRUCT, more: false, value: replay },
    encap: encap?.map((header, i) => encapOf(below(`${path}.encap`, i), header)) ?? null,
    comp_mask: esn === undefined ? 0 : IBV_FLOW_ACTION_ESP_MASK_ESN,
    esn: number("esn", esn ?? 0),
  };
}

function flagsOf({ direction, offload = "full", mode = "tunnel", newWindow = false }: ScenarioEsp): number {
  return (
    (direction === "encrypt" ? ESP_ENCRYPT : 0) |
    (offload === "full" ? ESP_FULL_OFFLOAD : 0) |
    (mode === "transport" ? ESP_TRANSPORT : 0) |
    (newWindow ? ESP_NEW_WINDOW : 0)
  );
}

const FIRST_IV = new Uint8Array(8);

function keymatOf(path: string, { key, salt, iv, icv = 16 }: ScenarioEsp): EspKeymat {
  const digits = hexText(`${path}.key`, key);
  // A key of a wrong length is refused by its length.
  const aes_key = secretCopy(digits.subarray(0, KEY_ROOM), KEY_ROOM);
  return {
    iv: iv === undefined ? FIRST_IV : exactly(`${path}.iv`, iv, 8),
    iv_algo: IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ,
    salt: secretCopy(exactly(`${path}.salt`, salt, 4)),
    icv_len: icv,
    key_len: digits.length,
    aes_key,
  };
}

function exactly(path: string, text: string, length: number): Uint8Array {
  const bytes = hexText(path, text);
  if (bytes.length === length) return bytes;
  const hint = `${length} bytes, ${2 * length} digits`;
  return refuse({ code: "EINVAL", reason: "bad_scenario", path, value: short(text), hint });
}

function encapOf(path: string, header: ScenarioEncap): EspEncap {
  const type = typeOf(header);
  const layout = SPEC_TYPES[type];
  const val = new Uint8Array(layout.known);
  for (const field of layout.fields) {
    const text = header[type]?.[field.name];
    const at = `${path}.${type}`;
    if (text !== undefined) write(val, field, valueOf(`${at}.${field.name}`, formOf(at, field), text));
  }
  return { type: layout.type, len: layout.known, more: false, val };
}

/** A value without a mask: it sets a field and matches nothing. */
function valueOf(path: string, form: FieldForm, text: TermText): bigint {
  const { value, mask } = parseBits(path, form, text);
  if (mask === fullMask(form)) return value;
  return refuse({ code: "EINVAL", reason: "bad_number", path, value: text, hint: "a value without a mask" });
}

function typeOf(header: ScenarioEncap): ScenarioEncapType {
  return ENCAP_TYPES.find((type) => header[type] !== undefined) as ScenarioEncapType;
}

const PLACES: Readonly<Record<string, string>> = {
  "esp.esp_attr.tfc_pad": ".tfcPad",
  "esp.esp_attr.hard_limit_pkts": ".hardLimit",
  "esp.keymat_ptr.key_len": ".key",
  "esp.keymat_ptr.icv_len": ".icv",
  "esp.replay_ptr": ".replay",
  "esp.replay_ptr.size": ".replay",
  "mlx5_attr.action_flags": ".metadata",
};

/** Maps a path of the model to the ESP action in the document. Flags combine several keys. */
export function espPlace(place: string, encap: readonly ScenarioEncap[] = []): string {
  const [, number, rest = ""] = /^esp\.esp_encap\[(\d+)\](.*)$/.exec(place) ?? [];
  if (number !== undefined) {
    const header = encap[Number(number)];
    const here = below(".encap", Number(number));
    return header === undefined ? here : `${here}.${typeOf(header)}${rest.replace(/^\.(val|type|len)/, "")}`;
  }
  if (place === "esp.esp_encap") return ".encap";
  return PLACES[place] ?? /^esp\.esp_attr(\.spi|\.seq)$/.exec(place)?.[1] ?? "";
}
