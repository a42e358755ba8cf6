/**
 * The ESP flow actions that host and core share (docs/esp.md). Both compilers read this file:
 * numeric constants only, no imports.
 * An association is the operand of Op.esp; `createRecord` makes it. The host writes it when the
 * action is created or modified, and the core counts in it:
 *
 *     0       4        8     12    16       24   32        40           48     52    53   54   56       60     64
 *     | flags | cipher | SPI | TFC | number | IV | packets | hard limit | salt | ICV | UP | 0  | window | size | words |
 *
 *     68      72            74            76        77    78        79    80
 *     | bytes | IP header 2 | UDP header 2 | version | DF  | traffic | ETH | headers ... 160 |
 * Numbers are little-endian, like all of memory; `salt` and `headers` are as on the wire. `number`
 * and `IV` have 64 bits. For encryption they are the next ones. For decryption `number` is the
 * highest authenticated number (before the first packet: the lowest valid number). For inline
 * crypto its upper half is the ESN. `UP` flags what is used up. `window` is the address of `words`
 * + 1 words of 64 bits: a ring in which number n is bit n mod 64 of word (n / 64) & `words`. `size`
 * is the size of the window, 0 without replay protection.
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
/**
 * The headers that the action prepends or removes: their size, and the offsets of IP and UDP in
 * them. An offset of UDP of 0 means that there is none.
 */
export const ESP_BYTES = 68;
export const ESP_IP = 72;
export const ESP_UDP = 74;
/** 4 or 6; 0 without an IP header: transport mode. */
export const ESP_VERSION = 76;
/** 1: DF comes from the inner packet. */
export const ESP_DF = 77;
/** 1: DSCP comes from the inner packet. */
export const ESP_TRAFFIC = 78;
/** 1: the headers begin with Ethernet, which replaces the Ethernet header of the frame. */
export const ESP_ETH = 79;
export const ESP_HEADERS = 80;
export const ESP_SIZE = 160;

/**
 * Flags: those of the manual page (`enum ib_uverbs_flow_action_esp_flags`), then those of the core.
 */
export const ESP_FULL_OFFLOAD = 1;
export const ESP_TRANSPORT = 2;
export const ESP_ENCRYPT = 4;
export const ESP_NEW_WINDOW = 8;
export const ESP_ESN = 16;
/** Frames carry the metadata element (MLX5_IB_UAPI_FLOW_ACTION_FLAGS_REQUIRE_METADATA). */
export const ESP_METADATA = 32;

/** Flags of `UP`: sequence numbers and IVs are used up. */
export const ESP_UP_NUMBERS = 1;
export const ESP_UP_IVS = 2;

/** The result of an inline decryption in the completion (`ibv_wc_read_vendor_err`). */
export const ESP_GOOD = 0;
export const ESP_BAD_ICV = 1;
export const ESP_BAD_TRAILER = 2;

/** The metadata element after the MAC addresses: EtherType, then | syndrome 1 | content 5 |. */
export const ESP_METADATA_SIZE = 8;
/** Syndrome of a frame to encrypt. Content: | 0 4 | next header 1 |. */
export const ESP_TO_ENCRYPT = 0x08;
/** Syndromes after a decryption. Content: | next header 1 | SPI 4 |. */
export const ESP_DECRYPTED = 0x11;
export const ESP_AUTH_FAILED = 0x12;
export const ESP_BAD_PROTOCOL = 0x17;
