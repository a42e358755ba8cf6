/** ESP actions as documents write them: the inverse of `espRequest`. */
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD, ESP_NEW_WINDOW, ESP_TRANSPORT } from "../../abi/esp.js";
import { hexOf } from "../../base/hex.js";
import type { EspAttr, EspEncap, EspKeymat } from "../../model/esp/request.js";
import { layoutOf } from "../../model/match/flowSpec.js";
import { writtenValues } from "../flow/specTypes.js";
import { ENCAP_TYPES, type ScenarioEncap, type ScenarioEsp } from "./definition.js";

/** What an action is made of; null is not given. */
export interface EspParts {
  readonly attr: EspAttr;
  readonly keymat: EspKeymat;
  readonly replay: number | null;
  readonly encap: readonly EspEncap[];
  readonly esn: number | null;
  readonly metadata: boolean;
}

/** @returns the document's action, or why it has none, as text */
export function writtenEsp({ attr, keymat, replay, encap, esn, metadata }: EspParts): ScenarioEsp | string {
  const { spi, seq, tfc_pad, flags, hard_limit_pkts: limit } = attr;
  if (limit > BigInt(Number.MAX_SAFE_INTEGER)) return `a limit of ${limit} packets is not written exactly`;
  const full = (flags & ESP_FULL_OFFLOAD) !== 0;
  const headers: ScenarioEncap[] = [];
  for (const { type, val } of encap) {
    const layout = layoutOf(type);
    const name = ENCAP_TYPES.find((one) => layout?.name === `IBV_FLOW_SPEC_${one.toUpperCase()}`);
    if (layout === undefined || name === undefined || val === null)
      return `a header of type 0x${type.toString(16)} in front of ESP`;
    headers.push({ [name]: writtenValues(layout, val) });
  }
  return {
    direction: (flags & ESP_ENCRYPT) === 0 ? "decrypt" : "encrypt",
    ...(full ? {} : { offload: "inline" as const }),
    ...((flags & ESP_TRANSPORT) === 0 ? {} : { mode: "transport" as const }),
    key: hexOf(keymat.aes_key.subarray(0, keymat.key_len)),
    salt: hexOf(keymat.salt),
    ...(keymat.iv.every((byte) => byte === 0) ? {} : { iv: hexOf(keymat.iv) }),
    ...(keymat.icv_len === 16 ? {} : { icv: keymat.icv_len }),
    spi: `0x${spi.toString(16)}`,
    ...(seq === 0 ? {} : { seq }),
    ...(esn === null ? {} : { esn }),
    ...((flags & ESP_NEW_WINDOW) === 0 ? {} : { newWindow: true }),
    ...(replay === null ? {} : { replay }),
    ...(tfc_pad === 0 ? {} : { tfcPad: tfc_pad }),
    ...(limit === 0n ? {} : { hardLimit: Number(limit) }),
    ...(headers.length === 0 ? {} : { encap: headers }),
    ...(metadata ? { metadata: true } : {}),
  };
}
