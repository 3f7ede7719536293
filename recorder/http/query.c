/* query.c - see query.h */
#include <errno.h>
#include <string.h>
#include "format/hex.h"
#include "query.h"

/* Decodes [from, end); `plus` means a blank in queries, but not in paths. */
static int text_decode(const char *from, const char *end, bool plus, char *to, size_t n_bytes)
{
	size_t used = 0;

	for (; from < end; from++) {
		char c = *from;

		if (c == '%') {
			if (end - from < 3 || trc_hex_digit(from[1]) < 0 ||
			    trc_hex_digit(from[2]) < 0)
				return -EINVAL;
			c = (char)(trc_hex_digit(from[1]) << 4 | trc_hex_digit(from[2]));
			from += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (!c || used + 1 >= n_bytes)
			return -EINVAL;
		to[used++] = c;
	}
	to[used] = '\0';
	return 0;
}

int trc_http_path(const char *url, char *path, size_t n_bytes)
{
	const char *scheme = strstr(url, "://");

	if (*url != '/' && scheme)
		url = scheme + 3 + strcspn(scheme + 3, "/?#");
	return text_decode(url, url + strcspn(url, "?#"), false, path, n_bytes);
}

const char *trc_http_query(const char *url)
{
	const char *question = strchr(url, '?');

	return question ? question + 1 : "";
}

int trc_http_value(const char *url, const char *name, char *value, size_t n_bytes)
{
	const char *at = trc_http_query(url);

	while (*at && *at != '#') {
		size_t length = strcspn(at, "&#");
		const char *equals = memchr(at, '=', length);
		const char *name_end = equals ? equals : at + length;

		if ((size_t)(name_end - at) == strlen(name) && !memcmp(at, name, strlen(name)))
			return text_decode(equals ? equals + 1 : name_end, at + length, true, value,
					   n_bytes);
		at += length;
		at += *at == '&';
	}
	return -ENOENT;
}

/* Digits at *at, as a number up to max. */
static int number_read(const char **at, uint64_t max, uint64_t *number)
{
	uint64_t n = 0;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		uint64_t add = (uint64_t)(**at - '0');

		if (n > (max - add) / 10 || add > max)
			return -EINVAL;
		n = n * 10 + add;
	}
	*number = n;
	return 0;
}

int trc_http_number(const char *url, const char *name, uint64_t max, uint64_t *number)
{
	char text[32];
	const char *at = text;
	uint64_t n;
	int err = trc_http_value(url, name, text, sizeof(text));

	if (err || !*text)
		return err == -EINVAL ? err : 0;
	err = number_read(&at, max, &n);
	if (err || *at)
		return -EINVAL;
	*number = n;
	return 0;
}

int trc_http_seconds(const char *url, uint64_t max_s, uint64_t *ns)
{
	char text[32];
	const char *at = text;
	uint64_t seconds = 0, fraction = 0, unit = 1000000000;
	int err = trc_http_value(url, "seconds", text, sizeof(text));

	if (err || !*text)
		return err == -EINVAL ? err : 0;
	if (*at != '.')
		err = number_read(&at, max_s, &seconds);
	if (!err && *at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			fraction += (uint64_t)(*at - '0') * (unit /= 10);
	if (err || *at || seconds * 1000000000 + fraction == 0)
		return -EINVAL;
	*ns = seconds * 1000000000 + fraction;
	return 0;
}
