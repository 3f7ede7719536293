/* remote_sockets.c - see remote_sockets.h. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "remote_sockets.h"

enum {
	LINES_MAX = 100000, /* of each table; later ones are not looked at */
	LINES_TIMED = 64,   /* how often the clock is looked at */
	STATE_LISTENS = 10, /* TCP_LISTEN */
	FLAG_LISTENS = 1 << 16,
	ADDRESS_TEXT_BYTES = INET6_ADDRSTRLEN + 16,
};

struct search {
	struct trc_remote_socket *sockets;
	size_t n;
	uint64_t until_ns;
};

static int by_inode(const void *a, const void *b)
{
	const struct trc_remote_socket *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

/* The text to fill in, of an inode that is looked for; else NULL. */
static char *socket_text(const struct search *s, uint64_t inode)
{
	const struct trc_remote_socket key = {.inode = inode};
	struct trc_remote_socket *found = bsearch(&key, s->sockets, s->n, sizeof(key), by_inode);

	return found && !*found->text ? found->text : NULL;
}

/* The kernel writes an address as words of this machine.  False: it is not as it should be. */
static bool address_read(const char *hex, unsigned int port, char text[ADDRESS_TEXT_BYTES])
{
	size_t n_words = strlen(hex) / 8;
	char host[INET6_ADDRSTRLEN];
	uint32_t word[4];

	if (n_words != 1 && n_words != 4)
		return false;
	for (size_t i = 0; i < n_words; i++)
		if (sscanf(hex + 8 * i, "%8" SCNx32, &word[i]) != 1)
			return false;
	if (n_words == 4 && !word[0] && !word[1] && word[2] == htonl(0xffff)) {
		word[0] = word[3];
		n_words = 1;
	}
	if (!inet_ntop(n_words == 1 ? AF_INET : AF_INET6, word, host, sizeof(host)))
		return false;
	snprintf(text, ADDRESS_TEXT_BYTES, n_words == 1 ? "%s:%u" : "[%s]:%u", host, port);
	return true;
}

static bool is_zero(const char *hex)
{
	return strspn(hex, "0") == strlen(hex);
}

static void inet_line(const struct search *s, const char *protocol, const char *line)
{
	char own[33], peer[33], own_text[ADDRESS_TEXT_BYTES], peer_text[ADDRESS_TEXT_BYTES], *text;
	unsigned int own_port, peer_port, state;
	uint64_t inode;

	if (sscanf(line,
		   " %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %*u %*u "
		   "%" SCNu64,
		   own, &own_port, peer, &peer_port, &state, &inode) != 6)
		return;
	text = socket_text(s, inode);
	if (!text || !address_read(own, own_port, own_text) ||
	    !address_read(peer, peer_port, peer_text))
		return;
	if (state == STATE_LISTENS && !strcmp(protocol, "tcp"))
		snprintf(text, TRC_DESCRIPTOR_BYTES + 1, "tcp listening %s", own_text);
	else if (peer_port || !is_zero(peer))
		snprintf(text, TRC_DESCRIPTOR_BYTES + 1, "%s %s %s", protocol, own_text, peer_text);
	else
		snprintf(text, TRC_DESCRIPTOR_BYTES + 1, "%s %s", protocol, own_text);
}

/* Only the end that has a path is named: who it is connected to the table does not say. */
static void unix_line(const struct search *s, const char *protocol, const char *line)
{
	unsigned int flags;
	uint64_t inode;
	int at = 0;
	char *text;

	(void)protocol;
	if (sscanf(line, "%*x: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, &inode, &at) != 2 || !at)
		return;
	text = line[at] ? socket_text(s, inode) : NULL;
	if (text)
		snprintf(text, TRC_DESCRIPTOR_BYTES + 1, "unix %s %s",
			 flags & FLAG_LISTENS ? "listening" : "at", line + at);
}

static const struct table {
	const char *name, *protocol;
	void (*line)(const struct search *s, const char *protocol, const char *line);
} TABLES[] = {
	{"tcp", "tcp", inet_line},  {"tcp6", "tcp", inet_line},	 {"udp", "udp", inet_line},
	{"udp6", "udp", inet_line}, {"unix", "unix", unix_line},
};

static void table_look_at(const struct search *s, int pid, const struct table *table)
{
	char path[48], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, table->name);
	file = fopen(path, "re");
	for (int i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
		if (i % LINES_TIMED == 0 && trc_now_ns(CLOCK_MONOTONIC) >= s->until_ns)
			break;
		line[strcspn(line, "\n")] = '\0';
		table->line(s, table->protocol, line);
	}
	if (file)
		fclose(file);
}

void trc_remote_sockets(int pid, struct trc_remote_socket *sockets, size_t n, uint64_t until_ns)
{
	const struct search s = {sockets, n, until_ns};

	if (!n)
		return;
	qsort(sockets, n, sizeof(*sockets), by_inode);
	for (size_t i = 0; i < sizeof(TABLES) / sizeof(*TABLES); i++)
		table_look_at(&s, pid, &TABLES[i]);
}

const char *trc_remote_socket_text(const struct trc_remote_socket *sockets, size_t n,
				   uint64_t inode)
{
	const struct trc_remote_socket key = {.inode = inode};
	const struct trc_remote_socket *found =
		n ? bsearch(&key, sockets, n, sizeof(key), by_inode) : NULL;

	return found && *found->text ? found->text : NULL;
}
