/**
 * The numbers of infiniband/mlx5dv.h that the model does not use: programs name them, and `flowsteer/mlx5dv`
 * exports them. mlx5dv.ts and the files of src/mlx5dv have the others.
 */
export const MLX5_RCV_DBR = 0;
export const MLX5_SND_DBR = 1;

/** enum mlx5dv_sig_type */
export const MLX5DV_SIG_TYPE_T10DIF = 0;
export const MLX5DV_SIG_TYPE_CRC = 1;

/** enum mlx5dv_sig_prot_caps */
export const MLX5DV_SIG_PROT_CAP_T10DIF = 1;
export const MLX5DV_SIG_PROT_CAP_CRC = 2;

/** enum mlx5dv_sig_t10dif_bg_type */
export const MLX5DV_SIG_T10DIF_CRC = 0;
export const MLX5DV_SIG_T10DIF_CSUM = 1;

/** enum mlx5dv_sig_t10dif_bg_caps */
export const MLX5DV_SIG_T10DIF_BG_CAP_CRC = 1;
export const MLX5DV_SIG_T10DIF_BG_CAP_CSUM = 2;

/** enum mlx5dv_sig_crc_type */
export const MLX5DV_SIG_CRC_TYPE_CRC32 = 0;
export const MLX5DV_SIG_CRC_TYPE_CRC32C = 1;
export const MLX5DV_SIG_CRC_TYPE_CRC64_XP10 = 2;

/** enum mlx5dv_sig_crc_type_caps */
export const MLX5DV_SIG_CRC_TYPE_CAP_CRC32 = 1;
export const MLX5DV_SIG_CRC_TYPE_CAP_CRC32C = 2;
export const MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10 = 4;

/** enum mlx5dv_block_size */
export const MLX5DV_BLOCK_SIZE_512 = 0;
export const MLX5DV_BLOCK_SIZE_520 = 1;
export const MLX5DV_BLOCK_SIZE_4048 = 2;
export const MLX5DV_BLOCK_SIZE_4096 = 3;
export const MLX5DV_BLOCK_SIZE_4160 = 4;

/** enum mlx5dv_block_size_caps */
export const MLX5DV_BLOCK_SIZE_CAP_512 = 1;
export const MLX5DV_BLOCK_SIZE_CAP_520 = 2;
export const MLX5DV_BLOCK_SIZE_CAP_4048 = 4;
export const MLX5DV_BLOCK_SIZE_CAP_4096 = 8;
export const MLX5DV_BLOCK_SIZE_CAP_4160 = 16;

/** enum mlx5dv_crypto_engines_caps */
export const MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS = 1;
export const MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK = 2;
export const MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK = 4;

/** enum mlx5dv_crypto_wrapped_import_method_caps */
export const MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS = 1;

/** enum mlx5dv_crypto_caps_flags */
export const MLX5DV_CRYPTO_CAPS_CRYPTO = 1;
export const MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL = 2;
export const MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_GOING_TO_COMMISSIONING = 4;

/** enum mlx5dv_cq_init_attr_flags */
export const MLX5DV_CQ_INIT_ATTR_FLAGS_RESERVED = 2;

/** enum mlx5dv_mkey_init_attr_flags */
export const MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT = 1;
export const MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE = 2;
export const MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO = 4;
export const MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG = 8;
export const MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE = 16;

/** enum mlx5dv_qp_create_send_ops_flags */
export const MLX5DV_QP_EX_WITH_MR_INTERLEAVED = 1;
export const MLX5DV_QP_EX_WITH_MR_LIST = 2;
export const MLX5DV_QP_EX_WITH_MKEY_CONFIGURE = 4;
export const MLX5DV_QP_EX_WITH_RAW_WQE = 8;
export const MLX5DV_QP_EX_WITH_MEMCPY = 16;

/** enum mlx5dv_sig_t10dif_flags */
export const MLX5DV_SIG_T10DIF_FLAG_REF_REMAP = 1;
export const MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE = 2;
export const MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE = 4;

/** enum mlx5dv_sig_mask */
export const MLX5DV_SIG_MASK_T10DIF_GUARD = 192;
export const MLX5DV_SIG_MASK_T10DIF_APPTAG = 48;
export const MLX5DV_SIG_MASK_T10DIF_REFTAG = 15;
export const MLX5DV_SIG_MASK_CRC32 = 240;
export const MLX5DV_SIG_MASK_CRC32C = 240;
export const MLX5DV_SIG_MASK_CRC64_XP10 = 255;

/** enum mlx5dv_sig_block_attr_flags */
export const MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK = 1;

/** enum mlx5dv_crypto_standard */
export const MLX5DV_CRYPTO_STANDARD_AES_XTS = 0;

/** enum mlx5dv_signature_crypto_order */
export const MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_AFTER_CRYPTO_ON_TX = 0;
export const MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX = 1;

/** enum mlx5dv_mkey_conf_flags */
export const MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR = 1;

/** enum mlx5dv_wc_opcode */
export const MLX5DV_WC_UMR = 135;
export const MLX5DV_WC_RAW_WQE = 136;
export const MLX5DV_WC_MEMCPY = 137;

/** enum mlx5dv_mkey_err_type */
export const MLX5DV_MKEY_NO_ERR = 0;
export const MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD = 1;
export const MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG = 2;
export const MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG = 3;

/** enum mlx5dv_crypto_login_state */
export const MLX5DV_CRYPTO_LOGIN_STATE_VALID = 0;
export const MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN = 1;
export const MLX5DV_CRYPTO_LOGIN_STATE_INVALID = 2;

/** enum mlx5dv_crypto_key_size */
export const MLX5DV_CRYPTO_KEY_SIZE_128 = 0;
export const MLX5DV_CRYPTO_KEY_SIZE_256 = 1;

/** enum mlx5dv_crypto_key_purpose */
export const MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS = 0;

/** enum mlx5dv_dek_state */
export const MLX5DV_DEK_STATE_READY = 0;
export const MLX5DV_DEK_STATE_ERROR = 1;

/** enum mlx5dv_dek_init_attr_mask */
export const MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN = 1;

/** enum mlx5dv_qp_comp_mask */
export const MLX5DV_QP_MASK_UAR_MMAP_OFFSET = 1;
export const MLX5DV_QP_MASK_RAW_QP_HANDLES = 2;
export const MLX5DV_QP_MASK_RAW_QP_TIR_ADDR = 4;

/** enum mlx5dv_srq_comp_mask */
export const MLX5DV_SRQ_MASK_SRQN = 1;

/** enum mlx5dv_dm_comp_mask */
export const MLX5DV_DM_MASK_REMOTE_VA = 1;

/** enum mlx5dv_obj_type */
export const MLX5DV_OBJ_QP = 1;
export const MLX5DV_OBJ_CQ = 2;
export const MLX5DV_OBJ_SRQ = 4;
export const MLX5DV_OBJ_RWQ = 8;
export const MLX5DV_OBJ_DM = 16;
export const MLX5DV_OBJ_AH = 32;
export const MLX5DV_OBJ_PD = 64;
export const MLX5DV_OBJ_DEVX = 128;

export const MLX5_OPCODE_NOP = 0;
export const MLX5_OPCODE_SEND_INVAL = 1;
export const MLX5_OPCODE_RDMA_WRITE = 8;
export const MLX5_OPCODE_RDMA_WRITE_IMM = 9;
export const MLX5_OPCODE_SEND = 10;
export const MLX5_OPCODE_SEND_IMM = 11;
export const MLX5_OPCODE_TSO = 14;
export const MLX5_OPCODE_RDMA_READ = 16;
export const MLX5_OPCODE_ATOMIC_CS = 17;
export const MLX5_OPCODE_ATOMIC_FA = 18;
export const MLX5_OPCODE_ATOMIC_MASKED_CS = 20;
export const MLX5_OPCODE_ATOMIC_MASKED_FA = 21;
export const MLX5_OPCODE_FMR = 25;
export const MLX5_OPCODE_LOCAL_INVAL = 27;
export const MLX5_OPCODE_CONFIG_CMD = 31;
export const MLX5_OPCODE_SET_PSV = 32;
export const MLX5_OPCODE_UMR = 37;
export const MLX5_OPCODE_TAG_MATCHING = 40;
export const MLX5_OPCODE_FLOW_TBL_ACCESS = 44;
export const MLX5_OPCODE_MMO = 47;

export const MLX5_INLINE_SCATTER_32 = 4;
export const MLX5_INLINE_SCATTER_64 = 8;

export const MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR = 1;
export const MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR = 2;
export const MLX5_CQE_SYNDROME_LOCAL_PROT_ERR = 4;
export const MLX5_CQE_SYNDROME_WR_FLUSH_ERR = 5;
export const MLX5_CQE_SYNDROME_MW_BIND_ERR = 6;
export const MLX5_CQE_SYNDROME_BAD_RESP_ERR = 16;
export const MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR = 17;
export const MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR = 18;
export const MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR = 19;
export const MLX5_CQE_SYNDROME_REMOTE_OP_ERR = 20;
export const MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR = 21;
export const MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR = 22;
export const MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR = 34;

export const MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT = 147;

export const MLX5_CQE_L2_OK = 1;
export const MLX5_CQE_L3_OK = 2;
export const MLX5_CQE_L4_OK = 4;

export const MLX5_CQE_L3_HDR_TYPE_NONE = 0;
export const MLX5_CQE_L3_HDR_TYPE_IPV6 = 1;
export const MLX5_CQE_L3_HDR_TYPE_IPV4 = 2;

export const MLX5_CQE_OWNER_MASK = 1;
export const MLX5_CQE_REQ = 0;
export const MLX5_CQE_RESP_WR_IMM = 1;
export const MLX5_CQE_RESP_SEND = 2;
export const MLX5_CQE_RESP_SEND_IMM = 3;
export const MLX5_CQE_RESP_SEND_INV = 4;
export const MLX5_CQE_RESIZE_CQ = 5;
export const MLX5_CQE_NO_PACKET = 6;
export const MLX5_CQE_SIG_ERR = 12;
export const MLX5_CQE_REQ_ERR = 13;
export const MLX5_CQE_RESP_ERR = 14;
export const MLX5_CQE_INVALID = 15;

export const MLX5_CQ_DOORBELL = 32;

export const MLX5_CQ_DB_REQ_NOT_SOL = 0x1000000;
export const MLX5_CQ_DB_REQ_NOT = 0;

export const MLX5_TMC_SUCCESS = 0x80000000;

/** enum mlx5dv_sw_parsing_offloads */
export const MLX5DV_SW_PARSING = 1;
export const MLX5DV_SW_PARSING_CSUM = 2;
export const MLX5DV_SW_PARSING_LSO = 4;

export const MLX5_INVALID_LKEY = 256;

export const MLX5_EXTENDED_UD_AV = 0x80000000;

export const MLX5_WQE_CTRL_CQ_UPDATE = 8;
export const MLX5_WQE_CTRL_SOLICITED = 2;
export const MLX5_WQE_CTRL_FENCE = 128;
export const MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE = 32;

export const MLX5_SEND_WQE_BB = 64;
export const MLX5_SEND_WQE_SHIFT = 6;

export const MLX5_INLINE_SEG = 0x80000000;

export const MLX5_ETH_WQE_L3_CSUM = 64;
export const MLX5_ETH_WQE_L4_CSUM = 128;

export const MLX5_WQE_UMR_CTRL_FLAG_INLINE = 128;
export const MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE = 32;
export const MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET = 16;
export const MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN = 8;

export const MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN = 1;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_START_ADDR = 64;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR = 512;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE = 0x1000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY = 0x2000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN = 0x4000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE = 0x40000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ = 0x80000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE = 0x100000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC = 0x200000;
export const MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE = 0x20000000;

export const MLX5_WQE_MKEY_CONTEXT_FREE = 64;

export const MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC = 64;
export const MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE = 32;
export const MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ = 16;
export const MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_LOCAL_WRITE = 8;
export const MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_LOCAL_READ = 4;

/** enum mlx5dv_set_ctx_attr_type */
export const MLX5DV_CTX_ATTR_BUF_ALLOCATORS = 1;

export const MLX5_MMAP_GET_REGULAR_PAGES_CMD = 0;
export const MLX5_MMAP_GET_NC_PAGES_CMD = 3;

/** enum mlx5dv_vfio_context_attr_flags */
export const MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN = 1;

/** enum mlx5dv_devx_umem_in_mask */
export const MLX5DV_UMEM_MASK_DMABUF = 1;

/** enum mlx5dv_sched_elem_attr_flags */
export const MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE = 1;
export const MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW = 2;

/** Macros. */
export const MLX5DV_RES_TYPE_QP = 0x100000001;
export const MLX5DV_RES_TYPE_RWQ = 0x100000002;
export const MLX5DV_RES_TYPE_DBR = 0x100000003;
export const MLX5DV_RES_TYPE_SRQ = 0x100000004;
export const MLX5DV_RES_TYPE_CQ = 0x100000005;
export const MLX5DV_FLOW_ACTION_FLAGS_REQUIRE_METADATA = 1;
export const MLX5DV_DM_TYPE_MEMIC = 0;
export const MLX5DV_DM_TYPE_STEERING_SW_ICM = 1;
export const MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM = 2;
export const MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM = 3;
export const MLX5DV_DM_TYPE_ENCAP_SW_ICM = 4;
export const MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA = 1;
export const MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX = 1;
export const MLX5DV_UAR_ALLOC_TYPE_BF = 0;
export const MLX5DV_UAR_ALLOC_TYPE_NC = 1;
export const MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED = 0x80000000;
export const MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT = 1;
export const MLX5DV_VAR_ALLOC_FLAG_TLP = 1;
