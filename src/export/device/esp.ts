/** ESP actions of a living device, as a scenario writes them: they go on where those of the device are. */
import { ESP_ENCRYPT, ESP_FULL_OFFLOAD } from "../../abi/esp.js";
import type { EspAction } from "../../model/esp/action.js";
import type { ScenarioFlowAction } from "../../scenario/action/definition.js";
import { writtenEsp } from "../../scenario/esp/written.js";

/** Why a scenario does not get an element. */
export type Refused = { readonly refused: string };

const LOW = 0xffffffffn;

export function espOf({ settings, state }: EspAction): Required<Pick<ScenarioFlowAction, "esp">> | Refused {
  const { flags, hardLimit, keymat, encap, metadata, window } = settings;
  const [encrypts, full] = [(flags & ESP_ENCRYPT) !== 0, (flags & ESP_FULL_OFFLOAD) !== 0];
  if (state.numbersUsedUp || state.ivsUsedUp) return { refused: "its sequence numbers or IVs are used up" };
  if (hardLimit !== 0n && state.packets >= hardLimit) return { refused: "it has reached its limit of packets" };
  const isBegun = state.packets > 0n;
  if (!encrypts && window !== null && isBegun)
    return { refused: "its replay window has seen frames, which a scenario does not say" };
  // Inline, the frames have the lower half of the number.
  const number = full ? state.number : (BigInt(settings.esn ?? 0) << 32n) | BigInt(settings.seq);
  const made = writtenEsp({
    attr: {
      spi: settings.spi,
      seq: Number(number & LOW),
      tfc_pad: settings.tfcPad,
      flags,
      hard_limit_pkts: hardLimit === 0n ? 0n : hardLimit - state.packets,
    },
    keymat: { ...keymat, iv: full && encrypts ? wireBytes(state.iv) : keymat.iv },
    replay: window,
    esn: settings.esn === null ? null : Number(number >> 32n),
    encap,
    metadata,
  });
  return typeof made === "string" ? { refused: made } : { esp: made };
}

/** The eight bytes of an IV. */
function wireBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}
