/* test_schema.c - the event schema keeps its own rules (schema:S1..S4). */
#include <stdlib.h>
#include <string.h>
#include "format/schema_wire.h"
#include "format/wire.h"
#include "common.h"

START_TEST(kinds_have_names_and_typed_arguments)
{
	const struct trc_kind_info *info = trc_kind_info((unsigned int)_i);

	ck_assert_ptr_nonnull(info->name);
	ck_assert_ptr_nonnull(info->doc);
	ck_assert_uint_le(info->n_args, TRC_ARGS_MAX);
	ck_assert_uint_le(info->minor, TRC_MINOR);
	ck_assert_msg(_i == 1 || info->minor >= trc_kind_info((unsigned int)_i - 1)->minor,
		      "S1: %s comes after a kind of a newer version", info->name);
	for (unsigned int a = 0; a < info->n_args; a++) {
		ck_assert_int_gt(info->arg[a].type, TRC_ARG_NONE);
		ck_assert_int_lt(info->arg[a].type, TRC_ARG_TYPE_COUNT);
		ck_assert_ptr_nonnull(info->arg[a].name);
		ck_assert_msg(!strchr(info->arg[a].doc, ';'),
			      "%s.%s: SQL's schema puts a ; between the kinds", info->name,
			      info->arg[a].name);
		ck_assert_msg(!strstr(info->arg[a].name, "_ns"), "S4: %s.%s", info->name,
			      info->arg[a].name);
		ck_assert_msg(info->arg[a].type != TRC_ARG_TEXT || a + 1 == info->n_args,
			      "S3: the text of %s is not its last argument", info->name);
	}
	for (unsigned int k = 1; k < (unsigned int)_i; k++)
		ck_assert_str_ne(info->name, trc_kind_info(k)->name);
}
END_TEST

static const unsigned int struct_words[TRC_KIND_COUNT] = {
#define TRC_EVENT(kind, minor, NAME, name, doc) [kind] = TRC_ARGS_WORDS(struct trc_args_##name),
#define TRC_ARG(TYPE, name, doc)
#define TRC_END
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
};

START_TEST(a_kind_has_a_struct_of_its_arguments)
{
	ck_assert_uint_eq(struct_words[_i], trc_kind_info((unsigned int)_i)->n_args);
}
END_TEST

START_TEST(arguments_lie_in_their_struct_as_in_the_record)
{
	const struct trc_event event = {.arg = {10, 11, 12, 13, 14, 15}};
	const struct trc_args_thread_exit nothing = {};

	ck_assert_uint_eq(TRC_ARG_INDEX(park, reason), 0);
	ck_assert_uint_eq(TRC_ARG_INDEX(park, stack), 3);
	ck_assert_uint_eq(event.args.fiber_switch.fiber, 10);
	ck_assert_uint_eq(event.args.fiber_switch.stack, 15);
	ck_assert_uint_eq(event.args.gap.cause, 12);
	ck_assert_int_eq(TRC_ARGS_KIND(event.args.gap), TRC_KIND_GAP);
	ck_assert_int_eq(TRC_ARGS_KIND(event.args.fiber_end), TRC_KIND_FIBER_END);
	ck_assert_int_eq(TRC_ARGS_KIND(nothing), TRC_KIND_THREAD_EXIT);
}
END_TEST

/* A file has the types that its readers know. */
START_TEST(types_of_our_own_are_numbers_in_the_file)
{
	for (unsigned int type = 0; type < TRC_ARG_TYPE_COUNT; type++)
		ck_assert_int_eq(trc_arg_file_type((enum trc_arg_type)type),
				 type <= TRC_ARG_LABELS ? type : TRC_ARG_U64);
}
END_TEST

START_TEST(numbers_of_enums_have_names)
{
	ck_assert(trc_arg_type_is_enum(TRC_ARG_GAP_CAUSE));
	ck_assert(!trc_arg_type_is_enum(TRC_ARG_FIBER));
	ck_assert_str_eq(trc_arg_value_name(TRC_ARG_GAP_CAUSE, TRC_GAP_RING_FULL), "ring_full");
	ck_assert_str_eq(trc_arg_value_name(TRC_ARG_PROCESS_WHAT, TRC_PROCESS_EXEC), "exec");
	ck_assert_str_eq(trc_arg_value_name(TRC_ARG_SAMPLE_LOSS, TRC_SAMPLE_LOSS_BUSY), "busy");
	ck_assert_str_eq(trc_arg_value_name(TRC_ARG_PROCESS_WHAT, 0), "?");
	ck_assert_str_eq(trc_arg_value_name(TRC_ARG_PROCESS_WHAT, UINT64_MAX), "?");
	ck_assert_ptr_null(trc_arg_value_name(TRC_ARG_U64, 1));
}
END_TEST

START_TEST(what_is_no_kind_has_no_name)
{
	ck_assert_ptr_null(trc_kind_info(0)->name);
	ck_assert_ptr_null(trc_kind_info(TRC_KIND_COUNT)->name);
	ck_assert_ptr_null(trc_kind_info(TRC_KIND_MAX)->name);
	ck_assert_ptr_null(trc_kind_info(TRC_KIND_MAX + 1)->name);
	ck_assert_ptr_null(trc_kind_info(~0u)->name);
}
END_TEST

START_TEST(numbers_have_names)
{
	const struct trc_kind_info *park = trc_kind_info(TRC_KIND_PARK);

	ck_assert_str_eq(park->name, "park");
	ck_assert_uint_eq(park->n_args, 4);
	ck_assert_str_eq(park->arg[0].name, "reason");
	ck_assert_str_eq(trc_arg_type_name(park->arg[0].type), "reason");
	ck_assert_str_eq(trc_arg_type_name(0), "?");
	ck_assert_str_eq(trc_arg_type_name(TRC_ARG_TYPE_COUNT), "?");
	ck_assert_str_eq(trc_reason_name(TRC_REASON_MUTEX), "mutex");
	ck_assert_str_eq(trc_reason_name(0), "?");
	ck_assert_str_eq(trc_reason_name(TRC_REASON_COUNT), "?");
	ck_assert_str_eq(trc_gap_cause_name(TRC_GAP_RING_FULL), "ring_full");
	ck_assert_str_eq(trc_gap_cause_name(1000), "?");
	ck_assert_str_eq(trc_sample_loss_name(TRC_SAMPLE_LOSS_NOT_OURS), "not_ours");
	ck_assert_str_eq(trc_sample_loss_name(TRC_SAMPLE_LOSS_COUNT), "?");
	ck_assert_str_eq(trc_sample_how_name(TRC_SAMPLE_TIMER), "timer");
	ck_assert_str_eq(trc_sample_how_name(0), "?");
	ck_assert_uint_gt(strlen(trc_reason_doc(TRC_REASON_COND)), 0);
	ck_assert_str_eq(trc_reason_doc(1000), "");
}
END_TEST

START_TEST(lock_reasons_are_those_with_an_unlocker)
{
	ck_assert(trc_reason_is_lock(TRC_REASON_MUTEX));
	ck_assert(trc_reason_is_lock(TRC_REASON_RWLOCK_READ));
	ck_assert(trc_reason_is_lock(TRC_REASON_COND_MUTEX));
	ck_assert(!trc_reason_is_lock(TRC_REASON_COND));
	ck_assert(!trc_reason_is_lock(TRC_REASON_READ));
	ck_assert(!trc_reason_is_lock(0));
}
END_TEST

START_TEST(the_schema_fits_its_section)
{
	uint8_t *bytes = malloc(TRC_SCHEMA_BYTES_MAX);
	size_t n_bytes;

	ck_assert_ptr_nonnull(bytes);
	n_bytes = trc_schema_put(bytes);
	ck_assert_uint_gt(n_bytes, 500);
	ck_assert_msg(n_bytes < TRC_SCHEMA_BYTES_MAX - 512, "%zu bytes: give it more room",
		      n_bytes);
	ck_assert_uint_eq(trc_schema_hash(), trc_schema_hash());
	free(bytes);
}
END_TEST

Suite *suite_schema(void)
{
	Suite *s = suite_create("schema");
	TCase *t = tcase_create("schema");

	tcase_add_loop_test(t, kinds_have_names_and_typed_arguments, 1, TRC_KIND_COUNT);
	tcase_add_loop_test(t, a_kind_has_a_struct_of_its_arguments, 1, TRC_KIND_COUNT);
	tcase_add_test(t, arguments_lie_in_their_struct_as_in_the_record);
	tcase_add_test(t, types_of_our_own_are_numbers_in_the_file);
	tcase_add_test(t, numbers_of_enums_have_names);
	tcase_add_test(t, what_is_no_kind_has_no_name);
	tcase_add_test(t, numbers_have_names);
	tcase_add_test(t, lock_reasons_are_those_with_an_unlocker);
	tcase_add_test(t, the_schema_fits_its_section);
	suite_add_tcase(s, t);
	return s;
}
