/** Every key of connected queues and messages. */

export const CONNECTED = [
  { name: "asker", type: "rc", peer: "server", path_mtu: 256, buffers: 1, bufferSize: 4 },
  { name: "server", type: "rc", peer: "asker", buffers: 1 },
];

export const MESSAGES = [
  { name: "question", description: "with immediate data", queue: "asker", hex: "01 02:03", imm_data: 7 },
  { queue: "server", base64: "BAUGBwg=" },
];

export const EXPECTED_MESSAGES = [
  { message: "question", status: "success", received: { status: "success", hex: "010203", imm_data: 7 } },
  { message: 2, status: "rem_inv_req_err", received: { status: "loc_len_err", hex: "", imm_data: null } },
];
