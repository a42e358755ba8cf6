/*
 * Records the rte_flow calls of a running DPDK program as the commands of testpmd that do the same, and the answers that
 * testpmd would print. The program runs as without it.
 *
 *     gcc -Wall -shared -fPIC -o libflowsteer-record-rte.so flowsteer-record-rte.c $(pkg-config --cflags libdpdk) -ldl
 *     FLOWSTEER_RECORD=flows.testpmd LD_PRELOAD=./libflowsteer-record-rte.so ./program
 *     flowsteer import flows.testpmd
 *
 * A program that DPDK is linked into calls no shared library. There, the file is a source of the program, with
 * -DFLOWSTEER_WRAP, and the linker gets an option for each call:
 *
 *     sed -n 's|.*RECORDED(\(rte_[a-z_]*\)).*|-Wl,--wrap=\1|p' flowsteer-record-rte.c
 *
 * What testpmd has no word for is written by its name in C, which flowsteer import refuses at its line: a rule is never
 * recorded as one that asks for less. DPDK 22.11 and later.
 */
#define _GNU_SOURCE
#define ALLOW_EXPERIMENTAL_API
#define RECORD_FILE "flowsteer-record.testpmd"
#define RECORD_FIRST "# recorded by flowsteer-record-rte: process %d\n"
#include <rte_mtr.h>
#include "flowsteer-record.h"
#include "flowsteer-record-rte.h"

#ifdef FLOWSTEER_WRAP
#define RECORDED(name) __wrap_##name
#define NEXT(name)                                     \
	({                                             \
		extern __typeof__(name) __real_##name; \
		&__real_##name;                        \
	})
#define ERRNO() rte_errno
#else
#define RECORDED(name) name
#define NEXT(name) ((__typeof__(&name))next(#name))
static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found) {
		fprintf(stderr, "flowsteer-record: %s is in no library of the program\n", name);
		abort();
	}
	return found;
}

/* A variable of a thread would be looked up as the library is loaded, and children that have no DPDK would not start. */
static int ERRNO(void)
{
	const int *error = dlsym(RTLD_DEFAULT, "per_lcore__rte_errno");

	return error ? *error : 0;
}
#endif

/* Writes a command with its settings and the answer to it. */
__attribute__((format(printf, 2, 3))) static void answered(struct command *command, const char *format, ...)
{
	struct line line = { 0 };
	char answer[512] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(answer, sizeof answer, format, args);
	va_end(args);
	add(&line, "%s%s\n%s", command->before.text ? command->before.text : "", command->line.text ? command->line.text : "",
	    answer);
	line.failed |= command->before.failed | command->line.failed;
	free(command->before.text);
	free(command->line.text);
	put(&line);
}

static void failed(struct command *command, const struct rte_flow_error *error, int status)
{
	answered(command, "port_flow_complain(): Caught PMD error type %d: %s: %s\n", error ? (int)error->type : 0,
		 error && error->message ? error->message : "(no stated reason)", strerror(status < 0 ? -status : status));
}

/* Errors of calls without a place for them are wanted, too. */
#define ERROR(error) struct rte_flow_error own = { 0 }, *told = (error) ? (error) : &own

static void direction(struct line *line, bool ingress, bool egress, bool transfer)
{
	add(line, "%s%s%s", ingress ? "ingress " : "", egress ? "egress " : "", transfer ? "transfer " : "");
}

/*
 * The calls.
 */
#define BEGIN(command) struct command command = { 0 }

static void rule(struct command *command, const struct rte_flow_item *items, enum parts parts,
		 const struct rte_flow_action *list)
{
	struct line *line = &command->line;

	add(line, "pattern ");
	pattern(line, items, parts);
	add(line, "end actions ");
	actions(command, line, list);
	add(line, "end");
}

static void place(struct line *line, const struct rte_flow_attr *attr)
{
	add(line, "group %u priority %u ", attr->group, attr->priority);
	direction(line, attr->ingress, attr->egress, attr->transfer);
}

/* Numbers a rule that was made. */
static void new_rule(struct command *command, uint16_t port, const struct rte_flow *flow, const char *what)
{
	uint32_t number = number_of_new(RULES, port);

	keep(RULES, (struct object){ .address = flow, .number = number });
	answered(command, "Flow rule #%u %s\n", number, what);
}

/* Ends the command that destroys a rule, which is kept where that failed. */
static int old_rule(struct command *command, struct object rule, const struct rte_flow_error *error, int status,
		    const char *what)
{
	if (status) {
		keep(RULES, rule);
		failed(command, error, status);
	} else
		answered(command, "Flow rule #%u %s\n", rule.number, what);
	return status;
}

struct rte_flow *RECORDED(rte_flow_create)(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item items[],
					   const struct rte_flow_action list[], struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	struct rte_flow *flow;

	add(&command.line, "flow create %u ", port);
	place(&command.line, attr);
	rule(&command, items, RULE, list);
	flow = NEXT(rte_flow_create)(port, attr, items, list, told);
	if (!flow) {
		failed(&command, told, ERRNO());
		return NULL;
	}
	new_rule(&command, port, flow, "created");
	return flow;
}

int RECORDED(rte_flow_destroy)(uint16_t port, struct rte_flow *flow, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	/* The address may be that of another rule as soon as the call has returned. */
	struct object known = object_at(RULES, flow, true);
	int status = NEXT(rte_flow_destroy)(port, flow, told);

	add(&command.line, "flow destroy %u rule %u", port, known.number);
	return old_rule(&command, known, told, status, "destroyed");
}

/* Ends a command of a call that returns 0 or a negative errno. */
static int done(struct command *command, const struct rte_flow_error *error, int status)
{
	if (status)
		failed(command, error, status);
	else
		answered(command, "%s", "");
	return status;
}

int RECORDED(rte_flow_flush)(uint16_t port, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);

	add(&command.line, "flow flush %u", port);
	return done(&command, told, NEXT(rte_flow_flush)(port, told));
}

int RECORDED(rte_flow_isolate)(uint16_t port, int set, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);

	add(&command.line, "flow isolate %u %s", port, set ? "on" : "off");
	return done(&command, told, NEXT(rte_flow_isolate)(port, set, told));
}

#if SINCE(23, 7)
int RECORDED(rte_flow_actions_update)(uint16_t port, struct rte_flow *flow, const struct rte_flow_action list[],
				      struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);

	add(&command.line, "flow update %u %u actions ", port, object_at(RULES, flow, false).number);
	actions(&command, &command.line, list);
	add(&command.line, "end");
	return done(&command, told, NEXT(rte_flow_actions_update)(port, flow, list, told));
}
#endif

/* Indirect actions. */
static void connection_side(struct line *line, const char *name, const struct rte_flow_tcp_dir_param *side)
{
	add(line, "set conntrack %s scale %u fin %u acked %u unack_data %u sent_end %u reply_end %u max_win %u max_ack %u\n",
	    name, side->scale, side->close_initiated, side->last_ack_seen, side->data_unacked, side->sent_end, side->reply_end,
	    side->max_win, side->max_ack);
}

static void connection(struct line *line, const struct rte_flow_action_conntrack *conf)
{
	add(line, "set conntrack com peer %u is_orig %u enable %u live %u sack %u cack %u last_dir %u liberal %u state %d ",
	    conf->peer_port, conf->is_original_dir, conf->enable, conf->live_connection, conf->selective_ack,
	    conf->challenge_ack_passed, conf->last_direction, conf->liberal_mode, (int)conf->state);
	add(line, "max_ack_win %u r_lim %u last_win %u last_seq %u last_ack %u last_end %u last_index %d\n",
	    conf->max_ack_window, conf->retransmission_limit, conf->last_window, conf->last_seq, conf->last_ack, conf->last_end,
	    (int)conf->last_index);
	connection_side(line, "orig", &conf->original_dir);
	connection_side(line, "rply", &conf->reply_dir);
}

struct rte_flow_action_handle *RECORDED(rte_flow_action_handle_create)(uint16_t port,
								       const struct rte_flow_indir_action_conf *conf,
								       const struct rte_flow_action *one,
								       struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	uint32_t number = number_of_new(INDIRECT, port);
	struct rte_flow_action_handle *handle;

	if (one->type == RTE_FLOW_ACTION_TYPE_CONNTRACK && one->conf)
		connection(&command.before, one->conf);
	add(&command.line, "flow indirect_action %u create action_id %u ", port, number);
	direction(&command.line, conf->ingress, conf->egress, conf->transfer);
	add(&command.line, "action ");
	action(&command, &command.line, one);
	add(&command.line, " / end");
	handle = NEXT(rte_flow_action_handle_create)(port, conf, one, told);
	if (!handle) {
		failed(&command, told, ERRNO());
		return NULL;
	}
	keep(INDIRECT, (struct object){ .address = handle, .number = number, .type = one->type });
	answered(&command, "%s", "");
	return handle;
}

int RECORDED(rte_flow_action_handle_update)(uint16_t port, struct rte_flow_action_handle *handle, const void *update,
					    struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	struct object known = object_at(INDIRECT, handle, false);
	struct line *line = &command.line;

	if (known.type == RTE_FLOW_ACTION_TYPE_CONNTRACK) {
		const struct rte_flow_modify_conntrack *conf = update;

		connection(&command.before, &conf->new_ct);
		add(line, "flow indirect_action %u update %u action conntrack_update%s%s", port, known.number,
		    conf->direction ? " dir" : "", conf->state ? " ctx" : "");
	} else {
		add(line, "flow indirect_action %u update %u action ", port, known.number);
		action(&command, line, update);
	}
	add(line, " / end");
	return done(&command, told, NEXT(rte_flow_action_handle_update)(port, handle, update, told));
}

/* Templates, and the rules that have them. */
struct rte_flow_pattern_template *RECORDED(rte_flow_pattern_template_create)(uint16_t port,
									     const struct rte_flow_pattern_template_attr *attr,
									     const struct rte_flow_item items[],
									     struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	uint32_t number = number_of_new(PATTERNS, port);
	struct rte_flow_pattern_template *made;

	add(&command.line, "flow pattern_template %u create ", port);
	direction(&command.line, attr->ingress, attr->egress, attr->transfer);
	add(&command.line, "relaxed %s pattern_template_id %u template ", attr->relaxed_matching ? "yes" : "no", number);
	pattern(&command.line, items, TEMPLATE);
	add(&command.line, "end");
	made = NEXT(rte_flow_pattern_template_create)(port, attr, items, told);
	keep(PATTERNS, (struct object){ .address = made, .number = number });
	done(&command, told, made ? 0 : ERRNO());
	return made;
}

struct rte_flow_actions_template *RECORDED(rte_flow_actions_template_create)(uint16_t port,
									     const struct rte_flow_actions_template_attr *attr,
									     const struct rte_flow_action list[],
									     const struct rte_flow_action masks[],
									     struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	uint32_t number = number_of_new(ACTIONS, port);
	struct rte_flow_actions_template *made;

	add(&command.line, "flow actions_template %u create ", port);
	direction(&command.line, attr->ingress, attr->egress, attr->transfer);
	add(&command.line, "actions_template_id %u template ", number);
	actions(&command, &command.line, list);
	add(&command.line, "end mask ");
	actions(&command, &command.line, masks);
	add(&command.line, "end");
	made = NEXT(rte_flow_actions_template_create)(port, attr, list, masks, told);
	keep(ACTIONS, (struct object){ .address = made, .number = number });
	done(&command, told, made ? 0 : ERRNO());
	return made;
}

struct rte_flow_template_table *RECORDED(rte_flow_template_table_create)(
	uint16_t port, const struct rte_flow_template_table_attr *attr, struct rte_flow_pattern_template *patterns[],
	uint8_t pattern_count, struct rte_flow_actions_template *lists[], uint8_t list_count, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	uint32_t number = number_of_new(TABLES, port);
	struct rte_flow_template_table *made;

	add(&command.line, "flow template_table %u create table_id %u ", port, number);
	place(&command.line, &attr->flow_attr);
	add(&command.line, "rules_number %u", attr->nb_flows);
	for (int n = 0; n < pattern_count; n++)
		add(&command.line, " pattern_template %u", object_at(PATTERNS, patterns[n], false).number);
	for (int n = 0; n < list_count; n++)
		add(&command.line, " actions_template %u", object_at(ACTIONS, lists[n], false).number);
	made = NEXT(rte_flow_template_table_create)(port, attr, patterns, pattern_count, lists, list_count, told);
	keep(TABLES, (struct object){ .address = made, .number = number });
	done(&command, told, made ? 0 : ERRNO());
	return made;
}

struct rte_flow *RECORDED(rte_flow_async_create)(uint16_t port, uint32_t queue, const struct rte_flow_op_attr *attr,
						 struct rte_flow_template_table *table, const struct rte_flow_item items[],
						 uint8_t pattern_index, const struct rte_flow_action list[], uint8_t list_index,
						 void *user_data, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	struct rte_flow *flow;

	add(&command.line, "flow queue %u create %u template_table %u pattern_template %u actions_template %u postpone %s ",
	    port, queue, object_at(TABLES, table, false).number, pattern_index, list_index,
	    attr && attr->postpone ? "yes" : "no");
	rule(&command, items, TEMPLATE_RULE, list);
	flow = NEXT(rte_flow_async_create)(port, queue, attr, table, items, pattern_index, list, list_index, user_data, told);
	if (!flow) {
		failed(&command, told, ERRNO());
		return NULL;
	}
	new_rule(&command, port, flow, "creation enqueued");
	return flow;
}

int RECORDED(rte_flow_async_destroy)(uint16_t port, uint32_t queue, const struct rte_flow_op_attr *attr, struct rte_flow *flow,
				     void *user_data, struct rte_flow_error *error)
{
	ERROR(error);
	BEGIN(command);
	struct object known = object_at(RULES, flow, true);
	int status = NEXT(rte_flow_async_destroy)(port, queue, attr, flow, user_data, told);

	add(&command.line, "flow queue %u destroy %u postpone %s rule %u", port, queue, attr && attr->postpone ? "yes" : "no",
	    known.number);
	return old_rule(&command, known, told, status, "destruction enqueued");
}

/* Meters. */
static int metered(struct command *command, const struct rte_mtr_error *error, int status)
{
	struct rte_flow_error same = { .type = error ? (enum rte_flow_error_type)error->type : RTE_FLOW_ERROR_TYPE_NONE,
				       .message = error ? error->message : NULL };

	return done(command, &same, status);
}

int RECORDED(rte_mtr_meter_profile_add)(uint16_t port, uint32_t id, struct rte_mtr_meter_profile *profile,
					struct rte_mtr_error *error)
{
	BEGIN(command);
	struct line *line = &command.line;

	add(line, "add port meter profile ");
	switch (profile->alg) {
	case RTE_MTR_SRTCM_RFC2697:
		add(line, "srtcm_rfc2697 %u %u %" PRIu64 " %" PRIu64 " %" PRIu64, port, id, profile->srtcm_rfc2697.cir,
		    profile->srtcm_rfc2697.cbs, profile->srtcm_rfc2697.ebs);
		break;
	case RTE_MTR_TRTCM_RFC2698:
		add(line, "trtcm_rfc2698 %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, port, id,
		    profile->trtcm_rfc2698.cir, profile->trtcm_rfc2698.pir, profile->trtcm_rfc2698.cbs,
		    profile->trtcm_rfc2698.pbs);
		break;
	case RTE_MTR_TRTCM_RFC4115:
		add(line, "trtcm_rfc4115 %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, port, id,
		    profile->trtcm_rfc4115.cir, profile->trtcm_rfc4115.eir, profile->trtcm_rfc4115.cbs,
		    profile->trtcm_rfc4115.ebs);
		break;
	default:
		add(line, "algorithm_%d %u %u", (int)profile->alg, port, id);
	}
	add(line, " %d", profile->packet_mode);
	return metered(&command, error, NEXT(rte_mtr_meter_profile_add)(port, id, profile, error));
}

int RECORDED(rte_mtr_meter_policy_add)(uint16_t port, uint32_t id, struct rte_mtr_meter_policy_params *policy,
				       struct rte_mtr_error *error)
{
	BEGIN(command);

	add(&command.line, "add port meter policy %u %u", port, id);
	for (int color = RTE_COLOR_GREEN; color < RTE_COLORS; color++) {
		add(&command.line, " %c_actions ", colors[color][0]);
		actions(&command, &command.line, policy->actions[color]);
		add(&command.line, "end");
	}
	return metered(&command, error, NEXT(rte_mtr_meter_policy_add)(port, id, policy, error));
}

int RECORDED(rte_mtr_create)(uint16_t port, uint32_t id, struct rte_mtr_params *params, int shared, struct rte_mtr_error *error)
{
	BEGIN(command);

	add(&command.line, "create port meter %u %u %u %u %s 0x%" PRIx64 " %d %c %d", port, id, params->meter_profile_id,
	    params->meter_policy_id, params->meter_enable ? "yes" : "no", params->stats_mask, shared,
	    colors[params->default_input_color % RTE_DIM(colors)][0], params->use_prev_mtr_color);
	return metered(&command, error, NEXT(rte_mtr_create)(port, id, params, shared, error));
}
