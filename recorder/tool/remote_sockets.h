/*
 * remote_sockets.h - the addresses of another process's sockets, by their inodes, from the kernel's
 * tables in /proc/PID/net.  Context: any thread, may block.
 */
#ifndef TRC_RECORDER_TOOL_REMOTE_SOCKETS_H
#define TRC_RECORDER_TOOL_REMOTE_SOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include "recorder/guest/descriptor.h"

struct trc_remote_socket {
	uint64_t inode;
	char text[TRC_DESCRIPTOR_BYTES + 1]; /* as in a wait event; "" = not known */
};

/* Fills in the texts of those that are found; sorts them by inode. */
void trc_remote_sockets(int pid, struct trc_remote_socket *sockets, size_t n);

#endif
