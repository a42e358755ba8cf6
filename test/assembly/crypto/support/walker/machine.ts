/**
 * Walks a module with its secrets left open: public numbers are computed as they are, a secret stays a secret. A run that
 * finishes takes the same way and touches the same addresses whatever the secrets are, which is a proof for its public inputs
 * (lengths, addresses, counts), not a sample. Where a secret would decide on the way or on an address, that is a leak.
 *
 * The verdict on a packet is public: what a secret writes to a byte that is declared so becomes what `verdict` says.
 */
import { BLOCK, BR_TABLE, ELSE, END, IF, LOOP, type Func, type Instruction, type Module } from "./module.js";
import {
  arity,
  blend,
  compute,
  computeLanes,
  isKnown,
  isSlow,
  lanesArity,
  SECRET,
  UNKNOWN,
  type Known,
  type Value,
} from "./values.js";

const PAGE = 65536;
const KNOWN_BYTE = 0;
const SECRET_BYTE = 1;
const UNKNOWN_BYTE = 2;

/** Bytes that memory instructions move; of lanes, behind 0xfd00. */
const WIDTHS: Record<number, number> = {
  0x28: 4,
  0x29: 8,
  0x2c: 1,
  0x2d: 1,
  0x2e: 2,
  0x2f: 2,
  0x30: 1,
  0x31: 1,
  0x32: 2,
  0x33: 2,
  0x34: 4,
  0x35: 4,
  0x36: 4,
  0x37: 8,
  0x3a: 1,
  0x3b: 2,
  0x3c: 1,
  0x3d: 2,
  0x3e: 4,
  0xfd00: 16,
  0xfd01: 8,
  0xfd02: 8,
  0xfd03: 8,
  0xfd04: 8,
  0xfd05: 8,
  0xfd06: 8,
  0xfd07: 1,
  0xfd08: 2,
  0xfd09: 4,
  0xfd0a: 8,
  0xfd0b: 16,
  0xfd5c: 4,
  0xfd5d: 8,
  0xfd54: 1,
  0xfd55: 2,
  0xfd56: 4,
  0xfd57: 8,
  0xfd58: 1,
  0xfd59: 2,
  0xfd5a: 4,
  0xfd5b: 8,
};

interface Label {
  to: number;
  height: number;
  arity: number;
}

export class Leak extends Error {
  override name = "Leak";
}

export class Machine {
  readonly module: Module;
  bytes: Uint8Array;
  #states: Uint8Array;
  readonly #globals: Value[];
  /** Whether a packet is good, by the address of the byte that says so. */
  readonly verdicts = new Map<number, boolean>();
  /** Functions that a secret has come to, and for each function the instructions that have run. */
  readonly touched = new Set<number>();
  readonly ran = new Map<number, Uint8Array>();
  steps = 0;

  constructor(module: Module) {
    this.module = module;
    this.bytes = new Uint8Array(module.pages * PAGE);
    this.#states = new Uint8Array(module.pages * PAGE);
    this.#globals = [...module.globals];
    for (const { at, bytes } of module.data) this.bytes.set(bytes, at);
    if (module.start !== undefined) this.#call(module.start, []);
  }

  /** Calls an export; what it gives back is public. */
  call(name: string, ...values: number[]): number {
    const index = this.module.exports.get(name);
    if (index === undefined) throw new Error(`no export ${name}`);
    const [result] = this.#call(index, values);
    if (result === SECRET) throw new Leak(`${name} gives back a secret`);
    return result === undefined ? 0 : Number(result) >>> 0;
  }

  write(at: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, at);
    this.#states.fill(KNOWN_BYTE, at, at + bytes.length);
  }

  hide(at: number, length: number): void {
    this.#states.fill(SECRET_BYTE, at, at + length);
  }

  /** Addresses of bytes that are secret now. */
  secrets(): number[] {
    const all: number[] = [];
    for (let at = this.#states.indexOf(SECRET_BYTE); at >= 0; at = this.#states.indexOf(SECRET_BYTE, at + 1))
      all.push(at);
    return all;
  }

  #call(index: number, values: readonly Value[]): Value[] {
    const func = this.module.functions.get(index)!;
    const locals: Value[] = [...func.locals];
    values.forEach((value, i) => (locals[i] = value));
    return new Frame(this, func, locals, this.#ranOf(func)).run();
  }

  #ranOf(func: Func): Uint8Array {
    let ran = this.ran.get(func.index);
    if (ran === undefined) this.ran.set(func.index, (ran = new Uint8Array(func.code.length)));
    return ran;
  }

  callFrom(index: number, stack: Value[]): void {
    const { params } = this.module.functions.get(index)!.type;
    stack.push(...this.#call(index, stack.splice(stack.length - params)));
  }

  global(index: number): Value {
    return this.#globals[index]!;
  }

  setGlobal(index: number, value: Value): void {
    this.#globals[index] = value;
  }

  get pages(): number {
    return this.bytes.length / PAGE;
  }

  grow(by: number): number {
    const before = this.pages;
    const bytes = new Uint8Array((before + by) * PAGE);
    const states = new Uint8Array(bytes.length);
    bytes.set(this.bytes);
    states.set(this.#states);
    this.bytes = bytes;
    this.#states = states;
    return before;
  }

  /** The bytes at an address, or that they are not all known. */
  read(at: number, width: number): Uint8Array | typeof SECRET | typeof UNKNOWN {
    this.#check(at, width);
    let worst = KNOWN_BYTE;
    for (let i = at; i < at + width; i++) {
      const state = this.#states[i]!;
      if (state === SECRET_BYTE) return SECRET;
      if (state !== KNOWN_BYTE) worst = state;
    }
    return worst === KNOWN_BYTE ? this.bytes.slice(at, at + width) : UNKNOWN;
  }

  put(at: number, width: number, value: Value): void {
    this.#check(at, width);
    const verdict = value === SECRET && width === 1 ? this.verdicts.get(at) : undefined;
    if (verdict !== undefined) this.write(at, Uint8Array.of(Number(verdict)));
    else if (isKnown(value)) this.write(at, littleEndian(value, width));
    else this.#states.fill(value === SECRET ? SECRET_BYTE : UNKNOWN_BYTE, at, at + width);
  }

  copy(to: number, from: number, length: number): void {
    this.#check(to, length);
    this.#check(from, length);
    this.bytes.copyWithin(to, from, from + length);
    this.#states.copyWithin(to, from, from + length);
  }

  fill(at: number, value: Value, length: number): void {
    for (let i = 0; i < length; i++) this.put(at + i, 1, value);
  }

  #check(at: number, width: number): void {
    if (at + width > this.bytes.length) throw new Error(`out of bounds: ${at}`);
  }
}

function littleEndian(value: Known, width: number): Uint8Array {
  if (value instanceof Uint8Array) return value.slice(0, width);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
  return new Uint8Array(view.buffer, 0, width);
}

/** One call of a function. */
class Frame {
  readonly #machine: Machine;
  readonly #func: Func;
  readonly #locals: Value[];
  readonly #ran: Uint8Array;
  readonly #stack: Value[] = [];
  readonly #labels: Label[];
  #next = 0;

  constructor(machine: Machine, func: Func, locals: Value[], ran: Uint8Array) {
    this.#machine = machine;
    this.#func = func;
    this.#locals = locals;
    this.#ran = ran;
    this.#labels = [{ to: func.code.length, height: 0, arity: func.type.results }];
    if (locals.includes(SECRET)) machine.touched.add(func.index);
  }

  run(): Value[] {
    const { code } = this.#func;
    while (this.#next < code.length) {
      this.#ran[this.#next] = 1;
      this.#machine.steps++;
      const instruction = code[this.#next++]!;
      this.#step(instruction);
      if (this.#stack.at(-1) === SECRET) this.#machine.touched.add(this.#func.index);
    }
    return this.#stack.splice(this.#stack.length - this.#func.type.results);
  }

  #step(instruction: Instruction): void {
    const { op } = instruction;
    const operands = arity(op);
    if (op >= 0x20 && op <= 0x24) this.#variable(instruction);
    else if (op === 0x41 || op === 0x42) this.#stack.push(instruction.a);
    else if (op < 0x20) this.#control(instruction);
    else if (op in WIDTHS) this.#access(instruction, WIDTHS[op]!);
    else if (operands > 0) this.#compute(instruction, operands);
    else if (op >= 0xfd00) this.#lanes(instruction);
    else this.#memory(instruction);
  }

  #leak(instruction: Instruction, what: string): never {
    throw new Leak(`${what} in function ${this.#func.index}, at byte ${instruction.at}`);
  }

  /** A value that decides on the way or on an address. */
  #public(instruction: Instruction, value: Value | undefined, what: string): number {
    if (value === SECRET) this.#leak(instruction, `${what} depends on a secret`);
    if (typeof value !== "number") {
      throw new Error(`${what} is not known in function ${this.#func.index}, at byte ${instruction.at}`);
    }
    return value;
  }

  #pop(): Value {
    return this.#stack.pop()!;
  }

  #take(count: number): Value[] {
    return this.#stack.splice(this.#stack.length - count);
  }

  #variable({ op, a }: Instruction): void {
    const index = a as number;
    if (op === 0x20) this.#stack.push(this.#locals[index]!);
    else if (op === 0x21) this.#locals[index] = this.#pop();
    else if (op === 0x22) this.#locals[index] = this.#stack.at(-1)!;
    else if (op === 0x23) this.#stack.push(this.#machine.global(index));
    else this.#machine.setGlobal(index, this.#pop());
  }

  #compute(instruction: Instruction, operands: number): void {
    const values = this.#take(operands);
    if (isSlow(instruction.op) && values.includes(SECRET))
      this.#leak(instruction, "the time of an instruction depends on a secret");
    this.#stack.push(compute(instruction.op, values));
  }

  #lanes({ op, a, b }: Instruction): void {
    const code = op & 0xff;
    const values = this.#take(lanesArity(code));
    this.#stack.push(computeLanes(code, values, a, b));
  }

  #control(instruction: Instruction): void {
    const { op, a } = instruction;
    const labels = this.#labels;
    if (op === 0x00) throw new Error(`unreachable in function ${this.#func.index}`);
    else if (op === BLOCK || op === LOOP || op === IF) this.#enter(instruction);
    else if (op === ELSE) this.#next = labels.pop()!.to;
    else if (op === END) labels.pop();
    else if (op === 0x0c) this.#branch(a as number);
    else if (op === 0x0d) {
      if (this.#public(instruction, this.#pop(), "a branch") !== 0) this.#branch(a as number);
    } else if (op === BR_TABLE) {
      const targets = a as Uint8Array;
      const index = this.#public(instruction, this.#pop(), "a branch") >>> 0;
      this.#branch(targets[Math.min(index, targets.length - 1)]!);
    } else if (op === 0x0f) this.#branch(labels.length - 1);
    else if (op === 0x10) this.#machine.callFrom(a as number, this.#stack);
    else if (op === 0x11) throw new Error(`an indirect call in function ${this.#func.index}`);
    else if (op === 0x1a) this.#pop();
    else if (op === 0x1b || op === 0x1c) {
      const chosen = this.#public(instruction, this.#pop(), "a selection") !== 0;
      const [yes, no] = this.#take(2);
      this.#stack.push(chosen ? yes! : no!);
    } else if (op !== 0x01) this.#unknown(op);
  }

  #enter(instruction: Instruction): void {
    const { op, params, results, other, end } = instruction;
    const chosen = op !== IF || this.#public(instruction, this.#pop(), "a branch") !== 0;
    const height = this.#stack.length - params;
    if (!chosen && other < 0) {
      this.#next = end + 1;
      return;
    }
    if (!chosen) this.#next = other;
    if (op === LOOP) this.#labels.push({ to: this.#next - 1, height, arity: params });
    else this.#labels.push({ to: end + 1, height, arity: results });
  }

  #branch(depth: number): void {
    const label = this.#labels[this.#labels.length - 1 - depth]!;
    this.#labels.length -= depth + 1;
    const kept = this.#take(label.arity);
    this.#stack.length = label.height;
    this.#stack.push(...kept);
    this.#next = label.to;
  }

  #memory(instruction: Instruction): void {
    const { op } = instruction;
    const machine = this.#machine;
    if (op === 0x3f) this.#stack.push(machine.pages);
    else if (op === 0x40) this.#stack.push(machine.grow(this.#public(instruction, this.#pop(), "growth")));
    else if (op === 0xfc0a || op === 0xfc0b) {
      const [to, from, length] = this.#take(3);
      const target = this.#public(instruction, to, "an address") >>> 0;
      const size = this.#public(instruction, length, "a length") >>> 0;
      if (op === 0xfc0b) machine.fill(target, from!, size);
      else machine.copy(target, this.#public(instruction, from, "an address") >>> 0, size);
    } else this.#unknown(op);
  }

  #access(instruction: Instruction, width: number): void {
    const { op, a, b } = instruction;
    const code = op & 0xff;
    const lanes = op >= 0xfd00;
    const stores = lanes ? code === 11 || (code >= 88 && code <= 91) : op >= 0x36;
    const value = stores || (lanes && code >= 84 && code <= 91) ? this.#pop() : undefined;
    const at = (this.#public(instruction, this.#pop(), "an address") >>> 0) + (a as number);
    if (!stores) this.#stack.push(this.#loaded(op, this.#machine.read(at, width), value));
    else if (lanes && code !== 11 && value instanceof Uint8Array) {
      const from = (b as number) * width;
      this.#machine.put(at, width, value.slice(from, from + width));
    } else this.#machine.put(at, width, value!);
  }

  /** What a load makes of the bytes. */
  #loaded(op: number, bytes: ReturnType<Machine["read"]>, lanes: Value | undefined): Value {
    if (!(bytes instanceof Uint8Array)) return lanes === undefined ? bytes : blend([bytes, lanes]);
    if (op === 0xfd00) return bytes;
    if (op >= 0xfd00) return lanes === SECRET ? SECRET : UNKNOWN;
    const narrow = bytes.length < (op === 0x28 || (op >= 0x2c && op <= 0x2f) ? 4 : 8);
    const number = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    const isSigned = !narrow || [0x2c, 0x2e, 0x30, 0x32, 0x34].includes(op);
    const value = isSigned ? BigInt.asIntN(bytes.length * 8, number) : number;
    return op === 0x28 || (op >= 0x2c && op <= 0x2f) ? Number(BigInt.asIntN(32, value)) : value;
  }

  #unknown(op: number): never {
    throw new Error(`the walker does not know the instruction ${op.toString(16)}`);
  }
}
