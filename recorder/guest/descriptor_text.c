/*
 * descriptor_text.c - what the kernel says about a descriptor, as text (docs/format.md,
 * "Descriptors").  Context: traced thread, signal handlers.
 */
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include "descriptor.h"
#include "format/raw.h"
#include "recorder/shared/text.h"
#include "recorder/unwind/poison.h"

enum { LINK_BYTES_MAX = 1024 };

/* ---- files, pipes, and what else the kernel names ----------------------------------------- */

uint32_t trc_descriptor_path(int fd, char text[static TRC_DESCRIPTOR_BYTES + 1])
{
	char path[sizeof("/proc/thread-self/fd/") + 10], link[LINK_BYTES_MAX];
	struct trc_text t = TRC_TEXT_IN(path);
	long n;

	/* A thread may have a table of descriptors of its own. */
	trc_text_put(&t, "/proc/thread-self/fd/");
	trc_text_put_number(&t, (unsigned int)fd, 10);
	n = trc_raw4(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link));
	/* Of a link that fills all bytes the end is not known. */
	return n > 0 && n < LINK_BYTES_MAX ? trc_descriptor_of_link(link, (size_t)n, text) : 0;
}

/* ---- addresses ---------------------------------------------------------------------------- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un path;
	struct sockaddr_storage largest;
};

static void put_v4(struct trc_text *t, const uint8_t byte[static 4])
{
	for (unsigned int i = 0; i < 4; i++) {
		trc_text_put(t, i ? "." : "");
		trc_text_put_number(t, byte[i], 10);
	}
}

/* The longest row of zeros, of two groups at least: it is written as "::" (RFC 5952). */
static unsigned int zeros_at(const uint16_t group[static 8], unsigned int *n)
{
	unsigned int at = 8, longest = 1;

	for (unsigned int i = 0; i < 8; i++) {
		unsigned int end = i;

		while (end < 8 && !group[end])
			end++;
		if (end - i > longest) {
			longest = end - i;
			at = i;
		}
	}
	*n = at < 8 ? longest : 0;
	return at;
}

static void put_v6(struct trc_text *t, const struct sockaddr_in6 *a)
{
	uint16_t group[8];
	unsigned int n, zeros;

	for (unsigned int i = 0; i < 8; i++)
		group[i] = (uint16_t)(a->sin6_addr.s6_addr[2 * i] << 8 |
				      a->sin6_addr.s6_addr[2 * i + 1]);
	zeros = zeros_at(group, &n);
	for (unsigned int i = 0; i < 8; i++) {
		if (i == zeros) {
			trc_text_put(t, "::");
			i += n - 1;
			continue;
		}
		trc_text_put(t, i && i != zeros + n ? ":" : "");
		trc_text_put_number(t, group[i], 16);
	}
	if (a->sin6_scope_id) {
		trc_text_put(t, "%");
		trc_text_put_number(t, a->sin6_scope_id, 10);
	}
}

static void put_inet(struct trc_text *t, const union address *a)
{
	if (a->any.sa_family == AF_INET) {
		put_v4(t, (const uint8_t *)&a->v4.sin_addr);
	} else if (IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr)) {
		put_v4(t, a->v6.sin6_addr.s6_addr + 12);
	} else {
		trc_text_put(t, "[");
		put_v6(t, &a->v6);
		trc_text_put(t, "]");
	}
	trc_text_put(t, ":");
	/* Both families have the port there. */
	trc_text_put_number(t, ntohs(a->v4.sin_port), 10);
}

/* ---- sockets ------------------------------------------------------------------------------ */

struct socket {
	union address own, peer;
	socklen_t own_bytes, peer_bytes; /* 0 = it has none */
	bool listens;
};

static int option_of(int fd, int option)
{
	int value = 0;
	socklen_t n_bytes = sizeof(value);

	return trc_raw5(SYS_getsockopt, fd, SOL_SOCKET, option, &value, &n_bytes) ? 0 : value;
}

static const char *protocol_name(int protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	case 262: /* not in all headers */
		return "mptcp";
	default:
		return "ip";
	}
}

static void put_inet_socket(struct trc_text *t, int fd, const struct socket *s)
{
	trc_text_put(t, protocol_name(option_of(fd, SO_PROTOCOL)));
	trc_text_put(t, s->listens ? " listening " : " ");
	put_inet(t, &s->own);
	if (s->peer_bytes) {
		trc_text_put(t, " ");
		put_inet(t, &s->peer);
	}
}

/* An abstract name begins with a zero, and may contain others: each is written as "@". */
static bool put_path(struct trc_text *t, const char *how, const union address *a, socklen_t n_bytes)
{
	const char *path = a->path.sun_path;
	size_t n = n_bytes > offsetof(struct sockaddr_un, sun_path)
			   ? n_bytes - offsetof(struct sockaddr_un, sun_path)
			   : 0;

	if (!n)
		return false;
	if (n > sizeof(a->path.sun_path))
		n = sizeof(a->path.sun_path);
	if (*path)
		n = strnlen(path, n);
	trc_text_put(t, how);
	for (size_t i = 0; i < n; i++)
		trc_text_put_bytes(t, path[i] ? &path[i] : "@", 1);
	return true;
}

/* At the one end of a connection only the peer has a path, at the other end only the socket. */
static bool put_unix_socket(struct trc_text *t, const struct socket *s)
{
	if (s->listens)
		return put_path(t, "unix listening ", &s->own, s->own_bytes);
	return put_path(t, "unix to ", &s->peer, s->peer_bytes) ||
	       put_path(t, "unix at ", &s->own, s->own_bytes);
}

uint32_t trc_descriptor_socket(int fd, char text[static TRC_DESCRIPTOR_BYTES + 1])
{
	struct trc_text t = trc_text_in(text, TRC_DESCRIPTOR_BYTES + 1);
	struct socket s = {.own_bytes = sizeof(s.own), .peer_bytes = sizeof(s.peer)};

	if (trc_raw3(SYS_getsockname, fd, &s.own, &s.own_bytes))
		return 0;
	if (trc_raw3(SYS_getpeername, fd, &s.peer, &s.peer_bytes)) {
		s.peer_bytes = 0;
		s.listens = option_of(fd, SO_ACCEPTCONN);
	}
	if (s.own.any.sa_family == AF_INET || s.own.any.sa_family == AF_INET6)
		put_inet_socket(&t, fd, &s);
	else if (s.own.any.sa_family != AF_UNIX || !put_unix_socket(&t, &s))
		return 0;
	return (uint32_t)(t.at - text);
}
