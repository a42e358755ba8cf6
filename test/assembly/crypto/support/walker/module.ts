/** A module of WebAssembly as the walker reads it: functions as lists of instructions. Only what the core is made of. */
import { CORE_CALLS } from "../../../../../src/engine/coreExports.js";

export interface Instruction {
  /** The opcode; behind the prefixes 0xfc and 0xfd that of the second byte, as 0xfc00 | n and 0xfd00 | n. */
  op: number;
  /** Immediates: an index, a label, a constant, the offset of an access; the lane of an access or its lanes. */
  a: number | bigint | Uint8Array;
  b: number | Uint8Array;
  /** Where it is in the file. */
  at: number;
  /** Of block, loop and if: values in and out, the instruction behind `else`, the `end`. */
  params: number;
  results: number;
  other: number;
  end: number;
}

export interface Type {
  params: number;
  results: number;
}

export interface Func {
  index: number;
  type: Type;
  /** Parameters included: the zero of each local's type. */
  locals: (number | bigint | Uint8Array)[];
  code: Instruction[];
}

export interface Module {
  imports: number;
  functions: Map<number, Func>;
  globals: (number | bigint | Uint8Array)[];
  exports: Map<string, number>;
  /** Pages at the start. */
  pages: number;
  data: { at: number; bytes: Uint8Array }[];
  start: number | undefined;
}

export const BLOCK = 0x02;
export const LOOP = 0x03;
export const IF = 0x04;
export const ELSE = 0x05;
export const END = 0x0b;
export const BR_TABLE = 0x0e;

class Reader {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.at++]!;
  }

  take(length: number): Uint8Array {
    this.at += length;
    // A copy, whatever kind of array the module is.
    return Uint8Array.from(this.bytes.subarray(this.at - length, this.at));
  }

  unsigned(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  signed(bits: number): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(Math.min(bits, Number(shift) + 7), value);
    }
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.unsigned()));
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.unsigned() }, item);
  }
}

export function readModule(bytes: Uint8Array): Module {
  const reader = new Reader(bytes);
  reader.take(8);
  let types: Type[] = [];
  let declared: number[] = [];
  const module: Module = {
    imports: 0,
    functions: new Map(),
    globals: [],
    exports: new Map(),
    pages: 0,
    data: [],
    start: undefined,
  };
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const end = reader.unsigned() + reader.at;
    if (section === 1) types = reader.list(() => readType(reader));
    else if (section === 2) throw new Error("a module that imports something");
    else if (section === 3) declared = reader.list(() => reader.unsigned());
    else if (section === 5) module.pages = readLimits(reader);
    else if (section === 6) module.globals = reader.list(() => readGlobal(reader));
    else if (section === 7) readExports(reader, module);
    else if (section === 8) module.start = reader.unsigned();
    else if (section === 9) readCalls(reader, module);
    else if (section === 10) {
      reader.list(() => {
        const index = module.functions.size;
        module.functions.set(index, readFunction(reader, index, types, types[declared[index]!]!));
      });
    } else if (section === 11) module.data = reader.list(() => readData(reader));
    reader.at = end;
  }
  return module;
}

function readType(reader: Reader): Type {
  if (reader.byte() !== 0x60) throw new Error("a type that is no function's");
  return { params: reader.take(reader.unsigned()).length, results: reader.take(reader.unsigned()).length };
}

function readLimits(reader: Reader): number {
  reader.unsigned();
  const flags = reader.byte();
  const least = reader.unsigned();
  if ((flags & 1) !== 0) reader.unsigned();
  return least;
}

function readGlobal(reader: Reader): number | bigint | Uint8Array {
  reader.take(2);
  return constant(reader);
}

function constant(reader: Reader): number | bigint | Uint8Array {
  const { op, a } = readInstruction(reader, []);
  if (![0x41, 0x42, 0xfd0c].includes(op)) throw new Error(`no constant: ${op.toString(16)}`);
  reader.byte();
  return a;
}

function readExports(reader: Reader, module: Module): void {
  reader.list(() => {
    const name = reader.text();
    const kind = reader.byte();
    const index = reader.unsigned();
    if (kind === 0) module.exports.set(name, index);
  });
}

/** The table of the release core has its functions in the order of CORE_CALLS. */
function readCalls(reader: Reader, module: Module): void {
  reader.list(() => {
    if (reader.unsigned() !== 0 || constant(reader) !== 0) throw new Error("elements that do not begin at 0");
    for (const [n, index] of reader.list(() => reader.unsigned()).entries())
      module.exports.set(CORE_CALLS[n] as string, index);
  });
}

function readData(reader: Reader): { at: number; bytes: Uint8Array } {
  if (reader.unsigned() !== 0) throw new Error("passive data");
  const at = constant(reader) as number;
  return { at, bytes: reader.take(reader.unsigned()) };
}

function zeroOf(type: number): number | bigint | Uint8Array {
  if (type === 0x7f) return 0;
  if (type === 0x7e) return 0n;
  if (type === 0x7b) return new Uint8Array(16);
  throw new Error(`a local of type ${type.toString(16)}`);
}

function readFunction(reader: Reader, index: number, types: Type[], type: Type): Func {
  const end = reader.unsigned() + reader.at;
  const locals: Func["locals"] = Array.from({ length: type.params }, () => 0);
  reader.list(() => {
    const count = reader.unsigned();
    const zero = zeroOf(reader.byte());
    for (let i = 0; i < count; i++) locals.push(zero);
  });
  const code: Instruction[] = [];
  const open: Instruction[] = [];
  while (reader.at < end) {
    const instruction = readInstruction(reader, types);
    code.push(instruction);
    const { op } = instruction;
    if (op === BLOCK || op === LOOP || op === IF) open.push(instruction);
    else if (op === ELSE) open.at(-1).other = code.length;
    else if (op === END) {
      const block = open.pop();
      if (block !== undefined) block.end = code.length - 1;
    }
  }
  return { index, type, locals, code };
}

function readInstruction(reader: Reader, types: Type[]): Instruction {
  const at = reader.at;
  let op = reader.byte();
  if (op === 0xfc || op === 0xfd) op = (op << 8) | reader.unsigned();
  const instruction: Instruction = { op, a: 0, b: 0, at, params: 0, results: 0, other: -1, end: -1 };
  if (op === BLOCK || op === LOOP || op === IF) {
    const type = Number(reader.signed(33));
    if (type >= 0) Object.assign(instruction, types[type]);
    else instruction.results = type === -64 ? 0 : 1;
  } else if (op === BR_TABLE) {
    instruction.a = Uint8Array.from(reader.list(() => reader.unsigned()).concat(reader.unsigned()));
  } else if (op === 0x41) instruction.a = Number(reader.signed(32));
  else if (op === 0x42) instruction.a = reader.signed(64);
  else if (op === 0x11) {
    reader.unsigned();
    reader.unsigned();
  } else if (op === 0x1c) reader.take(reader.unsigned());
  else if (op === 0x43 || op === 0x44) reader.take(op === 0x43 ? 4 : 8);
  else if (op === 0x0c || op === 0x0d || op === 0x10 || (op >= 0x20 && op <= 0x24)) instruction.a = reader.unsigned();
  else if (op >= 0x28 && op <= 0x3e) access(reader, instruction);
  else if (op === 0x3f || op === 0x40) reader.byte();
  else if (op === 0xfc0a) reader.take(2);
  else if (op === 0xfc0b) reader.take(1);
  else if (op >= 0xfd00) lanes(reader, instruction);
  return instruction;
}

function access(reader: Reader, instruction: Instruction): void {
  reader.unsigned();
  instruction.a = reader.unsigned();
}

function lanes(reader: Reader, instruction: Instruction): void {
  const code = instruction.op & 0xff;
  if (code <= 11 || code === 92 || code === 93) access(reader, instruction);
  else if (code === 12) instruction.a = reader.take(16);
  else if (code === 13) instruction.b = reader.take(16);
  else if (code >= 21 && code <= 34) instruction.b = reader.byte();
  else if (code >= 84 && code <= 91) {
    access(reader, instruction);
    instruction.b = reader.byte();
  }
}
