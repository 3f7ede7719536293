/*
 * remote_sockets.h - the addresses of another process's sockets, by their inodes, from the kernel's
 * tables in /proc/PID/net.  Context: any thread, may block.
 */
#ifndef TRC_RECORDER_DRAIN_REMOTE_SOCKETS_H
#define TRC_RECORDER_DRAIN_REMOTE_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/descriptor_name.h"

struct trc_remote_socket {
	uint64_t inode;
	char text[TRC_DESCRIPTOR_BYTES + 1]; /* as in a wait event; "" = not known */
};

/* Fills in the texts of the sockets that are found until the deadline (CLOCK_MONOTONIC); sorts the
 * sockets by inode. */
void trc_remote_sockets(int pid, struct trc_remote_socket *sockets, size_t n, uint64_t until_ns);
/* The text of this socket, from sockets sorted by trc_remote_sockets(); NULL = not known. */
const char *trc_remote_socket_text(const struct trc_remote_socket *sockets, size_t n,
				   uint64_t inode);

#endif
