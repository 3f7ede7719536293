/* descriptor_name.c - see descriptor_name.h. */
#include <string.h>
#include "descriptor_name.h"

/* Of a long path the end says most. */
uint32_t trc_descriptor_of_link(const char *link, size_t n,
				char text[static TRC_DESCRIPTOR_BYTES + 1])
{
	static const char ELLIPSIS[] = "\xe2\x80\xa6";
	size_t before = 0;

	if (n > TRC_DESCRIPTOR_BYTES) {
		before = sizeof(ELLIPSIS) - 1;
		memcpy(text, ELLIPSIS, before);
		link += n - (TRC_DESCRIPTOR_BYTES - before);
		n = TRC_DESCRIPTOR_BYTES - before;
	}
	memcpy(text + before, link, n);
	text[before + n] = '\0';
	return (uint32_t)(before + n);
}
