// A process that makes and destroys ESP actions. Its parent looks for the keys in its memory.
//
// A key is made from a number, in a buffer of its own that is overwritten after use, so that the
// package holds the only copies. Each line of input runs the step of that name.
import { createInterface } from "node:readline";

const dist = new URL("../../../../dist/", import.meta.url);
const { createDevice } = await import(new URL("index.js", dist).href);
const v = await import(new URL("verbs.js", dist).href);
const dv = await import(new URL("mlx5dv.js", dist).href);

/**
 * Runs `use` with the bytes of key `n`, then overwrites them. V8 keeps them in its heap, as it does
 * for any small array, as long as nobody asks for their buffer.
 */
function withKey(n, length, use) {
  const key = new Uint8Array(length);
  for (let i = 0; i < length; i++) key[i] = (n * 31 + i * 101 + ((i * i * 7) >> 1)) & 0xff;
  try {
    return use(key);
  } finally {
    key.fill(0);
  }
}

const esp = (aes_key) => ({
  esp_attr: { flags: 0 },
  keymat_ptr: { salt: new Uint8Array(4), icv_len: 16, aes_key },
});

/** The C bytes of a keymat, also in the heap. */
function keymatBytes(key) {
  const bytes = new Uint8Array(56);
  [bytes[16], bytes[20]] = [16, key.length];
  bytes.set(key, 24);
  return bytes;
}

/** An action with its keymat as C bytes. */
function espBytes(key) {
  const bytes = new Uint8Array(new ArrayBuffer(56 + 56 + 24));
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, 112n, true);
  view.setUint16(12, 56, true);
  view.setBigUint64(16, 56n, true);
  view.setUint32(56 + 16, 16, true);
  view.setUint32(56 + 20, key.length, true);
  bytes.set(key, 56 + 24);
  return bytes;
}

function expectRefused(call) {
  try {
    call();
  } catch {
    return;
  }
  throw new Error("accepted");
}

/** Makes V8 move what it can, so that copies stay where objects were. */
function collect() {
  if (globalThis.gc === undefined) return;
  for (let round = 0; round < 5; round++) {
    Array.from({ length: 50_000 }, (_, i) => ({ i, text: String(i) }));
    globalThis.gc();
    globalThis.gc({ type: "minor" });
  }
}

const device = await createDevice();
const context = v.ibv_open_device(device);
const actions = [];
const steps = {
  create() {
    for (let n = 0; n < 8; n++) {
      withKey(n, n % 2 === 0 ? 16 : 32, (key) => actions.push(v.ibv_create_flow_action_esp(context, esp(key))));
    }
    withKey(8, 32, (key) => {
      const bytes = espBytes(key);
      actions.push(v.ibv_create_flow_action_esp(context, bytes));
      bytes.fill(0);
    });
    withKey(20, 16, (key) => {
      const bytes = keymatBytes(key);
      actions.push(v.ibv_create_flow_action_esp(context, { ...esp(key), keymat_ptr: bytes }));
      bytes.fill(0);
    });
    withKey(9, 24, (key) => actions.push(dv.mlx5dv_create_flow_action_esp(context, esp(key), { comp_mask: 0n })));
    collect();
  },
  use() {
    // Another key each; the old ones are overwritten.
    actions.forEach((action, i) => withKey(21 + i, 16, (key) => v.ibv_modify_flow_action_esp(action, esp(key))));
    // Refused calls.
    withKey(40, 16, (key) => {
      const refused = { ...esp(key), comp_mask: 0x80 };
      expectRefused(() => v.ibv_create_flow_action_esp(context, refused));
      expectRefused(() => v.ibv_modify_flow_action_esp(actions[0], refused));
    });
    collect();
  },
  destroy() {
    for (const action of actions.splice(0)) v.ibv_destroy_flow_action(action);
    collect();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  steps[line]();
  console.log(`done ${line}`);
}
