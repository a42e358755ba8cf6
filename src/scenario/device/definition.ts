/** Sections `device`, `connect` and `domains`. */
import { Header } from "../../abi/headers.js";
import { MAX_PORTS } from "../../model/base/port/ports.js";
import { PROFILE_NAMES, type ProfileName } from "../../model/profile/profile.js";
import { flag, integer, list, name, object, word, type Schema, type Static } from "../schema/define.js";
import { about, DOMAIN, FUNCTION, MAX_U32, namesOf } from "../schema/parts.js";

type SampleHeader = Exclude<keyof typeof Header, "none"> | "payload";

const SAMPLE = object(
  "Four bytes of a frame, which rules match as misc4.prog_sample_field_value_ and the id.",
  ["id", "header", "offset"],
  {
    id: integer("Its number.", 0, 7),
    header: word("The first header of this kind; payload is what follows the last header of the level.", [
      ...(namesOf(Header) as SampleHeader[]),
      "payload",
    ]),
    level: word("Which packet: the outer one, or the one inside the first tunnel.", ["outer", "inner"], {
      default: "outer",
    }),
    offset: integer("Bytes from the start of the header.", 0, 65535),
    port: integer("Only where this is the UDP destination port of the level.", 0, 65535),
  },
);

const PARSER = object("What the parser reads from frames besides the fields that every device has.", [], {
  geneveOption0: object(
    "The Geneve option that misc.geneve_tlv_option_0_exist and misc3.geneve_tlv_option_0_data stand for.",
    ["class", "type"],
    {
      class: integer("Option class.", 0, 65535),
      type: integer("Option type, its critical bit included.", 0, 255),
    },
  ),
  samples: list("Programmable samples.", SAMPLE),
  vxlanPorts: list(
    "UDP destination ports after which VXLAN is read: those that the driver registered, 4 at most. Left out, 4789.",
    integer("A port, of no other header over UDP.", 1, 65535),
  ),
});

/** `createDevice` refuses other names, with the same hint for programs and documents. */
const PROFILE: Schema<ProfileName> = {
  description: "What the device refuses besides what the manual pages refuse.",
  type: "string",
  default: "manual",
  examples: PROFILE_NAMES,
  published: () => ({ type: "string", enum: PROFILE_NAMES }),
};

export const DEVICE = object("The device. Everything has a default.", [], {
  name: name("Its name.", "flowsteer0"),
  ports: integer("Physical ports, numbered from 1.", 1, MAX_PORTS, { default: 1 }),
  vports: integer("Functions besides the PF, which is 0: VFs, numbered from 1.", 0, 255, { default: 0 }),
  profile: PROFILE,
  seed: integer("Seed of what is random in outcomes, such as samples.", 0, MAX_U32, { default: 0 }),
  limits: object("Limits of the device.", [], {
    memory: integer("Bytes for tables, rules, counters and queues.", 0, MAX_U32),
    flows: integer("Flows that exist at a time; left out, as many as memory holds.", 0, MAX_U32),
  }),
  managedFlowSteering: flag("Whether the device has flows: IBV_DEVICE_MANAGED_FLOW_STEERING.", { default: true }),
  asyncRules: flag(
    "Whether rules of tables that are not root wait for a sync of their domain. Domains are synced once all rules are made, unless they say otherwise.",
    { default: false },
  ),
  cache: object("The flow cache. Outcomes are the same with and without it.", [], {
    entries: integer("Entries at most: a power of two, or 0 for no cache.", 0, 1_048_576, { default: 65_536 }),
  }),
  parser: PARSER,
});
export type ScenarioDevice = Static<typeof DEVICE>;

export const CABLE = object(
  "A cable: frames that leave by one of the two ports arrive at the other. A port without a cable leads nowhere.",
  ["port", "to"],
  {
    port: integer("A port.", 1, MAX_PORTS),
    to: integer("The port it is connected to: another one, or itself.", 1, MAX_PORTS),
  },
);
export type ScenarioCable = Static<typeof CABLE>;

export const DOMAIN_SETTINGS = object(
  "Settings of a domain. A domain without settings need not be listed.",
  ["domain"],
  {
    domain: DOMAIN,
    function: FUNCTION,
    description: about,
    reclaim: flag("Whether its tables give memory back as soon as rules are removed.", { default: false }),
    duplicates: flag("Whether two rules of a matcher can have the same values; in the root table they cannot.", {
      default: true,
    }),
    sync: flag("With asyncRules: whether it is synced before the first frame arrives.", { default: true }),
  },
);
export type ScenarioDomain = Static<typeof DOMAIN_SETTINGS>;
