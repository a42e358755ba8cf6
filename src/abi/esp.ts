/**
 * What host and core share of ESP flow actions (docs/esp.md). Read by both compilers: numeric constants only, no imports.
 *
 * An association is the operand of Op.esp, made by `createRecord`. The host writes it when the action is made or modified, the core
 * counts in it:
 *
 *     0       4        8     12    16       24   32        40           48     52    53   54   56       60     64
 *     | flags | cipher | SPI | TFC | number | IV | packets | hard limit | salt | ICV | UP | 0  | window | size | words |
 *
 *     68      72            74            76        77    78        79    80
 *     | bytes | IP header 2 | UDP header 2 | version | DF  | traffic | ETH | headers ... 160 |
 *
 * Numbers are little-endian as all of memory is; `salt` and `headers` are as on the wire. `number` and `IV` are 64 bits: encrypting,
 * the next ones; decrypting, `number` is the highest that was authenticated (before the first: the lowest that is welcome);
 * inline, its upper half is the ESN. `UP` says what is used up. `window` is the address of `words` + 1 words of 64 bits, a ring in
 * which number n is bit n mod 64 of word (n / 64) & `words`; `size` is the window's size, 0 without replay protection.
 */
export const ESP_FLAGS = 0;
export const ESP_CIPHER = 4;
export const ESP_SPI = 8;
export const ESP_TFC = 12;
export const ESP_NUMBER = 16;
export const ESP_IV = 24;
export const ESP_PACKETS = 32;
/** 0 for none. */
export const ESP_HARD_LIMIT = 40;
export const ESP_SALT = 48;
export const ESP_ICV = 52;
export const ESP_UP = 53;
export const ESP_WINDOW = 56;
export const ESP_WINDOW_SIZE = 60;
export const ESP_WINDOW_WORDS = 64;
/** The headers that are put in front, and removed: bytes, and where IP and UDP begin in them; UDP 0: there is none. */
export const ESP_BYTES = 68;
export const ESP_IP = 72;
export const ESP_UDP = 74;
/** 4 or 6; 0 where there is no IP header: transport mode. */
export const ESP_VERSION = 76;
/** 1: DF is that of the packet inside. */
export const ESP_DF = 77;
/** 1: DSCP is that of the packet inside. */
export const ESP_TRAFFIC = 78;
/** 1: the headers begin with Ethernet, which takes the place of the frame's own. */
export const ESP_ETH = 79;
export const ESP_HEADERS = 80;
export const ESP_SIZE = 160;

/** Flags: those of the page (`enum ib_uverbs_flow_action_esp_flags`), then ours. */
export const ESP_FULL_OFFLOAD = 1;
export const ESP_TRANSPORT = 2;
export const ESP_ENCRYPT = 4;
export const ESP_NEW_WINDOW = 8;
export const ESP_ESN = 16;
/** Frames carry the metadata element (MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA). */
export const ESP_METADATA = 32;

/** Used up. */
export const ESP_UP_NUMBERS = 1;
export const ESP_UP_IVS = 2;

/** What an inline decryption says in the completion (`ibv_wc_read_vendor_err`). */
export const ESP_GOOD = 0;
export const ESP_BAD_ICV = 1;
export const ESP_BAD_TRAILER = 2;

/** The metadata element behind the MAC addresses: EtherType, then | syndrome 1 | content 5 |. */
export const ESP_METADATA_SIZE = 8;
/** Content: | 0 4 | next header 1 |; of a frame to be encrypted. */
export const ESP_TO_ENCRYPT = 0x08;
/** Content: | next header 1 | SPI 4 |; of a frame that was decrypted. */
export const ESP_DECRYPTED = 0x11;
export const ESP_AUTH_FAILED = 0x12;
export const ESP_BAD_PROTOCOL = 0x17;
