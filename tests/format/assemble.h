/*
 * assemble.h - makes a .trc file from text, for tests: no opaque binaries.
 *
 * A line each; `#` begins a comment.  Words are separated by blanks; a "quoted string" is one
 * word (with \" \\ \n \t \xHH).  Numbers are decimal, 0x hexadecimal, -1, or ~0.
 *
 *   header procs=4 clock=monotonic_raw ticks_per_second=1000000000 memory_bytes=0
 *          generation_ns=0 creation_realtime_ns=0 uuid=00112233445566778899aabbccddeeff
 *       Optional, first of all; these are the defaults (uuid: zeros).  clock is tsc, cntvct
 *       or monotonic_raw.
 *   sync ticks=0 raw=0 monotonic=0 realtime=0 uncertainty=0
 *       raw is ticks unless given, the others are raw.  A text that has none before its first
 *       event gets `sync ticks=0` there, so that trace time is the number behind the @.
 *   info KEY "VALUE"
 *   module NAME path="/lib/x.so" start=0x1000 limit=0x2000 offset=0 bias=0 build_id=a1b2
 *          first_epoch=0 last_epoch=0xffffffff
 *   module_end NAME last_epoch=1
 *   stack NAME [epoch=0] 0x1234 0x5678
 *       Return addresses, innermost first.
 *   labels NAME tenant="acme" size=512:bytes retries=3
 *       A label set: strings are quoted, numbers may have a unit; in the order of the keys.
 *   thread SERIAL tid=0 creator=0 start=0 end=0 name="worker"
 *   @TIME [proc=0] [thread=1] [source=ring] KIND [argument=value ...]
 *       An event; kinds and arguments by their names in schema.h, missing ones are 0.
 *       source is ring, overflow or kernel.  A STACK takes a stack's NAME, a STRING or TEXT
 *       a "quoted string", LABELS a label set's NAME, a REASON its name, an ERRNO its name or
 *       number, `module` a module's NAME, `cause` the name of a gap cause or of why samples
 *       were lost; all also take numbers.
 *   status thread=1 reason=mutex holder=2 object=0x10 since=1000 stack=NAME
 *       One thread of a status table; lines that follow each other are one table.
 *   open_region thread=1 depth=0 task=0 type="parse" since=1000
 *   coverage proc=0 source=ring held=0 from=1000 to=9000
 *       Likewise.  Without a proc it is the overflow stream's.
 *   sample_event 1 name="cpu-clock" how=timer period=0 frequency=0 missing=0 unit="nanoseconds"
 *          note=""
 *       Likewise; how is timer, signal or kernel.  The name is "cpu-clock", the unit
 *       "nanoseconds" unless given.
 *   thread_labels thread=1 labels=NAME
 *   thread_fiber thread=1 fiber=7 name="worker"
 *       Likewise.
 *   generation
 *   flush
 *   unfinished
 *       Last: the file gets no END.
 *
 * Example:
 *
 *   thread 1 tid=101 name="main"
 *   stack s1 0x401000 0x402000
 *   @1000 thread=1 park reason=mutex object=0x10 holder=2 stack=s1
 *   @5000 proc=1 thread=1 resume reason=mutex object=0x10
 */
#ifndef TRC_TESTS_ASSEMBLE_H
#define TRC_TESTS_ASSEMBLE_H

#include <stddef.h>
#include <stdint.h>

/* On success *bytes[0..*n_bytes) is the caller's: free() it.  On failure a negative errno and
 * in error[] a line such as "line 3: no such kind: prak". */
int trc_assemble(const char *text, uint8_t **bytes, size_t *n_bytes, char error[256]);
/* The same into a file. */
int trc_assemble_file(const char *text, const char *path, char error[256]);

#endif
