/** Values of the JSON of tc, as commands have them. */
import type { JsonNode } from "../../../../base/json.js";
import { entry, scalar } from "../../../text/json.js";

/** A value as a command has it: ranges and flags too. */
export function textOf(value: JsonNode): string {
  if (value.kind === "scalar") return String(value.value);
  if (value.kind === "array") return value.items.map(textOf).join(",");
  const [start, end] = [scalar(entry(value, "start")), scalar(entry(value, "end"))];
  if (start !== undefined && end !== undefined) return `${start.text}-${end.text}`;
  return value.entries.map(([flag, set]) => (textOf(set) === "false" ? `no${flag.text}` : flag.text)).join("/");
}

/** Options of a tunnel: CLASS:TYPE:DATA of Geneve in hexadecimal, the group of VXLAN. */
export function optionsText(options: JsonNode, mask?: JsonNode): string {
  const list = (node: JsonNode): string =>
    node.kind === "array" ? node.items.map(optionText).join(",") : textOf(node);
  return mask === undefined ? list(options) : `${list(options)}/${list(mask)}`;
}

function optionText(option: JsonNode): string {
  const group = scalar(entry(option, "gbp"));
  if (group !== undefined) return group.text;
  const hex = (name: string, digits: number): string =>
    Number(scalar(entry(option, name))?.text ?? 0)
      .toString(16)
      .padStart(digits, "0");
  const data = entry(option, "data");
  const bytes =
    data?.kind === "array" ? data.items.map((byte) => Number(textOf(byte)).toString(16).padStart(2, "0")) : [];
  return `${hex("class", 4)}:${hex("type", 2)}:${bytes.join("")}`;
}
