# Tests, one fragment a room.
include tests/format/local.mk
include tests/recorder/local.mk
include tests/recorder/interpose/local.mk
include tests/recorder/drain/local.mk
include tests/recorder/tool/local.mk
include tests/analyzer/local.mk
include tests/viewer/local.mk
include tests/integration/local.mk
include tests/package/local.mk
include tests/bench/local.mk
include tests/long/local.mk

# Tests that measure what the machine gives them: these run one after the other, when nothing else does.
alone_tests = sample_test tests/integration/favoured.sh tests/integration/behind_ticks.sh tests/integration/java_samples.sh tests/integration/sampled_guest.sh tests/integration/samples_due.sh \
	tests/integration/truth_blame.sh tests/integration/truth_chain.sh \
	tests/integration/truth_cpu.sh tests/integration/truth_fibers.sh tests/integration/truth_findings.sh \
	tests/integration/truth_futex.sh tests/integration/truth_futex_pi.sh tests/integration/truth_own_lock.sh tests/integration/truth_path.sh tests/integration/truth_profile.sh tests/integration/truth_select.sh \
	tests/integration/truth_wait_times.sh tests/integration/truth_waits.sh tests/integration/truth_wakers.sh

# Those that take longest begin first, in this order: else one of them is what all others have been waited for.  One that
# computes and one that waits take turns.
long_tests = tests/viewer/paths.sh tests/integration/open_waits.sh tests/viewer/serve/browser.sh tests/viewer/sql.sh tests/integration/truth_whatif.sh tests/viewer/tabs.sh \
	tests/integration/http_remote.sh tests/viewer/browser.sh http_test tests/viewer/details.sh tests/viewer/ways.sh \
	tests/viewer/window.sh tests/viewer/serve/serve.sh tests/viewer/flame.sh recorder_test tests/integration/http.sh \
	tests/viewer/keys.sh tests/integration/odd_moment.sh tests/integration/slow_request.sh \
	tests/analyzer/cli/linear_test.sh tests/viewer/types/types.sh tests/analyzer/diff/diff_test tests/integration/kill9.sh tests/recorder/interpose/same.sh ring_stress test-snapshot-races \
	tests/analyzer/whatif/whatif_test tests/viewer/prepared_test tests/format/test_format
# Scripts of whole programs and of pages that take long: of these seven lists a run with CI_SEED has one, and all else.  Each list
# takes about as much CPU time as the others (of a test's log the last line).  Seven is prime: tests that take turns in themselves, in
# 2 to 6, 8 or 12 parts by the same seed (tests/turns.h), have each of their parts in each list's runs.
turn_tests_0 = tests/viewer/serve/browser.sh tests/viewer/loading.sh tests/integration/http_remote.sh tests/integration/redis.sh \
	tests/integration/truth_blame.sh tests/integration/truth_wait_times.sh tests/integration/truth_waits.sh
turn_tests_1 = tests/viewer/tabs.sh tests/viewer/newcomer.sh tests/viewer/export.sh tests/integration/coming_from.sh \
	tests/integration/truth_cpu.sh tests/integration/truth_chain.sh
turn_tests_2 = tests/viewer/sql.sh tests/viewer/paths.sh tests/viewer/crowded.sh tests/integration/slow_request.sh \
	tests/integration/heap_hostile.sh tests/integration/deep.sh tests/integration/behind_ticks.sh tests/integration/truth_futex.sh
turn_tests_3 = tests/viewer/details.sh tests/viewer/types/types.sh tests/viewer/told.sh tests/analyzer/cli/memory_test.sh tests/integration/kill9.sh \
	tests/integration/java_samples.sh tests/integration/favoured.sh tests/integration/truth_profile.sh
turn_tests_4 = tests/viewer/browser.sh tests/viewer/flame.sh tests/viewer/moving.sh tests/integration/widths.sh \
	tests/integration/short_threads.sh tests/recorder/interpose/same.sh tests/integration/truth_path.sh tests/integration/truth_select.sh
turn_tests_5 = tests/viewer/window.sh tests/viewer/tour.sh tests/viewer/keys.sh tests/viewer/source.sh \
	tests/integration/truth_whatif.sh tests/integration/open_waits.sh tests/integration/truth_diff.sh tests/integration/postgres.sh \
	tests/recorder/tool/trace_record.sh tests/integration/samples_due.sh
turn_tests_6 = tests/viewer/ways.sh tests/viewer/serve/serve.sh tests/viewer/modules.sh tests/integration/http.sh \
	tests/integration/odd_moment.sh tests/integration/http_threads.sh tests/integration/reload.sh tests/integration/sampled_hard.sh \
	tests/recorder/unwind/unwind_shapes.sh tests/recorder/unwind/unwind_kept.sh tests/recorder/unwind/unwind_sframe.sh \
	tests/analyzer/cli/linear_test.sh tests/analyzer/model/members_test.sh tests/integration/sampled_guest.sh tests/integration/truth_fibers.sh \
	tests/integration/truth_findings.sh tests/integration/truth_futex_pi.sh tests/integration/truth_wakers.sh
turn_lists = 0 1 2 3 4 5 6
turn_tests = $(foreach list,$(turn_lists),$(turn_tests_$(list)))
# turn=all runs all lists.  A seed that is no number chooses none of them, and would leave out all: it ends the run.
turn = $(if $(and $(CI_SEED),$(filter-out yes,$(or $(CI_WHOLE),no))),$(seed_turn),all)
seed_turn = $(shell expr '$(CI_SEED)' : '[0-9]*$$' >/dev/null && expr '$(CI_SEED)' % $(words $(turn_lists)))
unknown_turn = $(error no list of tests has this turn: CI_SEED=$(CI_SEED) turn=$(turn))
left_out = $(if $(filter-out 1,$(words $(filter $(turn_lists) all,$(turn)))),$(unknown_turn))$(if $(filter all,$(turn)),,$(filter-out $(turn_tests_$(turn)),$(filter $(turn_tests),$(TESTS))))
chosen_tests = $(filter-out $(left_out),$(TESTS))
ordered_tests = $(foreach test,$(long_tests),$(filter $(test),$(chosen_tests))) \
	$(filter-out $(alone_tests) $(long_tests),$(chosen_tests))

# make -jN check-parallel: what `make check` does, N tests at a time but for those.  Of what takes turns and of what tests draw at
# random it does a part, another one each time: docs/hacking.md.
check-parallel: all
	@CI_SEED=$${CI_SEED:-$$(($$(date +%s) % 10000))}; export CI_SEED; \
	echo "CI_SEED=$$CI_SEED chooses the same tests and cases again, CI_WHOLE=yes all of them"; \
	$(MAKE) check-turn

check-turn:
	@echo 'Left out until their turn comes: $(or $(strip $(left_out)),nothing)'; status=0; \
	$(MAKE) check TESTS='$(strip $(ordered_tests))' || status=1; \
	mv $(TEST_SUITE_LOG) parallel-$(TEST_SUITE_LOG); \
	$(MAKE) -j1 check TESTS='$(filter $(alone_tests),$(chosen_tests))' || status=1; \
	cat parallel-$(TEST_SUITE_LOG) >>$(TEST_SUITE_LOG); rm -f parallel-$(TEST_SUITE_LOG); \
	$(SHELL) $(top_srcdir)/tests/slowest.sh $(addsuffix .log,$(basename $(chosen_tests))); exit $$status
# What a run leaves out, and nothing else: tests/package/turns.sh.
print-turn:
	@echo '$(strip $(left_out))'
# The slices of .ci/run.
EXTRA_DIST += tests/suite.h
EXTRA_DIST += tests/slice.sh
.PHONY: check-parallel check-turn print-turn
EXTRA_DIST += tests/timed.sh tests/slowest.sh

# What timed.sh runs tests by.
check_PROGRAMS += tests/adopt
tests_adopt_SOURCES = tests/adopt.c
$(TEST_LOGS): | tests/adopt

# First in the tests' PATH.
check_DATA += tests/go/go
tests/go/go: $(srcdir)/tests/go_tool.sh
	$(AM_V_GEN)$(SHELL) $(srcdir)/tests/go_tool.sh $@
CLEANFILES += tests/go/go tests/go/pprof
EXTRA_DIST += tests/go_tool.sh
