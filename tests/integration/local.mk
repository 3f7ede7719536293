# tests/integration - whole programs, recorded and compared with what they say themselves
integration_programs = \
	tests/integration/favoured \
	tests/integration/behind_ticks \
	tests/integration/truth_waits tests/integration/truth_wait_times \
	tests/integration/wait_calls \
	tests/integration/truth_blame \
	tests/integration/truth_chain tests/integration/truth_path \
	tests/integration/truth_locks tests/integration/truth_instead \
	tests/integration/truth_futex tests/integration/truth_futex_pi tests/integration/rust_lock \
	tests/integration/truth_findings tests/integration/truth_own_lock \
	tests/integration/truth_diff \
	tests/integration/truth_diff_moved \
	tests/integration/truth_wakers \
	tests/integration/truth_descriptors \
	tests/integration/truth_whatif \
	tests/integration/truth_cpu \
	tests/integration/truth_tasks \
	tests/integration/truth_select \
	tests/integration/truth_labels \
	tests/integration/truth_profile \
	tests/integration/truth_heap \
	tests/integration/heap_hostile \
	tests/integration/recorders \
	tests/integration/truth_new \
	tests/integration/cxx_names \
	tests/integration/left_waits \
	tests/integration/jit \
	tests/integration/own_malloc \
	tests/integration/any_malloc \
	tests/integration/kill9 \
	tests/integration/cond_pool \
	tests/integration/soak \
	tests/integration/deadlock \
	tests/integration/sampled_hard \
	tests/integration/shared_altstack \
	tests/integration/shared_altstack_before \
	tests/integration/sampled_guest \
	tests/integration/reload \
	tests/integration/segments_far \
	tests/integration/segments_wide \
	tests/integration/samples_due \
	tests/integration/short_threads \
	tests/integration/titles \
	tests/integration/lock_meets \
	tests/integration/lock_remade \
	tests/integration/idle_pool \
	tests/integration/deep \
	tests/integration/lock_order \
	tests/integration/mc_load \
	tests/integration/contended \
	tests/integration/http_threads \
	tests/integration/jvm_threads \
	tests/integration/open_waits

check_PROGRAMS += $(integration_programs)
# -no-install: programs, not scripts that run programs.
tests_integration_truth_waits_SOURCES = tests/integration/truth_waits.c tests/integration/truth.h
tests_integration_truth_waits_LDADD = -lpthread
tests_integration_behind_ticks_SOURCES = tests/integration/behind_ticks.c
tests_integration_behind_ticks_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_integration_behind_ticks_LDADD = -lpthread
tests_integration_favoured_SOURCES = tests/integration/favoured.c
tests_integration_favoured_CFLAGS = $(AM_CFLAGS) -fno-builtin -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_integration_favoured_LDADD = -lpthread
tests_integration_truth_wait_times_SOURCES = tests/integration/truth_wait_times.c tests/bench/bench.h
tests_integration_truth_wait_times_LDADD = -lpthread
tests_integration_http_threads_SOURCES = tests/integration/http_threads.c \
	tests/integration/check_or_exit.h
tests_integration_http_threads_LDADD = -lpthread
tests_integration_jvm_threads_SOURCES = tests/integration/jvm_threads.c
tests_integration_jvm_threads_LDADD = -lpthread -ldl
tests_integration_open_waits_SOURCES = tests/integration/open_waits.c tests/recorder/interpose/blocked.h
tests_integration_open_waits_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_open_waits_LDADD = libtrc.la -lpthread -ldl
tests_integration_wait_calls_SOURCES = tests/integration/wait_calls.c \
	tests/integration/check_or_exit.h
tests_integration_wait_calls_LDADD = -lpthread
tests_integration_truth_blame_SOURCES = tests/integration/truth_blame.c tests/integration/truth.h
tests_integration_truth_blame_LDADD = -lpthread
tests_integration_truth_chain_SOURCES = tests/integration/truth_chain.c tests/integration/truth.h
tests_integration_truth_chain_LDADD = -lpthread
tests_integration_truth_path_SOURCES = tests/integration/truth_path.c tests/integration/truth.h
tests_integration_truth_path_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_path_LDADD = libtrc.la -lpthread
tests_integration_truth_futex_pi_SOURCES = tests/integration/truth_futex_pi.c
tests_integration_truth_futex_pi_CFLAGS = $(AM_CFLAGS) -D_GNU_SOURCE
tests_integration_truth_futex_pi_LDADD = -lpthread
tests_integration_rust_lock_SOURCES = tests/integration/rust_lock.c tests/integration/truth.h
tests_integration_rust_lock_CFLAGS = $(AM_CFLAGS) -D_GNU_SOURCE
tests_integration_rust_lock_LDADD = -lpthread
tests_integration_truth_futex_SOURCES = tests/integration/truth_futex.c tests/integration/truth.h
tests_integration_truth_futex_CFLAGS = $(AM_CFLAGS) -D_GNU_SOURCE
tests_integration_truth_futex_LDADD = -lpthread
tests_integration_truth_locks_SOURCES = tests/integration/truth_locks.c tests/integration/truth.h
tests_integration_truth_locks_LDADD = -lpthread
tests_integration_truth_instead_SOURCES = tests/integration/truth_instead.c
tests_integration_truth_instead_LDADD = -lpthread
tests_integration_truth_findings_SOURCES = tests/integration/truth_findings.c \
	tests/integration/truth.h
tests_integration_truth_findings_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_findings_LDADD = libtrc.la -lpthread
tests_integration_truth_own_lock_SOURCES = tests/integration/truth_own_lock.c tests/integration/truth.h
tests_integration_truth_own_lock_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_own_lock_LDADD = libtrc.la -lpthread
tests_integration_truth_diff_SOURCES = tests/integration/truth_diff.c tests/draws.h tests/integration/truth.h
tests_integration_truth_diff_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_diff_LDADD = libtrc.la -lpthread
tests_integration_truth_diff_moved_SOURCES = tests/integration/truth_diff.c tests/draws.h tests/integration/truth.h
tests_integration_truth_diff_moved_CPPFLAGS = $(AM_CPPFLAGS) -DTRUTH_DIFF_MOVED
tests_integration_truth_diff_moved_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_diff_moved_LDADD = libtrc.la -lpthread
tests_integration_truth_descriptors_SOURCES = tests/integration/truth_descriptors.c \
	tests/integration/truth.h tests/integration/check_or_exit.h
tests_integration_truth_descriptors_LDADD = -lpthread
tests_integration_truth_wakers_SOURCES = tests/integration/truth_wakers.c \
	tests/integration/truth.h
tests_integration_truth_wakers_LDADD = -lpthread
tests_integration_truth_whatif_SOURCES = tests/integration/truth_whatif.c
tests_integration_truth_whatif_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_whatif_LDADD = libtrc.la -lpthread
tests_integration_truth_cpu_SOURCES = tests/integration/truth_cpu.c
tests_integration_truth_cpu_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_cpu_LDADD = libtrc.la -lpthread
tests_integration_truth_select_SOURCES = tests/integration/truth_select.c tests/integration/truth.h
tests_integration_truth_select_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_select_LDADD = libtrc.la -lpthread
tests_integration_truth_tasks_SOURCES = tests/integration/truth_tasks.c tests/integration/truth.h
tests_integration_truth_tasks_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_tasks_LDADD = libtrc.la -lpthread
tests_integration_truth_labels_SOURCES = tests/integration/truth_labels.c tests/recorder/interpose/blocked.h
tests_integration_truth_labels_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_labels_LDADD = libtrc.la -lpthread
tests_integration_truth_profile_SOURCES = tests/integration/truth_profile.c
tests_integration_truth_profile_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_truth_profile_LDADD = libtrc.la -lpthread
tests_integration_truth_heap_SOURCES = tests/integration/truth_heap.c
tests_integration_truth_heap_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_integration_truth_heap_LDADD = -lpthread
tests_integration_heap_hostile_SOURCES = tests/integration/heap_hostile.c \
	tests/integration/heap_plugin.h tests/integration/check_or_exit.h
tests_integration_heap_hostile_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_integration_heap_hostile_LDADD = -lpthread
tests_integration_recorders_SOURCES = tests/integration/recorders.c
tests_integration_recorders_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_integration_recorders_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_recorders_LDADD = libtrc.la -lpthread
tests_integration_truth_new_SOURCES = tests/integration/truth_new.cc
# Some compilers want to be told that delete may know sizes.
tests_integration_truth_new_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17 -fsized-deallocation
tests_integration_truth_new_LDADD = -lpthread
tests_integration_cxx_names_SOURCES = tests/integration/cxx_names.cc
tests_integration_cxx_names_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17
tests_integration_cxx_names_LDADD = -lpthread
tests_integration_left_waits_SOURCES = tests/integration/left_waits.cc
tests_integration_left_waits_LDADD = -lpthread
tests_integration_jit_SOURCES = tests/integration/jit.c
tests_integration_own_malloc_SOURCES = tests/integration/own_malloc.c
tests_integration_own_malloc_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_integration_own_malloc_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_own_malloc_LDADD = libtrc.la -lpthread
tests_integration_any_malloc_SOURCES = tests/integration/own_malloc.c
tests_integration_any_malloc_CPPFLAGS = $(AM_CPPFLAGS) -DANY_MALLOC
tests_integration_any_malloc_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_any_malloc_LDADD = libtrc.la -lpthread
if !SANITIZED
integration_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nonexistent
check_LTLIBRARIES += tests/integration/libfrontmalloc.la tests/integration/liboperators.la \
	tests/integration/libarrays.la tests/integration/libheapplugin.la \
	tests/integration/libreloadwork.la tests/integration/libreloadother.la \
	tests/integration/libclosing.la \
	tests/integration/libjvm.la
tests_integration_libfrontmalloc_la_SOURCES = tests/integration/front_malloc.c
tests_integration_libfrontmalloc_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_liboperators_la_SOURCES = tests/integration/operators.cc
tests_integration_liboperators_la_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17
tests_integration_liboperators_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libarrays_la_SOURCES = tests/integration/operators.cc
tests_integration_libarrays_la_CPPFLAGS = $(AM_CPPFLAGS) -DARRAYS
tests_integration_libarrays_la_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17
tests_integration_libarrays_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libheapplugin_la_SOURCES = tests/integration/heap_plugin.c \
	tests/integration/heap_plugin.h
tests_integration_libheapplugin_la_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_integration_libheapplugin_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libjvm_la_SOURCES = tests/integration/jvm.cc tests/integration/jvm.h
tests_integration_libjvm_la_CXXFLAGS = $(AM_CXXFLAGS) -std=c++17
tests_integration_libjvm_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libclosing_la_SOURCES = tests/integration/closing_plugin.c
tests_integration_libclosing_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libreloadwork_la_SOURCES = tests/integration/reload_plugin.c
tests_integration_libreloadwork_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUN=reload_work
tests_integration_libreloadwork_la_LDFLAGS = $(integration_LDFLAGS)
tests_integration_libreloadother_la_SOURCES = tests/integration/reload_plugin.c
tests_integration_libreloadother_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUN=reload_other
tests_integration_libreloadother_la_LDFLAGS = $(integration_LDFLAGS)
endif
tests_integration_lock_order_SOURCES = tests/integration/lock_order.c \
	tests/integration/check_or_exit.h
tests_integration_lock_order_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_lock_order_LDADD = -lpthread
tests_integration_kill9_SOURCES = tests/integration/kill9.c
tests_integration_kill9_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_kill9_LDADD = libtrc.la -lpthread
tests_integration_cond_pool_SOURCES = tests/integration/cond_pool.c
tests_integration_cond_pool_LDADD = -lpthread
tests_integration_soak_SOURCES = tests/integration/soak.c
tests_integration_soak_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_soak_LDADD = libtrc.la -lpthread
tests_integration_deadlock_SOURCES = tests/integration/deadlock.c
tests_integration_deadlock_LDADD = -lpthread
tests_integration_sampled_hard_SOURCES = tests/integration/sampled_hard.c \
	tests/integration/check_or_exit.h
tests_integration_sampled_hard_LDADD = -lpthread
tests_integration_shared_altstack_SOURCES = tests/integration/shared_altstack.c \
	tests/integration/check_or_exit.h
tests_integration_shared_altstack_LDADD = -lpthread
tests_integration_shared_altstack_before_SOURCES = tests/integration/shared_altstack.c \
	tests/integration/check_or_exit.h
tests_integration_shared_altstack_before_CFLAGS = $(AM_CFLAGS) -DRECORDS_ITSELF
tests_integration_shared_altstack_before_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_shared_altstack_before_LDADD = libtrc.la -lpthread
tests_integration_sampled_guest_SOURCES = tests/integration/sampled_guest.c \
	tests/integration/check_or_exit.h
tests_integration_sampled_guest_LDADD = -lpthread
tests_integration_reload_SOURCES = tests/integration/reload.c
tests_integration_reload_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_integration_reload_LDADD = libtrc.la -ldl
# Programs with gaps between their segments.
tests_integration_segments_far_SOURCES = tests/integration/segments.c
tests_integration_segments_far_CFLAGS = $(AM_CFLAGS) -fno-pie
tests_integration_segments_far_LDFLAGS = $(AM_LDFLAGS) -Wc,-no-pie \
	-Wl,--section-start=.far_text=0x800000
tests_integration_segments_far_LDADD = -ldl -lpthread
tests_integration_segments_wide_SOURCES = tests/integration/segments.c
tests_integration_segments_wide_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer
tests_integration_segments_wide_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,max-page-size=0x200000
tests_integration_segments_wide_LDADD = -ldl -lpthread
tests_integration_samples_due_SOURCES = tests/integration/samples_due.c
tests_integration_samples_due_LDADD = -lpthread
tests_integration_idle_pool_SOURCES = tests/integration/idle_pool.c
tests_integration_idle_pool_LDADD = -lpthread
tests_integration_lock_remade_SOURCES = tests/integration/lock_remade.c tests/integration/check_or_exit.h
tests_integration_lock_remade_LDADD = -lpthread
tests_integration_lock_meets_SOURCES = tests/integration/lock_meets.c tests/integration/check_or_exit.h
tests_integration_lock_meets_LDADD = -lpthread
tests_integration_titles_SOURCES = tests/integration/titles.c
tests_integration_short_threads_SOURCES = tests/integration/short_threads.c
tests_integration_short_threads_LDADD = -lpthread
tests_integration_deep_SOURCES = tests/integration/deep.c tests/integration/check_or_exit.h
tests_integration_deep_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer -fno-optimize-sibling-calls
tests_integration_deep_LDADD = -lpthread
tests_integration_mc_load_SOURCES = tests/integration/mc_load.c
tests_integration_contended_SOURCES = tests/integration/contended.c
tests_integration_contended_LDADD = -lpthread

integration_tests = \
	tests/integration/favoured.sh \
	tests/integration/behind_ticks.sh \
	tests/integration/truth_waits.sh tests/integration/truth_wait_times.sh \
	tests/integration/open_waits.sh \
	tests/integration/jvm.sh \
	tests/integration/wait_calls.sh \
	tests/integration/truth_blame.sh \
	tests/integration/truth_chain.sh tests/integration/truth_path.sh \
	tests/integration/truth_locks.sh tests/integration/truth_instead.sh \
	tests/integration/truth_futex.sh tests/integration/truth_futex_pi.sh tests/integration/rust_lock.sh \
	tests/integration/truth_diff.sh \
	tests/integration/truth_findings.sh tests/integration/truth_own_lock.sh tests/integration/stripped_lock.sh \
	tests/integration/truth_wakers.sh \
	tests/integration/truth_descriptors.sh tests/integration/hints.sh \
	tests/integration/truth_whatif.sh \
	tests/integration/truth_tasks.sh \
	tests/integration/truth_select.sh \
	tests/integration/truth_labels.sh \
	tests/integration/truth_fibers.sh \
	tests/integration/truth_cpu.sh \
	tests/integration/sampled_hard.sh \
	tests/integration/reload.sh \
	tests/integration/segments.sh \
	tests/integration/sampled_guest.sh \
	tests/integration/samples_due.sh \
	tests/integration/short_threads.sh \
	tests/integration/titles.sh tests/integration/stripped.sh \
	tests/integration/lock_meets.sh \
	tests/integration/lock_remade.sh \
	tests/integration/idle_pool.sh \
	tests/integration/deep.sh \
	tests/integration/truth_profile.sh \
	tests/integration/truth_heap.sh \
	tests/integration/heap_hostile.sh \
	tests/integration/recorders.sh \
	tests/integration/allocators.sh \
	tests/integration/cxx_names.sh tests/integration/widths.sh \
	tests/integration/left_waits.sh \
	tests/integration/jit.sh \
	tests/integration/python_gil.sh tests/integration/ruby_gvl.sh tests/integration/postgres.sh tests/integration/mariadb.sh tests/integration/java_monitor.sh \
	tests/integration/java_samples.sh \
	tests/integration/python_lock.sh \
	tests/integration/own_malloc.sh \
	tests/integration/demo.sh \
	tests/integration/examples.sh \
	tests/integration/fold.sh \
	tests/integration/cond_pool.sh \
	tests/integration/soak.sh \
	tests/integration/cut.sh \
	tests/integration/new_kind.sh \
	tests/integration/results.sh \
	tests/integration/deadlock.sh \
	tests/integration/lock_order.sh \
	tests/integration/flight_server.sh \
	tests/integration/odd_moment.sh tests/integration/slow_request.sh tests/integration/coming_from.sh \
	tests/integration/kill9.sh \
	tests/integration/http.sh \
	tests/integration/http_events.sh \
	tests/integration/http_remote.sh \
	tests/integration/http_threads.sh \
	tests/integration/memcached.sh \
	tests/integration/nginx.sh \
	tests/integration/pigz.sh \
	tests/integration/redis.sh \
	tests/integration/redis_kill9.sh

TESTS += $(integration_tests)
EXTRA_DIST += tests/integration/lib.sh tests/integration/heap_lib.sh tests/integration/http_lib.sh \
	$(integration_tests)
