/*
 * names.h - every libc name that trc interposes: the one list.
 *
 * TRC_NAMES(N, V, T): N(name) is interposed and its real one is the default version;
 * V(field, name, version) is a real symbol of exactly that version; T(name) is
 * interposed by an assembly thunk that makes the system call itself, so no real one is
 * kept.  The table of real symbols, its resolution and the binding test come from here.
 */
#ifndef TRC_RECORDER_INTERPOSE_NAMES_H
#define TRC_RECORDER_INTERPOSE_NAMES_H

#include <features.h>

/*
 * Names that have a second, incompatible version on x86-64.  On x86-64 they stand in version nodes
 * (libtrc.map), and the old versions pass calls straight to the old real functions (versions.h).
 */
#ifdef __x86_64__
#define TRC_NAMES_VERSIONED(V)                                                                     \
	V(pthread_cond_wait, pthread_cond_wait, "GLIBC_2.3.2")                                     \
	V(pthread_cond_timedwait, pthread_cond_timedwait, "GLIBC_2.3.2")                           \
	V(pthread_cond_signal, pthread_cond_signal, "GLIBC_2.3.2")                                 \
	V(pthread_cond_broadcast, pthread_cond_broadcast, "GLIBC_2.3.2")                           \
	V(posix_spawn, posix_spawn, "GLIBC_2.15")                                                  \
	V(posix_spawnp, posix_spawnp, "GLIBC_2.15")                                                \
	V(sched_setaffinity, sched_setaffinity, "GLIBC_2.3.4")                                     \
	V(pthread_setaffinity_np, pthread_setaffinity_np, "GLIBC_2.3.4")                           \
	V(old_cond_wait, pthread_cond_wait, "GLIBC_2.2.5")                                         \
	V(old_cond_timedwait, pthread_cond_timedwait, "GLIBC_2.2.5")                               \
	V(old_cond_signal, pthread_cond_signal, "GLIBC_2.2.5")                                     \
	V(old_cond_broadcast, pthread_cond_broadcast, "GLIBC_2.2.5")                               \
	V(old_posix_spawn, posix_spawn, "GLIBC_2.2.5")                                             \
	V(old_posix_spawnp, posix_spawnp, "GLIBC_2.2.5")
#define TRC_NAMES_SINGLE(N)
#else
#define TRC_NAMES_VERSIONED(V)
#define TRC_NAMES_SINGLE(N)                                                                        \
	N(pthread_cond_wait)                                                                       \
	N(pthread_cond_timedwait)                                                                  \
	N(pthread_cond_signal)                                                                     \
	N(pthread_cond_broadcast)                                                                  \
	N(sched_setaffinity)                                                                       \
	N(pthread_setaffinity_np)                                                                  \
	N(posix_spawn)                                                                             \
	N(posix_spawnp)
#endif

#define TRC_NAMES_LOCKS(N)                                                                         \
	N(pthread_mutex_lock)                                                                      \
	N(pthread_mutex_trylock)                                                                   \
	N(pthread_mutex_timedlock)                                                                 \
	N(pthread_mutex_clocklock)                                                                 \
	N(pthread_mutex_unlock)                                                                    \
	N(pthread_rwlock_rdlock)                                                                   \
	N(pthread_rwlock_tryrdlock)                                                                \
	N(pthread_rwlock_timedrdlock)                                                              \
	N(pthread_rwlock_clockrdlock)                                                              \
	N(pthread_rwlock_wrlock)                                                                   \
	N(pthread_rwlock_trywrlock)                                                                \
	N(pthread_rwlock_timedwrlock)                                                              \
	N(pthread_rwlock_clockwrlock)                                                              \
	N(pthread_rwlock_unlock)                                                                   \
	N(pthread_spin_lock)                                                                       \
	N(pthread_spin_trylock)                                                                    \
	N(pthread_spin_unlock)                                                                     \
	N(pthread_cond_clockwait)                                                                  \
	N(sem_wait)                                                                                \
	N(sem_trywait)                                                                             \
	N(sem_timedwait)                                                                           \
	N(sem_clockwait)                                                                           \
	N(sem_post)                                                                                \
	N(pthread_barrier_wait)                                                                    \
	N(pthread_once)                                                                            \
	N(mtx_lock)                                                                                \
	N(mtx_trylock)                                                                             \
	N(mtx_timedlock)                                                                           \
	N(mtx_unlock)                                                                              \
	N(cnd_wait)                                                                                \
	N(cnd_timedwait)                                                                           \
	N(cnd_signal)                                                                              \
	N(cnd_broadcast)                                                                           \
	N(call_once)

#define TRC_NAMES_THREADS(N)                                                                       \
	N(pthread_create)                                                                          \
	N(pthread_join)                                                                            \
	N(pthread_tryjoin_np)                                                                      \
	N(pthread_timedjoin_np)                                                                    \
	N(pthread_clockjoin_np)                                                                    \
	N(pthread_exit)                                                                            \
	N(pthread_setname_np)                                                                      \
	N(thrd_create)                                                                             \
	N(thrd_join)                                                                               \
	N(thrd_exit)                                                                               \
	N(thrd_sleep)                                                                              \
	N(fork)                                                                                    \
	N(_Fork)                                                                                   \
	N(daemon)                                                                                  \
	N(forkpty)                                                                                 \
	N(execve)                                                                                  \
	N(execveat)                                                                                \
	N(fexecve)                                                                                 \
	N(execv)                                                                                   \
	N(execvp)                                                                                  \
	N(execvpe)                                                                                 \
	N(execl)                                                                                   \
	N(execle)                                                                                  \
	N(execlp)                                                                                  \
	N(prctl)                                                                                   \
	N(dlclose)

#define TRC_NAMES_WAITS(N)                                                                         \
	N(nanosleep)                                                                               \
	N(usleep)                                                                                  \
	N(sleep)                                                                                   \
	N(clock_nanosleep)                                                                         \
	N(poll)                                                                                    \
	N(__poll_chk)                                                                              \
	N(ppoll)                                                                                   \
	N(__ppoll_chk)                                                                             \
	N(select)                                                                                  \
	N(pselect)                                                                                 \
	N(epoll_ctl)                                                                               \
	N(epoll_wait)                                                                              \
	N(epoll_pwait)                                                                             \
	N(epoll_pwait2)                                                                            \
	N(wait)                                                                                    \
	N(waitpid)                                                                                 \
	N(wait3)                                                                                   \
	N(wait4)                                                                                   \
	N(waitid)                                                                                  \
	N(system)                                                                                  \
	N(sigwait)                                                                                 \
	N(sigwaitinfo)                                                                             \
	N(sigtimedwait)                                                                            \
	N(sigsuspend)                                                                              \
	N(pause)                                                                                   \
	N(mq_send)                                                                                 \
	N(mq_timedsend)                                                                            \
	N(mq_receive)                                                                              \
	N(mq_timedreceive)                                                                         \
	N(msgsnd)                                                                                  \
	N(msgrcv)                                                                                  \
	N(semop)                                                                                   \
	N(semtimedop)

#define TRC_NAMES_SIGNALS(N)                                                                       \
	N(sigaction)                                                                               \
	N(signal)                                                                                  \
	N(sysv_signal)                                                                             \
	N(siginterrupt)                                                                            \
	N(sigset)                                                                                  \
	N(sighold)                                                                                 \
	N(sigrelse)                                                                                \
	N(sigpending)                                                                              \
	N(sigprocmask)                                                                             \
	N(pthread_sigmask)                                                                         \
	N(sigaltstack)

#define TRC_NAMES_FILES(N)                                                                         \
	N(flock)                                                                                   \
	N(fcntl)                                                                                   \
	N(fcntl64)                                                                                 \
	N(lockf)                                                                                   \
	N(lockf64)                                                                                 \
	N(fsync)                                                                                   \
	N(fdatasync)                                                                               \
	N(msync)                                                                                   \
	N(sync)                                                                                    \
	N(syncfs)                                                                                  \
	N(sync_file_range)                                                                         \
	N(copy_file_range)                                                                         \
	N(tcdrain)                                                                                 \
	N(aio_suspend)                                                                             \
	N(aio_suspend64)                                                                           \
	N(lio_listio)                                                                              \
	N(lio_listio64)                                                                            \
	N(open)                                                                                    \
	N(open64)                                                                                  \
	N(__open_2)                                                                                \
	N(__open64_2)                                                                              \
	N(openat)                                                                                  \
	N(openat64)                                                                                \
	N(__openat_2)                                                                              \
	N(__openat64_2)                                                                            \
	N(creat)                                                                                   \
	N(creat64)                                                                                 \
	N(close)                                                                                   \
	N(closefrom)                                                                               \
	N(close_range)                                                                             \
	N(dup2)                                                                                    \
	N(dup3)                                                                                    \
	N(read)                                                                                    \
	N(__read_chk)                                                                              \
	N(pread)                                                                                   \
	N(__pread_chk)                                                                             \
	N(pread64)                                                                                 \
	N(__pread64_chk)                                                                           \
	N(readv)                                                                                   \
	N(preadv)                                                                                  \
	N(preadv64)                                                                                \
	N(preadv2)                                                                                 \
	N(preadv64v2)                                                                              \
	N(eventfd_read)                                                                            \
	N(write)                                                                                   \
	N(pwrite)                                                                                  \
	N(pwrite64)                                                                                \
	N(writev)                                                                                  \
	N(pwritev)                                                                                 \
	N(pwritev64)                                                                               \
	N(pwritev2)                                                                                \
	N(pwritev64v2)                                                                             \
	N(eventfd_write)                                                                           \
	N(splice)                                                                                  \
	N(tee)                                                                                     \
	N(vmsplice)

#define TRC_NAMES_SOCKETS(N)                                                                       \
	N(recv)                                                                                    \
	N(__recv_chk)                                                                              \
	N(recvfrom)                                                                                \
	N(__recvfrom_chk)                                                                          \
	N(recvmsg)                                                                                 \
	N(recvmmsg)                                                                                \
	N(send)                                                                                    \
	N(sendto)                                                                                  \
	N(sendmsg)                                                                                 \
	N(sendmmsg)                                                                                \
	N(sendfile)                                                                                \
	N(sendfile64)                                                                              \
	N(accept)                                                                                  \
	N(accept4)                                                                                 \
	N(connect)                                                                                 \
	N(socketpair)

#define TRC_NAMES_STREAMS(N)                                                                       \
	N(fgetc)                                                                                   \
	N(getc)                                                                                    \
	N(_IO_getc)                                                                                \
	N(getchar)                                                                                 \
	N(fgetc_unlocked)                                                                          \
	N(getc_unlocked)                                                                           \
	N(getchar_unlocked)                                                                        \
	N(__uflow)                                                                                 \
	N(fgetwc)                                                                                  \
	N(getwc)                                                                                   \
	N(getwchar)                                                                                \
	N(fgetwc_unlocked)                                                                         \
	N(getwc_unlocked)                                                                          \
	N(getwchar_unlocked)                                                                       \
	N(__wuflow)                                                                                \
	N(fputc)                                                                                   \
	N(putc)                                                                                    \
	N(_IO_putc)                                                                                \
	N(putchar)                                                                                 \
	N(fputc_unlocked)                                                                          \
	N(putc_unlocked)                                                                           \
	N(putchar_unlocked)                                                                        \
	N(__overflow)                                                                              \
	N(fputwc)                                                                                  \
	N(putwc)                                                                                   \
	N(putwchar)                                                                                \
	N(fputwc_unlocked)                                                                         \
	N(putwc_unlocked)                                                                          \
	N(putwchar_unlocked)                                                                       \
	N(__woverflow)                                                                             \
	N(fopen)                                                                                   \
	N(fopen64)                                                                                 \
	N(freopen)                                                                                 \
	N(freopen64)                                                                               \
	N(getw)                                                                                    \
	N(putw)                                                                                    \
	N(fgets)                                                                                   \
	N(fgets_unlocked)                                                                          \
	N(__fgets_chk)                                                                             \
	N(__fgets_unlocked_chk)                                                                    \
	N(getline)                                                                                 \
	N(getdelim)                                                                                \
	N(__getdelim)                                                                              \
	N(fgetws)                                                                                  \
	N(fgetws_unlocked)                                                                         \
	N(__fgetws_chk)                                                                            \
	N(__fgetws_unlocked_chk)                                                                   \
	N(fputs)                                                                                   \
	N(fputs_unlocked)                                                                          \
	N(puts)                                                                                    \
	N(fputws)                                                                                  \
	N(fputws_unlocked)                                                                         \
	N(fread)                                                                                   \
	N(fread_unlocked)                                                                          \
	N(__fread_chk)                                                                             \
	N(__fread_unlocked_chk)                                                                    \
	N(fwrite)                                                                                  \
	N(fwrite_unlocked)                                                                         \
	N(vdprintf)                                                                                \
	N(__vdprintf_chk)                                                                          \
	N(fflush)                                                                                  \
	N(fflush_unlocked)                                                                         \
	N(fclose)                                                                                  \
	N(pclose)                                                                                  \
	N(dprintf)                                                                                 \
	N(__dprintf_chk)                                                                           \
	N(vfscanf)                                                                                 \
	N(vscanf)                                                                                  \
	N(fscanf)                                                                                  \
	N(scanf)                                                                                   \
	N(__isoc99_vfscanf)                                                                        \
	N(__isoc99_vscanf)                                                                         \
	N(__isoc99_fscanf)                                                                         \
	N(__isoc99_scanf)                                                                          \
	N(vfwscanf)                                                                                \
	N(vwscanf)                                                                                 \
	N(fwscanf)                                                                                 \
	N(wscanf)                                                                                  \
	N(__isoc99_vfwscanf)                                                                       \
	N(__isoc99_vwscanf)                                                                        \
	N(__isoc99_fwscanf)                                                                        \
	N(__isoc99_wscanf)                                                                         \
	N(vfprintf)                                                                                \
	N(vprintf)                                                                                 \
	N(fprintf)                                                                                 \
	N(printf)                                                                                  \
	N(vfwprintf)                                                                               \
	N(vwprintf)                                                                                \
	N(fwprintf)                                                                                \
	N(wprintf)                                                                                 \
	N(__vfprintf_chk)                                                                          \
	N(__vprintf_chk)                                                                           \
	N(__fprintf_chk)                                                                           \
	N(__printf_chk)                                                                            \
	N(__vfwprintf_chk)                                                                         \
	N(__vwprintf_chk)                                                                          \
	N(__fwprintf_chk)                                                                          \
	N(__wprintf_chk)

/* Of C23, in newer libcs. */
#if __GLIBC_PREREQ(2, 38)
#define TRC_NAMES_STREAMS_C23(N)                                                                   \
	N(__isoc23_vfscanf)                                                                        \
	N(__isoc23_vscanf)                                                                         \
	N(__isoc23_fscanf)                                                                         \
	N(__isoc23_scanf)                                                                          \
	N(__isoc23_vfwscanf)                                                                       \
	N(__isoc23_vwscanf)                                                                        \
	N(__isoc23_fwscanf)                                                                        \
	N(__isoc23_wscanf)
#else
#define TRC_NAMES_STREAMS_C23(N)
#endif

/* trc_real_early() keeps the functions that it found for these names: they are called early, and
 * often. */
#define TRC_NAMES_HEAP(N)                                                                          \
	N(malloc)                                                                                  \
	N(calloc)                                                                                  \
	N(realloc)                                                                                 \
	N(free)                                                                                    \
	N(aligned_alloc)                                                                           \
	N(memalign)                                                                                \
	N(valloc)                                                                                  \
	N(pvalloc)                                                                                 \
	N(reallocarray)                                                                            \
	N(posix_memalign)

/*
 * C++'s operators new, then delete.  A program need not have such operators: if there are none
 * behind ours, ours do as the operators of the C++ library (operators.c).
 */
#define TRC_NAMES_NEW(N)                                                                           \
	N(_Znwm)                                                                                   \
	N(_Znam)                                                                                   \
	N(_ZnwmRKSt9nothrow_t)                                                                     \
	N(_ZnamRKSt9nothrow_t)                                                                     \
	N(_ZnwmSt11align_val_t)                                                                    \
	N(_ZnamSt11align_val_t)                                                                    \
	N(_ZnwmSt11align_val_tRKSt9nothrow_t)                                                      \
	N(_ZnamSt11align_val_tRKSt9nothrow_t)
#define TRC_NAMES_DELETE(N)                                                                        \
	N(_ZdlPv)                                                                                  \
	N(_ZdaPv)                                                                                  \
	N(_ZdlPvRKSt9nothrow_t)                                                                    \
	N(_ZdaPvRKSt9nothrow_t)                                                                    \
	N(_ZdlPvm)                                                                                 \
	N(_ZdaPvm)                                                                                 \
	N(_ZdlPvSt11align_val_t)                                                                   \
	N(_ZdaPvSt11align_val_t)                                                                   \
	N(_ZdlPvSt11align_val_tRKSt9nothrow_t)                                                     \
	N(_ZdaPvSt11align_val_tRKSt9nothrow_t)                                                     \
	N(_ZdlPvmSt11align_val_t)                                                                  \
	N(_ZdaPvmSt11align_val_t)

#define TRC_NAMES_THUNKS(T)                                                                        \
	T(vfork)                                                                                   \
	T(syscall)

#define TRC_NAMES(N, V, T)                                                                         \
	TRC_NAMES_HEAP(N)                                                                          \
	TRC_NAMES_NEW(N)                                                                           \
	TRC_NAMES_DELETE(N)                                                                        \
	TRC_NAMES_LOCKS(N)                                                                         \
	TRC_NAMES_THREADS(N)                                                                       \
	TRC_NAMES_WAITS(N)                                                                         \
	TRC_NAMES_SIGNALS(N)                                                                       \
	TRC_NAMES_FILES(N)                                                                         \
	TRC_NAMES_SOCKETS(N)                                                                       \
	TRC_NAMES_STREAMS(N)                                                                       \
	TRC_NAMES_STREAMS_C23(N)                                                                   \
	TRC_NAMES_SINGLE(N)                                                                        \
	TRC_NAMES_VERSIONED(V)                                                                     \
	TRC_NAMES_THUNKS(T)

#endif
