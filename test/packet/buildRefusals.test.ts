/** Refusals of the builder: the path, the rule, the fix. */
import { expect, test } from "vitest";
import { SteeringError } from "../../src/index.js";
import { buildFrame, type Layer } from "../../src/packet/index.js";

interface Refused {
  layers: unknown[];
  path: string;
  reason: string;
  hint: RegExp;
}

const REFUSED: Readonly<Record<string, Refused>> = {
  "no such header": {
    layers: [{ header: "ipv5" }],
    path: "layers[0].header",
    reason: "bad_header",
    hint: /did you mean "ipv4"/,
  },
  "no such field": {
    layers: [{ header: "ethernet" }, { header: "ipv4", tll: 5 }],
    path: "layers[1].tll",
    reason: "bad_field",
    hint: /did you mean "ttl"/,
  },
  "a value too large": {
    layers: [{ header: "ipv4", ttl: 256 }],
    path: "layers[0].ttl",
    reason: "out_of_range",
    hint: /8 bits: 0 to 255/,
  },
  "a fraction": {
    layers: [{ header: "ipv4", ttl: 1.5 }],
    path: "layers[0].ttl",
    reason: "out_of_range",
    hint: /8 bits/,
  },
  "a flag of 2": { layers: [{ header: "gre", k: 2 }], path: "layers[0].k", reason: "out_of_range", hint: /true/ },
  "an unknown flag": {
    layers: [{ header: "tcp", flags: "sin" }],
    path: "layers[0].flags",
    reason: "bad_field",
    hint: /"syn"/,
  },
  "a bad address": {
    layers: [{ header: "ipv4", source: "10.0.0" }],
    path: "layers[0].source",
    reason: "bad_address",
    hint: /IPv4/,
  },
  "an address of another size": {
    layers: [{ header: "ethernet", source: new Uint8Array(5) }],
    path: "layers[0].source",
    reason: "bad_address",
    hint: /MAC/,
  },
  "bytes too many": {
    layers: [{ header: "linux_cooked", address: new Uint8Array(9) }],
    path: "layers[0].address",
    reason: "out_of_range",
    hint: /8 bytes/,
  },
  "no digits": {
    layers: [{ header: "payload", bytes: "0x" }],
    path: "layers[0].bytes",
    reason: "bad_number",
    hint: /digits/,
  },
  "an unknown option": {
    layers: [{ header: "tcp", options: [{ option: "mss", size: 5 }, { option: "mtu" }] }],
    path: "layers[0].options[1].option",
    reason: "bad_option",
    hint: /wscale/,
  },
  "an option's value": {
    layers: [{ header: "tcp", options: [{ option: "wscale", shift: 256 }] }],
    path: "layers[0].options[0].shift",
    reason: "bad_option",
    hint: /8 bits/,
  },
  "an option's other key": {
    layers: [{ header: "tcp", options: [{ option: "mss", value: 5 }] }],
    path: "layers[0].options[0].value",
    reason: "bad_option",
    hint: /size/,
  },
  "a Geneve option of half a word": {
    layers: [{ header: "geneve", options: [{ class: 1, type: 1, data: new Uint8Array(3) }] }],
    path: "layers[0].options[0].data",
    reason: "bad_option",
    hint: /another length/,
  },
  "a segment that is no address": {
    layers: [{ header: "ipv6_routing", data: ["fe80::1", "x"] }],
    path: "layers[0].data[1]",
    reason: "bad_address",
    hint: /IPv6/,
  },
  "options beyond the header": {
    layers: [{ header: "ipv4", options: new Uint8Array(44) }],
    path: "layers[0].ihl",
    reason: "not_derived",
    hint: /give layers\[0\].ihl/,
  },
  "options of half a word": {
    layers: [{ header: "tcp", checksum: 0, options: new Uint8Array(3) }],
    path: "layers[0].data_offset",
    reason: "not_derived",
    hint: /no whole data_offset/,
  },
  "more than a packet holds": {
    layers: [{ header: "ipv4" }, new Uint8Array(65536)],
    path: "layers[0].total_length",
    reason: "not_derived",
    hint: /65556, which does not fit/,
  },
  "no type for what follows": {
    layers: [{ header: "ethernet" }, { header: "tcp" }],
    path: "layers[1].checksum",
    reason: "not_derived",
    hint: /give layers\[1\].checksum/,
  },
  "no EtherType for what follows": {
    layers: [{ header: "ethernet" }, { header: "sctp" }],
    path: "layers[0].type",
    reason: "not_derived",
    hint: /no number says that sctp follows ethernet: give layers\[0\].type/,
  },
  "no field for what follows": {
    layers: [{ header: "vxlan" }, { header: "ipv4" }],
    path: "layers[1].header",
    reason: "not_derived",
    hint: /ethernet, payload can follow/,
  },
  "a header behind a payload": {
    layers: [{ header: "ethernet" }, new Uint8Array(1), { header: "ipv4" }],
    path: "layers[2].header",
    reason: "not_derived",
    hint: /by itself/,
  },
  "a header behind a trailer": {
    layers: [{ header: "ethernet" }, { header: "trailer", bytes: "" }, new Uint8Array(1)],
    path: "layers[2].header",
    reason: "not_derived",
    hint: /the last layer/,
  },
};

test.each(Object.entries(REFUSED))("refuses %s", (_, { layers, path, reason, hint }) => {
  let refusal: unknown;
  try {
    buildFrame(layers as Layer[]);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(SteeringError);
  expect(refusal).toMatchObject({ code: "EINVAL", call: "buildFrame", path, reason });
  expect((refusal as SteeringError).hint).toMatch(hint);
});

test("another type is a TypeError", () => {
  const wrong: [unknown, string][] = [
    [5, "buildFrame: layers must be an array, not number"],
    [[5], "buildFrame: layers[0] must be a header or a Uint8Array, not number"],
    [[{}], "buildFrame: layers[0].header must be a string, not undefined"],
    [[{ header: "ipv4", ttl: "5" }], "buildFrame: layers[0].ttl must be a number, not string"],
    [[{ header: "ipv4", source: 5 }], "buildFrame: layers[0].source must be text or a Uint8Array, not number"],
    [[{ header: "tcp", options: 5 }], "buildFrame: layers[0].options must be a list of options"],
    [[{ header: "tcp", options: [5] }], "buildFrame: layers[0].options[0] must be an option, not number"],
    [[{ header: "ipv6_routing", data: 5 }], "buildFrame: layers[0].data must be a list of addresses"],
  ];
  for (const [layers, message] of wrong) {
    expect(() => buildFrame(layers as Layer[])).toThrow(TypeError);
    expect(() => buildFrame(layers as Layer[])).toThrow(message);
  }
});
