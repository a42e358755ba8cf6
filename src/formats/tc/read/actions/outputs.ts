/** Actions that send frames to ports and into tunnels. */
import { addressOf } from "../../../text/numbers.js";
import { notImported, unknownName, type Word } from "../../../text/refusal.js";
import type { Cursor } from "../../../text/words.js";
import type { NetDevice } from "../devices.js";
import { tcNumber, vxlanGroup } from "../values.js";
import type { ActionContext, Output, State, Step } from "./steps.js";

export function mirred(words: Cursor, context: ActionContext, state: State): Step[] {
  const direction = words.next("egress or ingress");
  const what = words.next("redirect or mirror");
  while (words.peek() === "index") {
    words.next("index");
    words.next("its value");
  }
  if (!words.take("dev")) notImported(what, "dev NAME is missing");
  const name = words.next("a device");
  if (direction.text === "ingress")
    notImported(direction, "the device sends frames out of ports, and does not receive them there again");
  if (direction.text !== "egress") unknownName(direction, "a direction of mirred", "directions", ["egress", "ingress"]);
  const to = outputOf(context.device(name), name, state);
  if (what.text === "mirror") return [{ kind: "mirror", to }];
  if (what.text !== "redirect") unknownName(what, "what mirred does", "actions", ["redirect", "mirror"]);
  if (words.peek() === "pipe" || words.peek() === "stolen") words.next("a control");
  return [{ kind: "end", verdict: { kind: "redirect", to } }];
}

function outputOf(device: NetDevice, word: Word, { key }: State): Output {
  if ("endpoint" in device) return { endpoint: device.endpoint };
  if (key === undefined) return notImported(word, `${word.text} is a tunnel: tunnel_key set is missing before it`);
  return { tunnel: device.tunnel, key };
}

export function tunnelKey(words: Cursor, context: ActionContext, state: State, word: Word): Step[] {
  if (words.take("unset") || words.take("release")) {
    state.key = undefined;
    return [];
  }
  if (!words.take("set")) notImported(word, "tunnel_key has set or unset");
  let [src, dst]: (string | undefined)[] = [];
  let [id, port, tos, ttl, group]: (number | undefined)[] = [];
  const ip = (): string => {
    const one = words.next("an address");
    addressOf(one, one.text.includes(":") ? "ipv6" : "ipv4");
    return one.text;
  };
  for (;;) {
    if (words.take("src_ip")) src = ip();
    else if (words.take("dst_ip")) dst = ip();
    else if (words.take("id")) id = tcNumber(words.next("an id"), "a tunnel id", 32);
    else if (words.take("dst_port")) port = tcNumber(words.next("a port"), "a port", 16);
    else if (words.take("tos")) tos = tcNumber(words.next("a TOS"), "a TOS", 8);
    else if (words.take("ttl")) ttl = tcNumber(words.next("a TTL"), "a TTL", 8);
    else if (words.peek() === "csum" || words.peek() === "nocsum") {
      const sum = words.next("csum");
      if (sum.text === "csum") context.assume(sum, "the device does not compute the UDP checksum of a tunnel: it is 0");
    } else if (/^vxlan_opts?$/.test(words.peek() ?? "")) {
      words.next("vxlan_opts");
      group = Number(vxlanGroup(words.next("a group"), context.assume).value);
    } else if (/^(geneve|erspan|gtp)_opts?$/.test(words.peek() ?? "")) {
      const option = words.next("options");
      words.next("their values");
      context.refuse(option, option.text, "the importer builds tunnel headers without these options");
    } else break;
  }
  if (src === undefined || dst === undefined) notImported(word, "tunnel_key set needs src_ip and dst_ip");
  if (src.includes(":") !== dst.includes(":"))
    notImported(word, `src_ip ${src} and dst_ip ${dst} are of two IP versions`);
  state.key = { src, dst, id, port, tos, ttl, group, word };
  return [];
}

export function sample(words: Cursor, context: ActionContext, _state: State, word: Word): Step[] {
  let ratio: number | undefined;
  for (;;) {
    if (words.take("rate")) ratio = tcNumber(words.next("a rate"), "a rate", 32);
    else if (words.take("group")) words.next("a group");
    else if (words.peek() === "trunc") {
      context.refuse(words.next("trunc"), "sample trunc", "the device copies whole frames");
      words.next("a size");
    } else break;
  }
  if (ratio === undefined || ratio === 0) return notImported(word, "sample needs a rate of at least 1");
  return [{ kind: "sample", ratio }];
}
