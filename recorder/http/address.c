/* address.c - the address that the server listens at, and the clients that it answers. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "server.h"

/* ---- where ------------------------------------------------------------------------------- */

static int address_bad(const char *text, const char *what, char *why, size_t n_bytes)
{
	snprintf(why, n_bytes, "%s: %s", text, what);
	return -EINVAL;
}

/* "ADDRESS:PORT", "[ADDRESS]:PORT", ":PORT", "PORT" into its two parts. */
static int address_split(const char *text, char *host, size_t n_bytes, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon ? colon + 1 : text;
	const char *from = text;
	size_t length = colon ? (size_t)(colon - text) : 0;
	char *end;
	unsigned long n = strtoul(digits, &end, 10);

	if (*digits < '0' || *digits > '9' || *end || n > 65535)
		return -EINVAL;
	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		from++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -EINVAL; /* IPv6 without brackets: which colon? */
	}
	if (length >= n_bytes)
		return -EINVAL;
	memcpy(host, from, length);
	host[length] = '\0';
	*port = (uint16_t)n;
	return 0;
}

static bool is_loopback_4(struct in_addr a)
{
	return ntohl(a.s_addr) >> 24 == 127;
}

int trc_http_address(struct trc_http_server *s, const char *text, char *why, size_t n_bytes)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&s->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s->address;
	char host[64];
	uint16_t port;

	if (address_split(text, host, sizeof(host), &port))
		return address_bad(text, "no address like 127.0.0.1:6060, [::1]:6060 or :6060", why,
				   n_bytes);
	if (!*host || !strcmp(host, "localhost"))
		strcpy(host, "127.0.0.1");
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
		s->address_bytes = sizeof(*v4);
		s->is_loopback = is_loopback_4(v4->sin_addr);
	} else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
		s->address_bytes = sizeof(*v6);
		s->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	} else {
		return address_bad(text, "a name may lead anywhere: write the address as a number",
				   why, n_bytes);
	}
	return 0;
}

/* ---- whom -------------------------------------------------------------------------------- */

/* Takes as long whatever is different. */
static bool token_is_same(const char *given, size_t n_bytes, const char *token)
{
	size_t length = strlen(token);
	unsigned int differs = n_bytes != length;

	for (size_t i = 0; i < n_bytes && length; i++)
		differs |= (unsigned char)given[i] ^ (unsigned char)token[i % length];
	return !differs;
}

static int sextet(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Base64; how many bytes. */
static size_t base64_decode(const char *text, char *out, size_t n_bytes)
{
	unsigned int bits = 0, n_bits = 0;
	size_t used = 0;

	for (; sextet(*text) >= 0 && used < n_bytes; text++) {
		bits = (bits << 6 | (unsigned int)sextet(*text)) & 0xffffff;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[used++] = (char)(bits >> n_bits);
		}
	}
	return used;
}

/* "Bearer TOKEN", or "Basic" with TOKEN as the password of any user: clients that know no other
 * way, such as `go tool pprof`, have that. */
static bool shows_token(const char *authorization, const char *token)
{
	char plain[1024];
	const char *colon;
	size_t n;

	if (!strncasecmp(authorization, "Bearer ", 7))
		return token_is_same(authorization + 7, strlen(authorization + 7), token);
	if (strncasecmp(authorization, "Basic ", 6))
		return false;
	n = base64_decode(authorization + 6, plain, sizeof(plain));
	colon = memchr(plain, ':', n);
	return colon && token_is_same(colon + 1, n - (size_t)(colon + 1 - plain), token);
}

/* A page of the world's that has its name lead here would have the browser read for it what only
 * this machine may see. */
static bool is_local_name(const char *host)
{
	char name[256];
	struct in6_addr v6;
	struct in_addr v4;
	size_t length = host[0] == '[' ? strcspn(host, "]") : strcspn(host, ":");

	if (length >= sizeof(name))
		return false;
	memcpy(name, host, length);
	name[length] = '\0';
	if (name[0] == '[')
		return inet_pton(AF_INET6, name + 1, &v6) == 1;
	return !length || !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &v4) == 1;
}

/* A page of another place has its browser ask.  It could not read the answer, but making one is
 * work for the program. */
static bool is_of_another_page(const struct trc_http_exchange *x)
{
	const char *origin = x->origin;

	if (!strcasecmp(x->fetch_site, "cross-site"))
		return true;
	if (!*origin)
		return false;
	if (!strncasecmp(origin, "http://", 7))
		origin += 7;
	else if (!strncasecmp(origin, "https://", 8))
		origin += 8;
	return strcasecmp(origin, x->host) != 0;
}

bool trc_http_access(const struct trc_http_server *s, struct trc_http_exchange *x)
{
	if (s->token) {
		if (shows_token(x->authorization, s->token))
			return true;
		trc_http_fail(&x->reply, 401, "the token is missing or wrong");
		x->reply.authenticate = "Bearer realm=\"trc\"";
		return false;
	}
	if (is_of_another_page(x)) {
		trc_http_fail(&x->reply, 403, "a page of another origin asks");
		return false;
	}
	if (!s->is_loopback || is_local_name(x->host))
		return true;
	trc_http_fail(&x->reply, 403,
		      "this server answers to localhost and to numbers, not to the name of a host");
	return false;
}
