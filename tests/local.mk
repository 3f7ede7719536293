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
	tests/integration/truth_futex.sh tests/integration/truth_futex_pi.sh tests/integration/truth_path.sh tests/integration/truth_profile.sh tests/integration/truth_select.sh \
	tests/integration/truth_wait_times.sh tests/integration/truth_waits.sh tests/integration/truth_wakers.sh

# Those that take longest begin first, in this order: else one of them is what all others have been waited for.  One that
# computes and one that waits take turns.
long_tests = tests/viewer/serve/browser.sh tests/viewer/sql.sh tests/integration/truth_whatif.sh tests/viewer/tabs.sh \
	tests/integration/http_remote.sh tests/viewer/browser.sh http_test tests/viewer/details.sh tests/viewer/ways.sh \
	tests/viewer/window.sh tests/viewer/serve/serve.sh tests/viewer/flame.sh recorder_test tests/integration/http.sh \
	tests/viewer/keys.sh tests/integration/odd_moment.sh tests/integration/slow_request.sh \
	tests/analyzer/diff/diff_test tests/integration/kill9.sh tests/recorder/interpose/same.sh ring_stress test-snapshot-races
ordered_tests = $(foreach test,$(long_tests),$(filter $(test),$(TESTS))) \
	$(filter-out $(alone_tests) $(long_tests),$(TESTS))

# make -jN check-parallel: what `make check` does, N tests at a time but for those.  Of what tests draw at random they do a part,
# another one each time: docs/hacking.md.
check-parallel: all
	@status=0; CI_SEED=$${CI_SEED:-$$(($$(date +%s) % 10000))}; export CI_SEED; \
	echo "CI_SEED=$$CI_SEED chooses the same cases again, CI_WHOLE=yes all of them"; \
	$(MAKE) check TESTS='$(strip $(ordered_tests))' || status=1; \
	mv $(TEST_SUITE_LOG) parallel-$(TEST_SUITE_LOG); \
	$(MAKE) -j1 check TESTS='$(filter $(alone_tests),$(TESTS))' || status=1; \
	cat parallel-$(TEST_SUITE_LOG) >>$(TEST_SUITE_LOG); rm -f parallel-$(TEST_SUITE_LOG); \
	$(SHELL) $(top_srcdir)/tests/slowest.sh $(TEST_LOGS); exit $$status
.PHONY: check-parallel
EXTRA_DIST += tests/timed.sh tests/slowest.sh

# First in the tests' PATH.
check_DATA += tests/go/go
tests/go/go: $(srcdir)/tests/go_tool.sh
	$(AM_V_GEN)$(SHELL) $(srcdir)/tests/go_tool.sh $@
CLEANFILES += tests/go/go tests/go/pprof
EXTRA_DIST += tests/go_tool.sh
