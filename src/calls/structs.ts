/**
 * The structs that calls take and fill, with the member names of infiniband/verbs.h and mlx5dv.h. `notation.ts` explains how
 * members are written; their offsets are the compiler's business, because generated C reads and writes them by name.
 */
export const STRUCTS = `
ibv_device_attr { text fw_ver[64]; be64 node_guid; be64 sys_image_guid; u64 max_mr_size; u64 page_size_cap;
  u32 vendor_id; u32 vendor_part_id; u32 hw_ver; i32 max_qp; i32 max_qp_wr; u32 device_cap_flags; i32 max_sge;
  i32 max_sge_rd; i32 max_cq; i32 max_cqe; i32 max_mr; i32 max_pd; i32 max_qp_rd_atom; i32 max_ee_rd_atom;
  i32 max_res_rd_atom; i32 max_qp_init_rd_atom; i32 max_ee_init_rd_atom; u32 atomic_cap; i32 max_ee; i32 max_rdd;
  i32 max_mw; i32 max_raw_ipv6_qp; i32 max_raw_ethy_qp; i32 max_mcast_grp; i32 max_mcast_qp_attach;
  i32 max_total_mcast_qp_attach; i32 max_ah; i32 max_fmr; i32 max_map_per_fmr; i32 max_srq; i32 max_srq_wr;
  i32 max_srq_sge; u16 max_pkeys; u8 local_ca_ack_delay; u8 phys_port_cnt }
ibv_odp_caps.per_transport_caps { u32 rc_odp_caps; u32 uc_odp_caps; u32 ud_odp_caps }
ibv_odp_caps { u64 general_caps; ibv_odp_caps.per_transport_caps per_transport_caps }
ibv_tso_caps { u32 max_tso; u32 supported_qpts }
ibv_rss_caps { u32 supported_qpts; u32 max_rwq_indirection_tables; u32 max_rwq_indirection_table_size;
  u64 rx_hash_fields_mask; u8 rx_hash_function }
ibv_packet_pacing_caps { u32 qp_rate_limit_min; u32 qp_rate_limit_max; u32 supported_qpts }
ibv_tm_caps { u32 max_rndv_hdr_size; u32 max_num_tags; u32 flags; u32 max_ops; u32 max_sge }
ibv_cq_moderation_caps { u16 max_cq_count; u16 max_cq_period }
ibv_pci_atomic_caps { u16 fetch_add; u16 swap; u16 compare_swap }
ibv_device_attr_ex { ibv_device_attr orig_attr; u32 comp_mask; ibv_odp_caps odp_caps; u64 completion_timestamp_mask;
  u64 hca_core_clock; u64 device_cap_flags_ex; ibv_tso_caps tso_caps; ibv_rss_caps rss_caps; u32 max_wq_type_rq;
  ibv_packet_pacing_caps packet_pacing_caps; u32 raw_packet_caps; ibv_tm_caps tm_caps;
  ibv_cq_moderation_caps cq_mod_caps; u64 max_dm_size; ibv_pci_atomic_caps pci_atomic_caps; u32 xrc_odp_caps;
  u32 phys_port_cnt_ex }
ibv_port_attr { u32 state; u32 max_mtu; u32 active_mtu; i32 gid_tbl_len; u32 port_cap_flags; u32 max_msg_sz;
  u32 bad_pkey_cntr; u32 qkey_viol_cntr; u16 pkey_tbl_len; u16 lid; u16 sm_lid; u8 lmc; u8 max_vl_num; u8 sm_sl;
  u8 subnet_timeout; u8 init_type_reply; u8 active_width; u8 active_speed; u8 phys_state; u8 link_layer; u8 flags;
  u16 port_cap_flags2 }
gid { bytes raw[16] }
gid_entry { gid gid; u32 gid_index; u32 port_num; u32 gid_type; u32 ndev_ifindex }
ibv_qp_cap { u32 max_send_wr; u32 max_recv_wr; u32 max_send_sge; u32 max_recv_sge; u32 max_inline_data }
ibv_qp_init_attr { ibv_cq *send_cq; ibv_cq *recv_cq; ibv_srq *srq; ibv_qp_cap cap; u32 qp_type; i32 sq_sig_all }
ibv_rx_hash_conf { u8 rx_hash_function; u8 rx_hash_key_len; bytes rx_hash_key[rx_hash_key_len]; u64 rx_hash_fields_mask }
ibv_qp_init_attr_ex { ibv_cq *send_cq; ibv_cq *recv_cq; ibv_srq *srq; ibv_qp_cap cap; u32 qp_type; i32 sq_sig_all;
  u32 comp_mask; comp_mask & 1 ? ibv_pd *pd; comp_mask & 4 ? u32 create_flags; comp_mask & 8 ? u16 max_tso_header;
  comp_mask & 16 ? ibv_rwq_ind_table *rwq_ind_tbl; comp_mask & 32 ? ibv_rx_hash_conf rx_hash_conf;
  comp_mask & 64 ? u64 send_ops_flags }
ibv_global_route { gid dgid; u32 flow_label; u8 sgid_index; u8 hop_limit; u8 traffic_class }
ibv_ah_attr { ibv_global_route grh; u16 dlid; u8 sl; u8 src_path_bits; u8 static_rate; u8 is_global; u8 port_num }
ibv_qp_attr { u32 qp_state; u32 cur_qp_state; u32 path_mtu; u32 path_mig_state; u32 qkey; u32 rq_psn; u32 sq_psn;
  u32 dest_qp_num; u32 qp_access_flags; ibv_qp_cap cap; ibv_ah_attr ah_attr; ibv_ah_attr alt_ah_attr; u16 pkey_index;
  u16 alt_pkey_index; u8 en_sqd_async_notify; u8 sq_draining; u8 max_rd_atomic; u8 max_dest_rd_atomic; u8 min_rnr_timer;
  u8 port_num; u8 timeout; u8 retry_cnt; u8 rnr_retry; u8 alt_port_num; u8 alt_timeout; u32 rate_limit }
ibv_srq_attr { u32 max_wr; u32 max_sge; u32 srq_limit }
ibv_srq_init_attr { ibv_srq_attr attr }
ibv_srq_init_attr_ex { ibv_srq_attr attr; u32 comp_mask; comp_mask & 1 ? u32 srq_type; comp_mask & 2 ? ibv_pd *pd }
ibv_moderate_cq { u16 cq_count; u16 cq_period }
ibv_modify_cq_attr { u32 attr_mask; ibv_moderate_cq moderate }
ibv_cq_init_attr_ex { u32 cqe; ibv_comp_channel *channel; u32 comp_vector; u64 wc_flags; u32 comp_mask;
  comp_mask & 1 ? u32 flags }
ibv_wq_init_attr { u32 wq_type; u32 max_wr; u32 max_sge; ibv_pd *pd; ibv_cq *cq; u32 comp_mask;
  comp_mask & 1 ? u32 create_flags }
ibv_wq_attr { u32 attr_mask; u32 wq_state; u32 curr_wq_state; u32 flags; u32 flags_mask }
ibv_rwq_ind_table_init_attr { u32 log_ind_tbl_size; ibv_wq *ind_tbl[1 << log_ind_tbl_size]; u32 comp_mask }
ibv_counters_init_attr { u32 comp_mask }
ibv_counter_attach_attr { u32 counter_desc; u32 index; u32 comp_mask }
ibv_query_device_ex_input { u32 comp_mask }
timespec { i64 tv_sec; i64 tv_nsec }
ibv_values_ex { u32 comp_mask; comp_mask & 1 ? timespec raw_clock }
mlx5dv_context_attr { u32 flags; u64 comp_mask }
mlx5dv_cqe_comp_caps { u32 max_num; u32 supported_format }
mlx5dv_sw_parsing_caps { u32 sw_parsing_offloads; u32 supported_qpts }
mlx5dv_striding_rq_caps { u32 min_single_stride_log_num_of_bytes; u32 max_single_stride_log_num_of_bytes;
  u32 min_single_wqe_log_num_of_strides; u32 max_single_wqe_log_num_of_strides; u32 supported_qpts }
mlx5dv_context { u8 version; u64 flags; u64 comp_mask; comp_mask & 1 ? mlx5dv_cqe_comp_caps cqe_comp_caps;
  comp_mask & 2 ? mlx5dv_sw_parsing_caps sw_parsing_caps; comp_mask & 4 ? mlx5dv_striding_rq_caps striding_rq_caps;
  comp_mask & 8 ? u32 tunnel_offloads_caps; comp_mask & 16 ? u32 max_dynamic_bfregs;
  comp_mask & 64 ? u32 flow_action_flags; comp_mask & 128 ? u32 dc_odp_caps }
port.reg_c0 { u32 value; u32 mask }
port { u64 flags; u16 vport; u16 vport_vhca_id; u16 esw_owner_vhca_id; u64 vport_steering_icm_rx;
  u64 vport_steering_icm_tx; port.reg_c0 reg_c0 }
mlx5dv_flow_match_parameters { size match_sz; bytes match_buf[match_sz] }
mlx5dv_flow_matcher_attr { u32 type; u32 flags; u16 priority; u8 match_criteria_enable;
  mlx5dv_flow_match_parameters *match_mask; u64 comp_mask; comp_mask & 1 ? u32 ft_type }
mlx5dv_flow_action_attr { u32 type; type == 0 ? ibv_qp *qp; type == 2 ? ibv_counters *counter;
  type == 3 ? ibv_flow_action *action; type == 4 ? u32 tag_value; type == 5 ? mlx5dv_devx_obj *obj;
  type == 6 ? mlx5dv_devx_obj *obj }
ibv_flow_action_esp { u32 spi; u32 seq; u32 tfc_pad; u32 flags; u64 hard_limit_pkts }
ibv_flow_action_esp_encap { pointer val_ptr[len] as val; u32 type; u16 len }
ibv_flow_action_esp_attr { ibv_flow_action_esp *esp_attr; u32 keymat_proto; u16 keymat_len; pointer keymat_ptr[keymat_len];
  u32 replay_proto; u16 replay_len; pointer replay_ptr[replay_len]; ibv_flow_action_esp_encap *esp_encap; u32 comp_mask;
  u32 esn }
mlx5dv_flow_action_esp { u64 comp_mask; comp_mask & 1 ? u32 action_flags }
mlx5dv_steering_anchor_attr { u32 ft_type; u16 priority; u64 comp_mask }
mlx5dv_dr_matcher_layout { u32 flags; u32 log_num_of_rules_hint }
mlx5dv_dr_flow_meter_attr { mlx5dv_dr_table *next_table; u8 active; u8 reg_c_index; size flow_meter_parameter_sz;
  pointer flow_meter_parameter[flow_meter_parameter_sz] }
mlx5dv_dr_flow_sampler_attr { u32 sample_ratio; mlx5dv_dr_table *default_next_table; u32 num_sample_actions;
  mlx5dv_dr_action *sample_actions[num_sample_actions]; be64 action }
mlx5dv_dr_action_dest_reformat { mlx5dv_dr_action *reformat; mlx5dv_dr_action *dest }
mlx5dv_dr_action_dest_attr { u32 type; type == 0 ? mlx5dv_dr_action *dest;
  type == 1 ? mlx5dv_dr_action_dest_reformat *dest_reformat }
mlx5dv_qp_init_attr { u64 comp_mask; comp_mask & 1 ? u32 create_flags; comp_mask & 4 ? u64 send_ops_flags }
mlx5dv_cq_init_attr { u64 comp_mask; comp_mask & 1 ? u8 cqe_comp_res_format; comp_mask & 2 ? u32 flags;
  comp_mask & 4 ? u16 cqe_size }
`;
