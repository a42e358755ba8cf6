/** Meters of testpmd: profiles, policies, and the meters that have them. */
import type { Scenario } from "../../../../scenario/document.js";
import type { Cursor } from "../../../text/words.js";
import { notImported, type Word } from "../../../text/refusal.js";
import { readActions, type Action } from "../actions/read.js";
import { numberAt, unknownWord } from "../values.js";

type MeterObject = NonNullable<NonNullable<Scenario["asoObjects"]>[number]["flow_meter"]>;
export type Policy = Readonly<Record<"green" | "yellow" | "red", readonly Action[]>>;

interface Meter {
  readonly profile: MeterObject;
  readonly policy: Policy;
}

/** The rates of each kind of profile, in their order. */
const PROFILES: Readonly<Record<string, readonly string[]>> = {
  srtcm_rfc2697: ["cir", "cbs", "ebs"],
  trtcm_rfc2698: ["cir", "pir", "cbs", "pbs"],
  trtcm_rfc4115: ["cir", "eir", "cbs", "ebs"],
};

export class Meters {
  readonly #profiles = new Map<string, MeterObject>();
  readonly #policies = new Map<string, Policy>();
  readonly #meters = new Map<string, Meter>();

  /** `add port meter profile KIND PORT PROFILE RATES... PACKETS`. @throws NotImported */
  addProfile(words: Cursor): void {
    const kind = words.next("the kind of the profile");
    const rates = PROFILES[kind.text];
    if (rates === undefined) return unknownWord(kind, "kind of profile", Object.keys(PROFILES));
    const [port, id] = [numberOf(words, "the port", 16), numberOf(words, "the profile", 32)];
    this.#profiles.delete(`${port} ${id}`);
    const values = Object.fromEntries(rates.map((rate) => [rate, numberOf(words, rate, 64)]));
    const byPackets = words.done ? 0 : numberOf(words, "the packet mode", 32);
    const { cir = 0, cbs = 0, pir, pbs, eir, ebs = 0 } = values;
    this.#profiles.set(`${port} ${id}`, {
      cir,
      cbs,
      eir: pir ?? eir ?? 0,
      ebs: pbs ?? ebs,
      ...(kind.text === "srtcm_rfc2697" ? { bucket_overflow: true } : {}),
      ...(kind.text === "trtcm_rfc2698" ? { both_buckets_on_green: true } : {}),
      ...(byPackets === 0 ? {} : { meter_mode: "pkt" as const }),
    });
  }

  /** `add port meter policy PORT POLICY g_actions ... y_actions ... r_actions ...`. @throws NotImported */
  addPolicy(words: Cursor): void {
    const [port, id] = [numberOf(words, "the port", 16), numberOf(words, "the policy", 32)];
    this.#policies.delete(`${port} ${id}`);
    const of = (key: string): readonly Action[] => {
      if (!words.take(key)) unknownWord(words.next(`"${key}"`), "part of a policy here", [key]);
      return readActions(words);
    };
    this.#policies.set(`${port} ${id}`, { green: of("g_actions"), yellow: of("y_actions"), red: of("r_actions") });
  }

  /** `create port meter PORT METER PROFILE POLICY ENABLED ...`. @throws NotImported */
  create(words: Cursor): void {
    const [port, id] = [numberOf(words, "the port", 16), numberOf(words, "the meter", 32)];
    this.#meters.delete(`${port} ${id}`);
    const profile = words.next("the profile");
    const policy = words.next("the policy");
    const found = this.#profiles.get(`${port} ${numberAt(profile, "the profile", 32)}`);
    const rules = this.#policies.get(`${port} ${numberAt(policy, "the policy", 32)}`);
    if (found === undefined) notImported(profile, `port ${port} has no profile ${profile.text} before this`);
    if (rules === undefined) notImported(policy, `port ${port} has no policy ${policy.text} before this`);
    const enabled = words.next("yes or no");
    if (enabled.text !== "yes" && enabled.text !== "no") unknownWord(enabled, "word here", ["yes", "no"]);
    this.#meters.set(`${port} ${id}`, {
      profile: enabled.text === "yes" ? found : { ...found, valid: false },
      policy: rules,
    });
  }

  /** @throws NotImported */
  get(port: number, id: bigint, word: Word): Meter {
    return this.#meters.get(`${port} ${id}`) ?? notImported(word, `port ${port} has no meter ${id} before this`);
  }
}

function numberOf(words: Cursor, what: string, bits: number): number {
  return Number(numberAt(words.next(what), what, bits));
}
