/*
 * descriptor.h - what the descriptor of a wait was: a file's path, a socket's addresses.
 *
 * The thread that has waited asks for the name when the wait is about to be recorded: so calls that
 * do not wait pay nothing.  A number may have been closed and opened again since it was named, also
 * by calls that are not seen.
 *
 *   descriptor:N1  a name is told only if the kernel says that the descriptor still is the named
 *       file: the same device, inode, type and time of birth.  Descriptors that share an inode with
 *       others (eventfd and its like) are asked for their name each time
 *   descriptor:N2  a name is told only if no close of the number was seen since the wait began:
 *       else the wait may have been for the file before
 *   descriptor:N3  no name is better than a wrong name, and a missing name is no error
 *   descriptor:N4  nothing here waits for a file system: no attribute is fetched
 */
#ifndef TRC_RECORDER_GUEST_DESCRIPTOR_H
#define TRC_RECORDER_GUEST_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/ring/hot.h"
#include "recorder/shared/descriptor_name.h"

struct trc_descriptor_name {
	uint64_t id;	  /* of the string; 0 = it has no place in the table, or there is no name */
	uint64_t n_bytes; /* with id 0: of text[]; 0 = no name */
	char text[TRC_DESCRIPTOR_BYTES + 1];
};

/* Context: traced thread that records, signal handlers; at the end of the wait. */
void trc_descriptor_name(const struct trc_wait *wait, struct trc_descriptor_name *name);

/* The number is about to be closed, has been closed, or is connected to another peer: N2.
 * Context: any thread, signal handlers. */
void trc_descriptor_changed(int fd);
void trc_descriptors_changed(void);

/* The program forbids the system calls for all names, or for names of sockets. */
void trc_descriptors_ask_nothing(void);
void trc_descriptors_ask_no_sockets(void);
/* True if trc_descriptor_socket() may be called.  Context: any. */
bool trc_descriptors_ask_sockets(void);

/* descriptor_text.c: what the kernel calls a descriptor.  The text has a zero behind it.
 * Returns its bytes; 0 = no name. */
uint32_t trc_descriptor_path(int fd, char text[static TRC_DESCRIPTOR_BYTES + 1]);
uint32_t trc_descriptor_socket(int fd, char text[static TRC_DESCRIPTOR_BYTES + 1]);

#endif
