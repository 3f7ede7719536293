/*
 * schema.h - the events, their arguments, and the reasons for waiting: the one table.
 *
 * Everything that names an event or an argument is generated from TRC_SCHEMA or
 * checked against it: the recorder's emitters, the file's columns, the SQL
 * columns, docs/schema.md and the tests.
 *
 *   schema:S1  a kind number, once released, never changes its meaning or its arguments;
 *       a minor version of the format only appends kinds, or arguments to a kind
 *   schema:S2  kinds are 1..TRC_KIND_MAX; 0 is no event
 *   schema:S3  an argument of type TEXT is the last one of its kind
 *   schema:S4  an argument's name leaves its unit to the type: SQL adds "_ns" to times
 */
#ifndef TRC_FORMAT_SCHEMA_H
#define TRC_FORMAT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Argument types.  In the ring an argument is one 8-byte word (TEXT: a word with
 * the length in bytes, then the bytes, zero-padded to whole words); in a block it
 * is one column.
 *
 *   U64     an unsigned number              I64     a signed number (zigzag)
 *   NS      a duration in nanoseconds       TICKS   a time point, as in the time column
 *   ADDR    an address in the program       STACK   a stack id, 0 = none taken
 *   STRING  a string id, 0 = none           THREAD  a thread serial, 0 = not known
 *   REASON  an enum trc_reason              ERRNO   0, or a positive errno value
 *   TASK    a task id, 0 = none             TEXT    bytes that are not interned
 *   LABELS  a label set id, 0 = none
 *
 * The types of TRC_ARG_OWN_TYPES are numbers whose meaning this source knows.  The file
 * calls them U64:
 *
 *   SAMPLE  the number of an allocation sample, made the file's by the drain
 *   FIBER   a fiber's number, made the file's by the drain; 0 = the thread's root fiber
 *   GAP_CAUSE, PROCESS_WHAT, SAMPLE_LOSS
 *           a number that has a name below; SQL shows the name
 */
#define TRC_ARG_TYPES(T)                                                                           \
	T(U64, u64)                                                                                \
	T(I64, i64)                                                                                \
	T(NS, ns)                                                                                  \
	T(TICKS, ticks)                                                                            \
	T(ADDR, addr)                                                                              \
	T(STACK, stack)                                                                            \
	T(STRING, string)                                                                          \
	T(THREAD, thread)                                                                          \
	T(REASON, reason)                                                                          \
	T(ERRNO, errno)                                                                            \
	T(TASK, task)                                                                              \
	T(TEXT, text)                                                                              \
	T(LABELS, labels)
#define TRC_ARG_OWN_TYPES(T)                                                                       \
	T(SAMPLE, sample)                                                                          \
	T(FIBER, fiber)                                                                            \
	T(GAP_CAUSE, gap_cause)                                                                    \
	T(PROCESS_WHAT, process_what)                                                              \
	T(SAMPLE_LOSS, sample_loss)

/* clang-format off */
enum trc_arg_type {
	TRC_ARG_NONE,
#define TRC_T(NAME, name) TRC_ARG_##NAME,
	TRC_ARG_TYPES(TRC_T)
	TRC_ARG_FILE_TYPE_COUNT, /* from here on: types that no file has */
	TRC_ARG_BEFORE_OWN_TYPES = TRC_ARG_FILE_TYPE_COUNT - 1,
	TRC_ARG_OWN_TYPES(TRC_T)
#undef TRC_T
	TRC_ARG_TYPE_COUNT
};
/* clang-format on */

/* clang-format off */
/*
 * EVENT(kind, minor, NAME, name, doc) then its ARG(TYPE, name, doc)s in order, then END.
 * `minor` is the minor version of the format that the kind came with.
 *
 * A wait that is announced when it begins is a park, and its end a resume, both by the waiting
 * thread.  A wait that is recorded only if it lasted long enough is one `wait` event, made when the
 * wait ended.  The thread that ends somebody else's wait makes an unlock (of a lock) or an unpark
 * (of anything else).
 */
#define TRC_SCHEMA(EVENT, ARG, END)                                                                \
EVENT(1, 0, GAP, gap, "events of this stream that were lost, counted exactly")                     \
	ARG(U64, lost_events, "how many")                                                          \
	ARG(TICKS, since, "when the first of them was lost")                                       \
	ARG(GAP_CAUSE, cause, "why")                                                               \
END                                                                                                \
EVENT(2, 0, THREAD_START, thread_start, "a thread runs its first instruction, or is first seen")   \
	ARG(U64, tid, "the kernel's thread id")                                                    \
	ARG(THREAD, creator, "who created it")                                                     \
	ARG(STACK, stack, "where it was created")                                                  \
	ARG(TICKS, created, "when, just before its creator asked for it, 0 = not known")           \
END                                                                                                \
EVENT(3, 0, THREAD_EXIT, thread_exit, "a thread is about to end")                                  \
END                                                                                                \
EVENT(4, 0, THREAD_NAME, thread_name, "a thread is given a name")                                  \
	ARG(THREAD, named, "which thread")                                                         \
	ARG(TEXT, name, "its name from now on")                                                    \
END                                                                                                \
EVENT(5, 0, PARK, park, "the thread stops running, to wait")                                       \
	ARG(REASON, reason, "what kind of wait")                                                   \
	ARG(ADDR, object, "the lock, condition variable, ... or descriptor waited for")            \
	ARG(THREAD, holder, "who holds the lock now, where the lock tells")                        \
	ARG(STACK, stack, "where it waits")                                                        \
END                                                                                                \
EVENT(6, 0, RESUME, resume, "the thread runs again after its park")                                \
	ARG(REASON, reason, "as at the park")                                                      \
	ARG(ADDR, object, "as at the park")                                                        \
	ARG(ERRNO, result, "what the wait returned: 0, or an error such as ETIMEDOUT")             \
END                                                                                                \
EVENT(7, 0, WAIT, wait, "a wait that has ended and was long enough to be recorded")                \
	ARG(REASON, reason, "what kind of wait")                                                   \
	ARG(ADDR, object, "the descriptor or object waited for")                                   \
	ARG(TICKS, since, "when the wait began")                                                   \
	ARG(ERRNO, result, "0, or the error that the call returned")                               \
	ARG(STACK, stack, "where it waited")                                                       \
	ARG(STRING, descriptor, "what the descriptor was: a path or addresses, none = not known")  \
END                                                                                                \
EVENT(8, 0, UNLOCK, unlock, "a lock is released for which others wait")                            \
	ARG(REASON, reason, "which kind of lock: the reason that its waiters gave")                \
	ARG(ADDR, object, "the lock")                                                              \
	ARG(U64, waiters, "how many threads wait for it, where known")                             \
	ARG(STACK, stack, "where it was released")                                                 \
	ARG(TICKS, at, "when, just before the release (the record is made after it)")              \
	ARG(NS, held, "how long it was held by then, if others waited when it was taken, or 0")    \
END                                                                                                \
EVENT(9, 0, UNPARK, unpark, "waiters are made runnable: signal, broadcast, post, last at a barrier") \
	ARG(REASON, reason, "the reason that the waiters gave")                                    \
	ARG(ADDR, object, "what they waited for")                                                  \
	ARG(U64, count, "how many may go on, ~0 (-1 in SQL) = all of them")                        \
	ARG(STACK, stack, "where this happened")                                                   \
	ARG(TICKS, at, "when, just before it was done (the record is made after it)")              \
END                                                                                                \
EVENT(10, 0, ACQUIRE, acquire, "a lock is taken (only with --locks=all)")                          \
	ARG(REASON, reason, "which kind of lock")                                                  \
	ARG(ADDR, object, "the lock")                                                              \
	ARG(STACK, stack, "where")                                                                 \
	ARG(U64, tried, "1 if the thread would not have waited for it: a trylock")                 \
END                                                                                                \
EVENT(11, 0, RELEASE, release, "a lock is given back (only with --locks=all)")                     \
	ARG(REASON, reason, "which kind of lock")                                                  \
	ARG(ADDR, object, "the lock")                                                              \
END                                                                                                \
EVENT(12, 0, TASK_BEGIN, task_begin, "an operation of the user's begins")                          \
	ARG(TASK, task, "its id")                                                                  \
	ARG(TASK, parent, "the task that it is a part of")                                         \
	ARG(STRING, type, "its type, for statistics")                                              \
END                                                                                                \
EVENT(13, 0, TASK_END, task_end, "the operation is done")                                          \
	ARG(TASK, task, "its id")                                                                  \
END                                                                                                \
EVENT(14, 0, REGION_BEGIN, region_begin, "a span of this thread begins")                           \
	ARG(TASK, task, "the task that it works for")                                              \
	ARG(STRING, type, "its type")                                                              \
END                                                                                                \
EVENT(15, 0, REGION_END, region_end, "the innermost open span of this thread ends")                \
END                                                                                                \
EVENT(16, 0, LOG, log, "a message")                                                                \
	ARG(TASK, task, "the task that it belongs to")                                             \
	ARG(STRING, category, "the user's category")                                               \
	ARG(TEXT, message, "the message")                                                          \
END                                                                                                \
EVENT(17, 0, COUNTER, counter, "a value of the user's")                                            \
	ARG(STRING, name, "whose value")                                                           \
	ARG(I64, value, "the value from now on")                                                   \
END                                                                                                \
EVENT(18, 0, PROC_START, proc_start, "the kernel puts the thread on this proc")                    \
END                                                                                                \
EVENT(19, 0, PROC_STOP, proc_stop, "the kernel takes the thread off this proc")                    \
	ARG(U64, preempted, "1 if it could have gone on, 0 if it waits")                           \
END                                                                                                \
EVENT(20, 0, PROCS_CHANGE, procs_change, "the number of procs that the process may use changed")   \
	ARG(U64, procs, "how many from now on")                                                    \
END                                                                                                \
EVENT(21, 0, MODULE_LOAD, module_load, "a shared object was loaded")                               \
	ARG(U64, module, "its id in the module table")                                             \
END                                                                                                \
EVENT(22, 0, MODULE_UNLOAD, module_unload, "a shared object was unloaded")                         \
	ARG(U64, module, "its id in the module table")                                             \
END                                                                                                \
EVENT(23, 0, PROCESS, process, "the process forked, executed another program, or ended")           \
	ARG(PROCESS_WHAT, what, "what it did")                                                     \
	ARG(U64, value, "child pid, image number, or wait status")                                 \
END                                                                                                \
EVENT(24, 1, SIGNAL, signal, "a signal that reports a fault or ends the process, as it arrived")   \
	ARG(U64, signal, "its number")                                                             \
	ARG(I64, code, "si_code")                                                                  \
	ARG(ADDR, address, "si_addr: what was accessed, 0 where the signal has none")              \
	ARG(U64, fatal, "1 if it ends the process, 0 if a handler of the program's deals with it") \
	ARG(STACK, stack, "where the thread was")                                                  \
END                                                                                                \
EVENT(25, 1, TRIGGER, trigger, "a condition was met for which a snapshot was asked")               \
	ARG(TEXT, condition, "which one, and what met it")                                            \
END                                                                                                \
EVENT(26, 2, LABELS, labels, "the thread works under other labels from now on")                    \
	ARG(LABELS, labels, "its label set from now on")                                           \
	ARG(LABELS, before, "the one that it had until now")                                       \
END                                                                                                \
EVENT(27, 2, SAMPLE, sample, "a counter of the thread overflowed, or a timer of its CPU time expired") \
	ARG(U64, event, "which one: its number in the table of sampled events")                    \
	ARG(U64, value, "how much of the event this stands for, in the unit of the event")         \
	ARG(U64, period, "how much of it lies between two samples, as was in force")               \
	ARG(STACK, stack, "where the thread was")                                                  \
	ARG(LABELS, labels, "its label set, none in samples that the kernel took (see its labels event)") \
END                                                                                                \
EVENT(28, 2, SAMPLES_LOST, samples_lost, "samples that were due, and were not taken or not kept")  \
	ARG(U64, event, "of which sampled event, 0 = of any")                                      \
	ARG(U64, lost_samples, "how many")                                                         \
	ARG(SAMPLE_LOSS, cause, "why")                                                             \
END                                                                                                \
EVENT(29, 3, ALLOC, alloc, "memory was allocated, and the allocation was chosen as a sample")      \
	ARG(SAMPLE, sample, "the sample's number in the process, never used again")                \
	ARG(ADDR, address, "where the memory lies")                                                \
	ARG(U64, bytes, "how much was asked for")                                                  \
	ARG(U64, period, "how many bytes lie between two samples on average, as was in force")     \
	ARG(STACK, stack, "where it was allocated")                                                \
	ARG(LABELS, labels, "the thread's label set")                                              \
END                                                                                                \
EVENT(30, 3, FREE, free, "memory that is a sample was given back")                                 \
	ARG(SAMPLE, sample, "the sample's number, as in its alloc event")                          \
	ARG(ADDR, address, "where the memory lay")                                                 \
	ARG(U64, bytes, "as in its alloc event")                                                   \
	ARG(U64, period, "as in its alloc event")                                                  \
END                                                                                                \
EVENT(31, 4, FIBER_CREATE, fiber_create, "a fiber of the program's own scheduler is made, or first seen") \
	ARG(FIBER, fiber, "its number in the process, never used again")                           \
	ARG(STRING, name, "its name")                                                              \
	ARG(STACK, stack, "where it was made, none = before recording began")                      \
END                                                                                                \
EVENT(32, 4, FIBER_SWITCH, fiber_switch, "the thread leaves one fiber and runs another")           \
	ARG(FIBER, fiber, "the one that runs from now on, 0 = the thread's root fiber")            \
	ARG(FIBER, left, "the one that ran until now, 0 = the thread's root fiber")                \
	ARG(STRING, name, "the name of the one that runs from now on")                             \
	ARG(REASON, reason, "why the one that is left waits, none = it could go on")               \
	ARG(ADDR, object, "what it waits for")                                                     \
	ARG(STACK, stack, "where it was left, if it waits")                                        \
END                                                                                                \
EVENT(33, 4, FIBER_READY, fiber_ready, "a fiber that waited may go on")                            \
	ARG(FIBER, fiber, "which one")                                                             \
	ARG(STACK, stack, "where this was done")                                                   \
END                                                                                                \
EVENT(34, 4, FIBER_END, fiber_end, "a fiber will not run again")                                   \
	ARG(FIBER, fiber, "which one")                                                             \
END                                                                                                \
EVENT(35, 4, OTEL_CONTEXT, otel_context, "the OpenTelemetry context that the thread published, as of its next event") \
	ARG(U64, trace_high, "the first half of the trace id, all 0 = no context")                 \
	ARG(U64, trace_low, "the second half of the trace id")                                     \
	ARG(U64, span, "the span id")                                                              \
	ARG(U64, before, "the span id of its otel_context event before, 0 = none")                 \
END                                                                                                \
/* The next kind goes here. */
/* clang-format on */

/* The function that TRC_FRAMES_ELIDED is shown as. */
#define TRC_FRAMES_ELIDED_NAME "(frames elided)"

enum trc_kind {
	TRC_KIND_NONE,
#define TRC_EVENT(kind, minor, NAME, name, doc) TRC_KIND_##NAME = kind,
#define TRC_ARG(TYPE, name, doc)
#define TRC_END
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
		TRC_KIND_COUNT
};

/* clang-format off */
/* As large as the newest of the minor versions is high. */
union trc_kind_minors {
#define TRC_EVENT(kind, minor, NAME, name, doc) char name[1 + minor];
#define TRC_ARG(TYPE, name, doc)
#define TRC_END
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
};
/* clang-format on */

/*
 * The arguments of one event by name: struct trc_args_park { uint64_t reason, object, ... }.  The
 * words lie as in a record and in a row of the writer; the word of a TEXT is its length.
 * clang-format cannot tell a struct in these.
 */
/* clang-format off */
#define TRC_EVENT(kind, minor, NAME, name, doc) struct trc_args_##name {
#define TRC_ARG(TYPE, name, doc) uint64_t name;
#define TRC_END };
TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END

union trc_args {
#define TRC_EVENT(kind, minor, NAME, name, doc) struct trc_args_##name name;
#define TRC_ARG(TYPE, name, doc)
#define TRC_END
	TRC_SCHEMA(TRC_EVENT, TRC_ARG, TRC_END)
#undef TRC_EVENT
#undef TRC_ARG
#undef TRC_END
};

/* The enum trc_kind whose arguments are in the struct that `args` is. */
#define TRC_ARGS_KIND(args) _Generic((args) TRC_SCHEMA(TRC_ARGS_CASE, TRC_ARGS_NO_ARG, TRC_ARGS_NO_END))
#define TRC_ARGS_CASE(kind, minor, NAME, name, doc) , struct trc_args_##name: TRC_KIND_##NAME
#define TRC_ARGS_NO_ARG(TYPE, name, doc)
#define TRC_ARGS_NO_END
/* The number of words of these arguments. */
#define TRC_ARGS_WORDS(args) (sizeof(args) / sizeof(uint64_t))
/* Which argument of its kind this is, from 0: TRC_ARG_INDEX(park, holder) is 2. */
#define TRC_ARG_INDEX(kind_name, arg_name) \
	((unsigned int)(offsetof(struct trc_args_##kind_name, arg_name) / sizeof(uint64_t)))
/* clang-format on */

enum {
	TRC_KIND_MAX = 255,
	TRC_KINDS_MINOR = sizeof(union trc_kind_minors) - 1, /* the format's, of the newest kind */
	TRC_ARGS_MAX = sizeof(union trc_args) / sizeof(uint64_t),
	TRC_STACK_DEPTH_MAX = 128,
	TRC_STACK_OUTERMOST = 16, /* of these, where a stack is deeper */
	/* Stands among the frames for those left out between the innermost and the outermost
	 * (docs/format.md, "STACKS").  No address of code: the first page is never mapped. */
	TRC_FRAMES_ELIDED = 4095,
	TRC_TEXT_BYTES_MAX = 4096, /* longer texts are cut there; docs/api.md says so */
};

/*
 * REASON(number, NAME, name, doc): why a thread waits; the `reason` column.
 * Lock reasons have an unlocker, wake reasons an unparker; I/O reasons have the
 * descriptor as their object.
 */
#define TRC_REASONS(REASON)                                                                        \
	REASON(1, MUTEX, mutex, "a mutex (pthread or C11) held by another thread")                 \
	REASON(2, RWLOCK_READ, rwlock_read, "a rwlock, to read")                                   \
	REASON(3, RWLOCK_WRITE, rwlock_write, "a rwlock, to write")                                \
	REASON(4, SPIN, spin, "a spin lock (the thread burns its proc while it waits)")            \
	REASON(5, COND, cond, "a condition variable")                                              \
	REASON(6, COND_MUTEX, cond_mutex, "the mutex of a condition variable, taken again")        \
	REASON(7, SEM, sem, "a semaphore")                                                         \
	REASON(8, BARRIER, barrier, "the other threads of a barrier")                              \
	REASON(9, JOIN, join, "the end of another thread")                                         \
	REASON(10, ONCE, once, "an initialisation that another thread is doing")                   \
	REASON(11, SLEEP, sleep, "a time to pass")                                                 \
	REASON(12, POLL, poll, "poll, ppoll, select, pselect")                                     \
	REASON(13, EPOLL, epoll, "epoll_wait, epoll_pwait")                                        \
	REASON(14, CHILD, child, "a child process: wait, waitpid, ...")                            \
	REASON(15, SIGNAL, signal, "a signal: sigwait, sigsuspend, pause, ...")                    \
	REASON(16, FLOCK, flock, "a file lock: flock, fcntl, lockf")                               \
	REASON(17, FSYNC, fsync, "data to reach the disk: fsync, fdatasync, msync, sync")          \
	REASON(18, READ, read, "read and its family")                                              \
	REASON(19, WRITE, write, "write and its family")                                           \
	REASON(20, RECV, recv, "recv, recvfrom, recvmsg, ...")                                     \
	REASON(21, SEND, send, "send, sendto, sendmsg, ...")                                       \
	REASON(22, ACCEPT, accept, "a connection to arrive")                                       \
	REASON(23, CONNECT, connect, "a connection to be made")                                    \
	REASON(24, OPEN, open, "open: a FIFO's other end, a slow file system")                     \
	REASON(25, FUTEX, futex, "syscall(SYS_futex) made by the program itself")                  \
	REASON(26, MSG, msg, "a message queue")                                                    \
	REASON(27, USER, user, "a wait that the program announced itself")                         \
	REASON(28, AIO, aio, "asynchronous I/O: aio_suspend, lio_listio, io_uring_enter, ...")

/* Reasons that no file has: the analyzer gives them to waits that are recorded with another
 * reason. */
#define TRC_DERIVED_REASONS(REASON)                                                                \
	REASON(30, SEM_LOCK, sem_lock, "a semaphore whose posts show that it is a lock")           \
	REASON(31, FUTEX_LOCK, futex_lock, "a futex whose wakings show that it is a lock")

enum trc_reason {
	TRC_REASON_NONE,
#define TRC_R(number, NAME, name, doc) TRC_REASON_##NAME = number,
	TRC_REASONS(TRC_R) TRC_REASON_RECORDED, /* above all that are in files */
	TRC_DERIVED_REASONS(TRC_R)
#undef TRC_R
		TRC_REASON_COUNT
};

/* Why events were lost: the `cause` of a gap. */
#define TRC_GAP_CAUSES(CAUSE)                                                                      \
	CAUSE(1, RING_FULL, ring_full, "the ring was full and the policy, or the place, was drop") \
	CAUSE(2, OVERWRITTEN, overwritten, "older than what the ring still holds")                 \
	CAUSE(3, UNCOMMITTED, uncommitted, "reserved by a thread that never finished writing")     \
	CAUSE(4, NO_MEMORY, no_memory, "the proc's ring could not be allocated")                   \
	CAUSE(5, SINK_FAILED, sink_failed, "the file could not be written")                        \
	CAUSE(6, KERNEL, kernel, "the kernel's own buffer was full")                               \
	CAUSE(7, DAMAGED, damaged, "a record, or a block of the file, failed its check")

enum trc_gap_cause {
	TRC_GAP_NONE,
#define TRC_C(number, NAME, name, doc) TRC_GAP_##NAME = number,
	TRC_GAP_CAUSES(TRC_C)
#undef TRC_C
		TRC_GAP_CAUSE_COUNT
};

/* Why samples were lost: the `cause` of samples_lost. */
#define TRC_SAMPLE_LOSSES(CAUSE)                                                                   \
	CAUSE(1, BUSY, busy,                                                                       \
	      "the thread was being sampled or recording, or blocked SIGPROF, or a system call "   \
	      "went on")                                                                           \
	CAUSE(2, NOT_OURS, not_ours, "the program closed the counter's descriptor")                \
	CAUSE(3, NO_ROOM, no_room, "the kernel's buffer was full")                                 \
	CAUSE(4, THROTTLED, throttled, "the kernel stopped the counter for the rest of a tick")    \
	CAUSE(5, NO_THREAD, no_thread, "the thread was not known, or had ended")                   \
	CAUSE(6, SHORT, short,                                                                     \
	      "threads ended, or left the processor, before the kernel's next one")                \
	CAUSE(7, UNARMED, unarmed,                                                                 \
	      "used as threads began and ended, where nothing samples them yet or any more")

enum trc_sample_loss {
	TRC_SAMPLE_LOSS_NONE,
#define TRC_C(number, NAME, name, doc) TRC_SAMPLE_LOSS_##NAME = number,
	TRC_SAMPLE_LOSSES(TRC_C)
#undef TRC_C
		TRC_SAMPLE_LOSS_COUNT
};

/* How samples of an event are taken. */
#define TRC_SAMPLE_HOWS(HOW)                                                                       \
	HOW(1, TIMER, timer, "a timer of each thread's CPU time sends the thread a signal")        \
	HOW(2, SIGNAL, signal, "a counter of each thread's sends the thread a signal")             \
	HOW(3, KERNEL, kernel, "the kernel itself writes down where the thread is")

enum trc_sample_how {
	TRC_SAMPLE_HOW_NONE,
#define TRC_H(number, NAME, name, doc) TRC_SAMPLE_##NAME = number,
	TRC_SAMPLE_HOWS(TRC_H)
#undef TRC_H
		TRC_SAMPLE_HOW_COUNT
};

/* What a process did. */
#define TRC_PROCESS_WHATS(WHAT)                                                                    \
	WHAT(1, FORK, fork, "value: the child's pid")                                              \
	WHAT(2, EXEC, exec, "value: the number of the new image, from 1")                          \
	WHAT(3, END, end, "value: the wait status")

enum trc_process_what {
	TRC_PROCESS_NONE,
#define TRC_W(number, NAME, name, doc) TRC_PROCESS_##NAME = number,
	TRC_PROCESS_WHATS(TRC_W)
#undef TRC_W
		TRC_PROCESS_WHAT_COUNT
};

struct trc_arg_info {
	enum trc_arg_type type;
	const char *name;
	const char *doc;
};

struct trc_kind_info {
	const char *name; /* NULL: no such kind */
	const char *doc;
	uint8_t n_args;
	uint8_t minor; /* of the format, that the kind came with */
	struct trc_arg_info arg[TRC_ARGS_MAX];
};

/* The description of `kind`; one without a name if there is no such kind. Any thread. */
const struct trc_kind_info *trc_kind_info(unsigned int kind);
/* Names as SQL and the documentation use them; "?" for an unknown number. */
const char *trc_arg_type_name(unsigned int type);
/* The type as a file has it: U64 for the types of TRC_ARG_OWN_TYPES. */
enum trc_arg_type trc_arg_file_type(enum trc_arg_type type);
/* True if the numbers of this type have names that every file shares. */
bool trc_arg_type_is_enum(enum trc_arg_type type);
/* Such a number's name, "?" for an unknown number; NULL if the type is no enum. */
const char *trc_arg_value_name(enum trc_arg_type type, uint64_t value);
const char *trc_reason_name(unsigned int reason);
const char *trc_reason_doc(unsigned int reason);
const char *trc_gap_cause_name(unsigned int cause);
const char *trc_sample_loss_name(unsigned int cause);
const char *trc_sample_how_name(unsigned int how);
/* True if a wait for this reason ends with an unlock event. */
bool trc_reason_is_lock(unsigned int reason);
/* A hash over every name, number and type above; two programs that agree on it agree on all. */
uint64_t trc_schema_hash(void);

#endif
