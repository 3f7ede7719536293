/* route.c - see route.h. */
#include "route.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

static int make_up(char text[TRC_TOKEN_BYTES])
{
	unsigned char bits[(TRC_TOKEN_BYTES - 1) / 2];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return -EIO;
	for (size_t i = 0; i < sizeof(bits); i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	return 0;
}

int trc_access_init(struct trc_access *a)
{
	int err = make_up(a->token);

	a->key_is_used = false;
	return err ? err : make_up(a->key);
}

/* V3 */
static bool is_token(const char *given, size_t n_bytes, const char token[TRC_TOKEN_BYTES])
{
	unsigned int differs = n_bytes != TRC_TOKEN_BYTES - 1;

	for (size_t i = 0; i < n_bytes; i++)
		differs |=
			(unsigned char)given[i] ^ (unsigned char)token[i % (TRC_TOKEN_BYTES - 1)];
	return !differs;
}

/* V4: with or without a port, whichever a tunnel ends at. */
static bool is_local(const char *host)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	size_t n;

	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		n = strlen(names[i]);
		if (!strncasecmp(host, names[i], n) &&
		    (!host[n] ||
		     (host[n] == ':' && !host[n + 1 + strspn(host + n + 1, "0123456789")])))
			return true;
	}
	return false;
}

static struct trc_route route_refuse(unsigned int status, const char *why)
{
	return (struct trc_route){.status = status, .why = why};
}

static bool route_number_parse(const char *text, uint64_t most, uint64_t *number)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno && *number <= most;
}

static struct trc_route find_frame(enum trc_wanted wanted, const char *id)
{
	struct trc_route r = {.wanted = wanted};

	return route_number_parse(id, UINT64_MAX, &r.id)
		       ? r
		       : route_refuse(400, "id= has to be a number");
}

static bool is_without_sql(const struct trc_asking *asking)
{
	return asking->without && !strcmp(asking->without, "sql");
}

static struct trc_route route_find_snapshot(enum trc_wanted wanted, const struct trc_asking *asking)
{
	struct trc_route r = {.wanted = wanted, .without_sql = is_without_sql(asking)};

	if (asking->from || asking->to)
		return route_refuse(400,
				    "a snapshot is shown as a whole: from= and to= are of traces");
	return route_number_parse(asking->snapshot, UINT64_MAX, &r.snapshot)
		       ? r
		       : route_refuse(400, "snapshot= has to be a number");
}

static struct trc_route find_take(const struct trc_asking *asking)
{
	struct trc_route r = {.wanted = TRC_WANTED_TAKE, .without_sql = is_without_sql(asking)};

	if (!route_number_parse(asking->last, INT64_MAX, &r.last_ns))
		return route_refuse(400, "last= has to be nanoseconds, 0 = all");
	if ((asking->id && !route_number_parse(asking->id, UINT64_MAX, &r.id)) ||
	    (asking->shown && !route_number_parse(asking->shown, UINT64_MAX, &r.snapshot)))
		return route_refuse(400, "id= and shown= have to be numbers");
	return r;
}

/* False: what is given is no window.  If none is given, it stays as it is. */
static bool parse_window(const struct trc_asking *asking, struct trc_window *window)
{
	uint64_t from, to;

	if (!asking->from && !asking->to)
		return true;
	if (!route_number_parse(asking->from, INT64_MAX, &from) ||
	    !route_number_parse(asking->to, INT64_MAX, &to) || from >= to)
		return false;
	*window = (struct trc_window){(int64_t)from, (int64_t)to};
	return true;
}

static struct trc_route no_window(void)
{
	return route_refuse(400, "from= and to= have to be nanoseconds, from below to");
}

/* A page that is saved will have nobody to ask: it has its tables itself. */
static struct trc_route find_page(const struct trc_asking *asking)
{
	struct trc_route r = {.wanted = TRC_WANTED_PAGE};

	if (asking->snapshot)
		return route_find_snapshot(TRC_WANTED_SNAPSHOT_PAGE, asking);
	if (!parse_window(asking, &r.window))
		return no_window();
	r.saves = r.window.to_ns && asking->save && !strcmp(asking->save, "1");
	r.without_sql = r.window.to_ns && !r.saves && is_without_sql(asking);
	return r;
}

static struct trc_route find_sql(const struct trc_asking *asking)
{
	struct trc_route r = {.wanted = TRC_WANTED_SQL, .query = asking->query};

	if (!asking->query || !*asking->query)
		return route_refuse(400, "q= has to be a query");
	if (asking->snapshot && !route_number_parse(asking->snapshot, UINT64_MAX, &r.snapshot))
		return route_refuse(400, "snapshot= has to be a number");
	if (!parse_window(asking, &r.window))
		return no_window();
	if (asking->snapshot && r.window.to_ns)
		return route_refuse(400,
				    "a snapshot is asked as a whole: from= and to= are of traces");
	return r;
}

static struct trc_route find_in(const char *name, const struct trc_asking *asking)
{
	if (!*name)
		return (struct trc_route){.wanted = TRC_WANTED_FRAME};
	if (!strcmp(name, "page"))
		return find_page(asking);
	if (!strcmp(name, "take"))
		return find_take(asking);
	if (!strcmp(name, "keep"))
		return route_find_snapshot(TRC_WANTED_KEEP, asking);
	if (!strcmp(name, "trace"))
		return route_find_snapshot(TRC_WANTED_TRACE, asking);
	if (!strcmp(name, "sql"))
		return find_sql(asking);
	if (!strcmp(name, "alive"))
		return find_frame(TRC_WANTED_ALIVE, asking->id);
	if (!strcmp(name, "gone"))
		return find_frame(TRC_WANTED_GONE, asking->id);
	return route_refuse(404, "there is no such page");
}

struct trc_route trc_route_find(struct trc_access *a, const struct trc_asking *asking)
{
	const char *from = asking->path + (*asking->path == '/');
	size_t n_bytes = strcspn(from, "/");

	if (!is_local(asking->host))
		return route_refuse(403, "this server answers to 127.0.0.1 and localhost only");
	if (strcmp(asking->method, "GET") != 0)
		return route_refuse(405, "only GET is answered");
	if (is_token(from, n_bytes, a->token))
		return from[n_bytes] ? find_in(from + n_bytes + 1, asking)
				     : (struct trc_route){.wanted = TRC_WANTED_START};
	if (!is_token(from, n_bytes, a->key) || from[n_bytes])
		return route_refuse(403, "the address lacks the token that trace-view printed");
	if (a->key_is_used)
		return route_refuse(
			403, "this address has been used: trace-view printed one that stays");
	a->key_is_used = true;
	return (struct trc_route){.wanted = TRC_WANTED_START};
}
