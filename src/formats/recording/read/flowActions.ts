/** Flow actions of a recording: header changes, encapsulations, ESP. */
import { IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM, IBV_FLOW_ACTION_ESP_MASK_ESN } from "../../../abi/verbs.js";
import { ESP_ATTR_STRUCT, KEY_ROOM, KEYMAT_STRUCT, REPLAY_STRUCT, type EspEncap } from "../../../model/esp/request.js";
import { layoutOf } from "../../../model/match/flowSpec.js";
import type { ScenarioFlowAction } from "../../../scenario/action/definition.js";
import { REFORMAT_TYPES } from "../../../scenario/action/destinations.js";
import { writtenEsp } from "../../../scenario/esp/written.js";
import { bytesIn, bytesOf, listIn, numberIn, textIn, type Call } from "./calls.js";

export type Refused = { readonly refused: string };
type Made = Omit<ScenarioFlowAction, "name">;

/** MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA */
const REQUIRE_METADATA = 1;

interface FlowActionCall {
  readonly becomes: string;
  /** What its name begins with. */
  readonly name: string;
  readonly read: (call: Call) => Made | Refused;
}

const BECOMES = "a flow action; its sequence numbers begin as given";

export const FLOW_ACTIONS: Readonly<Record<string, FlowActionCall>> = {
  ibv_create_flow_action_esp: { becomes: BECOMES, name: "esp", read: esp },
  mlx5dv_create_flow_action_esp: { becomes: BECOMES, name: "esp", read: esp },
  mlx5dv_create_flow_action_modify_header: {
    becomes: "a flow action with the same words of the device",
    name: "changes",
    read: (call) => ({ modify: textIn(call, "actions").match(/.{16}/g) ?? [] }),
  },
  mlx5dv_create_flow_action_packet_reformat: {
    becomes: "a flow action with the same bytes",
    name: "reformat",
    read: reformat,
  },
};

/** Encapsulation and decapsulation, as rules and flow actions have them. */
export function reformat(call: Call): Required<Pick<Made, "reformat">> | Refused {
  const type = REFORMAT_TYPES[numberIn(call, "reformat_type")];
  if (type === undefined) return { refused: `${numberIn(call, "reformat_type")} is not a reformat type` };
  const data = textIn(call, "data");
  return { reformat: { type, ...(data === "" ? {} : { data }) } };
}

function esp(call: Call): Made | Refused {
  const [attr, keymat, replay] = [bytesIn(call, "esp_attr"), bytesIn(call, "keymat"), bytesIn(call, "replay")];
  if (attr.length < ESP_ATTR_STRUCT || keymat.length < KEYMAT_STRUCT)
    return { refused: "the recording does not contain all of its structs" };
  if (numberIn(call, "keymat_proto") !== IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM)
    return { refused: "its key is for another cipher than AES-GCM" };
  const [own, key] = [viewOf(attr), viewOf(keymat)];
  const made = writtenEsp({
    attr: {
      spi: own.getUint32(0, true),
      seq: own.getUint32(4, true),
      tfc_pad: own.getUint32(8, true),
      flags: own.getUint32(12, true),
      hard_limit_pkts: own.getBigUint64(16, true),
    },
    keymat: {
      iv: keymat.subarray(0, 8),
      iv_algo: key.getUint32(8, true),
      salt: keymat.subarray(12, 16),
      icv_len: key.getUint32(16, true),
      key_len: key.getUint32(20, true),
      aes_key: keymat.subarray(24, 24 + KEY_ROOM),
    },
    // Protocol 0 is no window.
    replay:
      numberIn(call, "replay_proto") === 0 || replay.length < REPLAY_STRUCT ? null : viewOf(replay).getUint32(0, true),
    encap: listIn(call, "esp_encap").map(header),
    esn: (numberIn(call, "comp_mask") & IBV_FLOW_ACTION_ESP_MASK_ESN) === 0 ? null : numberIn(call, "esn"),
    metadata: (numberIn(call, "action_flags") & REQUIRE_METADATA) !== 0,
  });
  return typeof made === "string" ? { refused: made } : { esp: made };
}

function header(one: unknown): EspEncap {
  const { type = 0, val = "" } = one as { type?: number; val?: string };
  const bytes = bytesOf(val);
  const known = layoutOf(type)?.known;
  const fits = known !== undefined && bytes.length >= known;
  return { type, len: bytes.length, more: false, val: fits ? bytes.subarray(0, known) : null };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
