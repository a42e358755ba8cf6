/** Writes values, masks and ranges of match fields in the notation of scenario files (docs/scenarios.md). */
import { format, fullMask, nameOfValue, type FieldForm } from "../../model/match/term.js";

/** Fields that specifications write in hexadecimal digits, by the part of their name after the dot. */
const HEXADECIMAL =
  /^(ethertype|gre_protocol|geneve_protocol_type|tcp_flags|gre_c_ks_res0_ver|gtpu_dw_\d|gtpu_first_ext_dw_0|gtpu_msg_flags|.*_esp_spi|macsec_tag_\d|tunnel_header_\d|prog_sample_field_value_\d|geneve_tlv_option_0_data|.*_header_data)$/;

/** A whole value: a name where the notation has one, else a number or an address. */
export function valueText(field: FieldForm, value: bigint): string {
  if (field.kind !== "number") return format(field, value);
  const name = nameOfValue(field, value);
  if (name !== undefined) return name;
  return HEXADECIMAL.test(field.name.split(".")[1] ?? "") ? hexText(field, value) : value.toString();
}

/** A value and its mask: "10.0.0.0/8", "0x2/0x3f", or the value alone under a full mask. */
export function termText(field: FieldForm, mask: bigint, value: bigint): string {
  if (mask === 0n) return "any";
  if (mask === fullMask(field)) return valueText(field, value);
  switch (field.kind) {
    case "mac":
      return `${format(field, value)}/${format(field, mask)}`;
    case "ipv4":
    case "ipv6":
      return `${format(field, value)}/${prefixLength(field, mask) ?? format(field, mask)}`;
    case "number":
      return `0x${value.toString(16)}/0x${mask.toString(16)}`;
  }
}

/** A range: "1024-65535". */
export function rangeText(field: FieldForm, low: bigint, high: bigint): string {
  const text = (value: bigint): string => (field.kind === "number" ? value.toString() : format(field, value));
  return `${text(low)}-${text(high)}`;
}

function hexText({ width }: FieldForm, value: bigint): string {
  return `0x${value.toString(16).padStart(Math.ceil(width / 4), "0")}`;
}

/** The length of a mask that is a prefix; undefined for other masks. */
function prefixLength(field: FieldForm, mask: bigint): number | undefined {
  const rest = fullMask(field) ^ mask;
  if ((rest & (rest + 1n)) !== 0n) return undefined;
  return field.width - rest.toString(2).replace(/^0$/, "").length;
}
