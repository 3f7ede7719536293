/* symbols_rust.c - see symbols_rust.h. */
#include "symbols_rust.h"

#include <stdlib.h>
#include <string.h>

enum { HASH_DIGITS = 16 };

/* Where "::h0123456789abcdef" begins at the end of the name; NULL = it does not end so. */
static char *find_hash(char *name)
{
	size_t n = strlen(name);
	char *hash = n > HASH_DIGITS + 3 ? name + n - HASH_DIGITS - 3 : NULL;

	return hash && !strncmp(hash, "::h", 3) &&
			       strspn(hash + 3, "0123456789abcdef") == HASH_DIGITS
		       ? hash
		       : NULL;
}

/* What "$LT$" at `at` stands for, and in *n how many bytes that takes; 0 = nothing that is known. */
static char rust_escape_char(const char *at, size_t *n)
{
	static const struct {
		const char *text;
		char is;
	} ESCAPES[] = {{"$LT$", '<'}, {"$GT$", '>'}, {"$RF$", '&'}, {"$BP$", '*'},
		       {"$LP$", '('}, {"$RP$", ')'}, {"$C$", ','},  {"$SP$", '@'}};
	unsigned long code;
	char *end;

	for (size_t i = 0; i < sizeof(ESCAPES) / sizeof(*ESCAPES); i++) {
		*n = strlen(ESCAPES[i].text);
		if (!strncmp(at, ESCAPES[i].text, *n))
			return ESCAPES[i].is;
	}
	if (strncmp(at, "$u", 2) != 0)
		return 0;
	code = strtoul(at + 2, &end, 16);
	*n = (size_t)(end - at) + 1;
	return *end == '$' && code >= ' ' && code <= '~' ? (char)code : 0;
}

bool trc_rust_name(char *name)
{
	char *hash = find_hash(name), *to = name, is;
	size_t n;

	if (!hash)
		return false;
	*hash = '\0';
	for (const char *from = name; *from;) {
		bool begins = to == name || to[-1] == ':';

		if (begins && from[0] == '_' &&
		    from[1] == '$') { /* a name cannot begin with a '$' */
			from++;
			continue;
		}
		is = *from == '$' ? rust_escape_char(from, &n) : 0;
		if (is) {
			*to++ = is;
			from += n;
		} else if (from[0] == '.' && from[1] == '.') {
			*to++ = ':';
			*to++ = ':';
			from += 2;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return true;
}
