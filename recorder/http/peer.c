/* peer.c - is anybody there?  See connection.h.
 *
 * A client that has shut down its sending side, as `nc -N` does, still wants its reply; one that has
 * closed the connection does not.  On the wire both are the same FIN.  For a client on this machine
 * the kernel's table of sockets tells: a socket that was closed has no inode any more.  For others
 * keep-alive probes tell, but not before the client's kernel has forgotten its half of the
 * connection, after a minute. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "connection.h"

enum { PROBE_SECONDS = 10, PROBES = 3 };

void trc_http_peer_watch(int socket)
{
	const int on = 1, seconds = PROBE_SECONDS, times = PROBES;

	setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
}

/* One end of a connection, as IPv6. */
struct end {
	struct in6_addr address;
	unsigned int port;
};

static bool read_end(struct end *e, int socket,
		     int (*of)(int socket, struct sockaddr *to, socklen_t *n_bytes))
{
	struct sockaddr_storage is;
	socklen_t n_bytes = sizeof(is);
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&is;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&is;

	if (of(socket, (struct sockaddr *)&is, &n_bytes))
		return false;
	memset(e, 0, sizeof(*e));
	if (is.ss_family == AF_INET6) {
		*e = (struct end){v6->sin6_addr, ntohs(v6->sin6_port)};
		return true;
	}
	e->address.s6_addr[10] = e->address.s6_addr[11] = 0xff;
	memcpy(&e->address.s6_addr[12], &v4->sin_addr, 4);
	e->port = ntohs(v4->sin_port);
	return is.ss_family == AF_INET;
}

/* As /proc/net/tcp and tcp6 have it. */
static int end_print(char *to, size_t n_bytes, const struct end *e, bool is_v4)
{
	uint32_t word[4];

	memcpy(word, &e->address, sizeof(word));
	if (is_v4)
		return snprintf(to, n_bytes, " %08X:%04X", word[3], e->port);
	return snprintf(to, n_bytes, " %08X%08X%08X%08X:%04X", word[0], word[1], word[2], word[3],
			e->port);
}

enum found { NOT_FOUND, CLOSED, OPEN };

static enum found look_in(const char *path, const struct end *from, const struct end *to, bool v4)
{
	enum { LINE_BYTES = 400, ENDS_BYTES = 100 };
	char line[LINE_BYTES], ends[ENDS_BYTES];
	enum found found = NOT_FOUND;
	FILE *f = fopen(path, "re");
	int n = end_print(ends, sizeof(ends), from, v4);

	end_print(ends + n, sizeof(ends) - (size_t)n, to, v4);
	while (f && found == NOT_FOUND && fgets(line, sizeof(line), f)) {
		const char *rest = strstr(line, ends);
		unsigned long inode;

		if (rest && sscanf(rest + strlen(ends), "%*s %*s %*s %*s %*s %*s %lu", &inode) == 1)
			found = inode ? OPEN : CLOSED;
	}
	if (f)
		fclose(f);
	return found;
}

bool trc_http_peer_is_gone(int socket)
{
	struct end here, there;
	enum found found = NOT_FOUND;

	if (!read_end(&here, socket, getsockname) || !read_end(&there, socket, getpeername))
		return true;
	if (IN6_IS_ADDR_V4MAPPED(&there.address))
		found = look_in("/proc/self/net/tcp", &there, &here, true);
	if (found == NOT_FOUND)
		found = look_in("/proc/self/net/tcp6", &there, &here, false);
	if (found != NOT_FOUND)
		return found == CLOSED;
	/* Nobody has it on this machine.  Somebody has it on another one. */
	return !memcmp(&here.address, &there.address, sizeof(here.address));
}
