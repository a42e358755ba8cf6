/** Every key that the engine's parser makes of an Ethernet frame satisfies the clauses of `ParsedKey`. */
import { expect, test } from "vitest";
import { MAP_COUNT, MAP_ENTRY_SIZE, MAP_FIRST } from "../../../src/abi/headers.js";
import { KEY_SIZE } from "../../../src/abi/key.js";
import { fieldAtBit } from "../../../src/model/match/fields.js";
import { ParserDeclaration, type ParserOptions } from "../../../src/model/base/parser.js";
import { ParsedKey } from "../../../src/proof/keys/parsedKey.js";
import { constant } from "../../../src/proof/literal.js";
import { Solver } from "../../../src/proof/solver/solver.js";
import { broken, type FoundHeader } from "../../assembly/wire/support/mutate.js";
import { frameText, parseAll, seedFor, type TestFrame } from "../../assembly/support/core.js";
import { DECLARED, KINDS, Random, randomFrame, randomFrameOf } from "../../oracle/generate/frame.js";
import { rounds } from "../../support/tier.js";
import { coreFor } from "./support.js";

const FRAMES = rounds(40_000);
const BITS = KEY_SIZE * 8;

/** All bits of a key, asked once, and the keys that they are to be equal to. */
class Judge {
  readonly #solver = new Solver();
  readonly #literals: readonly number[];

  constructor(parser: ParserOptions) {
    const given = new Map<number, number>();
    const key = new ParsedKey(this.#solver, {
      parser: new ParserDeclaration(parser),
      given: (bit) => given.get(bit) ?? (given.set(bit, this.#solver.newVariable()), given.get(bit) ?? 0),
    });
    this.#literals = Array.from({ length: BITS }, (_, bit) => key.bit(bit));
  }

  /** Bits that cannot be together; undefined if the key satisfies the clauses. */
  fault(key: Uint8Array): string | undefined {
    const wanted = this.#literals.map((literal, bit) => (bitOf(key, bit) ? literal : -literal));
    const wrong = wanted.findIndex((literal) => literal === constant(false));
    if (wrong >= 0) return `${fieldAtBit(wrong)} is constant`;
    if (this.#solver.solve(wanted) === true) return undefined;
    const { failed } = this.#solver;
    const named = failed.map((literal) => wanted.indexOf(literal));
    return named.map((bit) => `${fieldAtBit(bit)} (bit ${bit}) is ${Number(bitOf(key, bit))}`).join(", ");
  }
}

function bitOf(key: Uint8Array, bit: number): boolean {
  return ((key[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0;
}

function headersIn(map: DataView): FoundHeader[] {
  return Array.from({ length: map.getUint16(MAP_COUNT, true) }, (_, n) => {
    const entry = MAP_FIRST + n * MAP_ENTRY_SIZE;
    return { kind: map.getUint8(entry), level: map.getUint8(entry + 1), offset: map.getUint32(entry + 4, true) };
  });
}

test.each([
  ["nothing", {}],
  ["a Geneve option, samples and ports of VXLAN", DECLARED as ParserOptions],
  ["ports of VXLAN that share no bit", { vxlanPorts: [65535, 8472, 1] }],
  ["no port of VXLAN", { vxlanPorts: [] }],
])("random and broken frames, declared: %s", { timeout: 300_000 }, async (_name, parser) => {
  const random = new Random(seedFor("keys, sound"));
  const core = await coreFor(parser);
  const judge = new Judge(parser);
  for (let done = 0; done < FRAMES / 2;) {
    const frames: TestFrame[] = [];
    while (frames.length < 50) {
      const frame = random.chance(0.5) ? randomFrame(random) : randomFrameOf(random, random.pick(KINDS));
      if (frame.linkType === 1) frames.push(frame);
    }
    const more: TestFrame[] = [];
    const check = (frame: TestFrame, key: Uint8Array): void => {
      const fault = judge.fault(key);
      if (fault !== undefined) expect.fail(`${fault}\n${frameText(frame)}`);
      done++;
    };
    parseAll(core, frames, (i, key, map) => {
      const frame = frames[i] as TestFrame;
      check(frame, key);
      for (let n = 0; n < 4; n++) more.push(broken(frame, headersIn(map), random.pick(frames), random));
    });
    parseAll(core, more, (i, key) => check(more[i] as TestFrame, key));
  }
});
