/** What `tc filter show` prints, in the words of the command that makes the filter. */
import { notImported, type Place, type Word } from "../../../text/refusal.js";
import type { Hook } from "../filter.js";
import { tcNumber } from "../values.js";

export interface Listed {
  readonly hook: Omit<Hook, "owner"> & { readonly owner: Word | undefined };
  /** Keys, flags and actions. */
  readonly words: readonly Word[];
}

/** Names of keys where a listing has others than a command. */
export const KEY_NAMES: Readonly<Record<string, string>> = { icmp_type: "type", icmp_code: "code" };

/** What a listing says in front of keys and actions. */
export interface ListedHead {
  readonly place: Place;
  readonly dev?: Word | undefined;
  readonly block?: Word | undefined;
  readonly parent?: Word | undefined;
  readonly protocol?: Word | undefined;
  readonly pref?: Word | undefined;
  readonly chain?: Word | undefined;
  readonly handle?: Word | undefined;
  readonly kind: Word;
}

/** @throws NotImported it is no filter of received frames */
export function hookOf({ dev, block, parent, protocol, pref, chain, handle, kind }: ListedHead): Listed["hook"] {
  if (parent !== undefined && !/^(?:ffff:(?:fff2|0)?|ingress|clsact)$/i.test(parent.text)) {
    notImported(parent, "drivers offload filters of ingress only: parent ffff: or ffff:fff2");
  }
  const owner = block === undefined ? dev : { text: `block ${block.text}`, place: block.place };
  return {
    owner,
    protocol,
    kind,
    chain: chain === undefined ? 0 : tcNumber(chain, "a chain", 28),
    prio: pref === undefined ? undefined : tcNumber(pref, "a priority", 16),
    handle: handle === undefined ? undefined : tcNumber(handle, "a handle", 32),
  };
}

/** A word of the command at the place of the element that it stands for. */
export function at(place: Place, ...texts: readonly string[]): Word[] {
  return texts.map((text) => ({ text, place }));
}
